--- Lists the public functions that fuzzed calls leave out, each with the reason.
--
-- Invariant: with valid arguments these functions would end the test or invalidate it; their
-- invalid arguments are tested in other specs.
return {
   -- They run commands or programs built from their arguments.
   ['sys.execute'] = 'runs a command', ['sys.fexecute'] = 'runs a command',
   ['paths.execute'] = 'runs a command', ['torch.PipeFile'] = 'runs a command',
   ['sys.ls'] = 'runs a command', ['sys.ll'] = 'runs a command', ['sys.la'] = 'runs a command',
   ['sys.lla'] = 'runs a command', ['cutorch.test'] = 'runs the whole suite of tests',
   ['nn.test'] = 'runs the whole suite of tests',
   -- They wait, by design.
   ['sys.sleep'] = 'sleeps', ['sys.usleep'] = 'sleeps', ['cutorch._sleep'] = 'sleeps',
   ['cutorch.streamSleep'] = 'sleeps', ['xlua.progress'] = 'draws on the terminal',
   -- They remove things that the test needs.
   ['paths.rmall'] = 'removes folders', ['paths.rmdir'] = 'removes folders',
   ['cutorch.deviceReset'] = 'drops all memory of a device, with the tensors that lie in it',
   ['xlua.clearall'] = 'clears the globals', ['xlua.clear'] = 'clears globals',
   ['paths.tmpname'] = 'leaves a file',
   ['torch.setenv'] = 'changes what child processes see',
   ['torch.metatype'] = 'makes any table a class', ['torch.newmetatable'] = 'makes classes',
   ['xlua.unpack_class'] = 'writes fields of the globals',
   ['xlua.log'] = 'sends what is printed to a file', ['xlua.error'] = 'only raises',
   -- Reference counting by hand: one count too few is a use after free by definition.
   ['tensor.free'] = 'counts by hand', ['tensor.retain'] = 'counts by hand',
   ['storage.free'] = 'counts by hand', ['storage.retain'] = 'counts by hand',
   -- (A storage over an address, torch.FloatStorage(n, address), trusts the address: child.lua.)
   -- Captures the calls that follow; spec/device/graph_spec.lua tests what it rejects.
   ['cutorch.graph'] = 'captures calls',
   ['torch.CmdLine'] = 'ends the process on --help',
}
