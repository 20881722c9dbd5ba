--- Public functions that fuzzed calls leave out, each with its reason.
--
-- Invariant: whatever stands here does, with good arguments, what would end or spoil the test
-- itself; bad arguments of them are tried in specs of their own.
return {
   -- They run commands or programs made of their arguments.
   ['sys.execute'] = 'runs a command', ['sys.fexecute'] = 'runs a command',
   ['paths.execute'] = 'runs a command', ['torch.PipeFile'] = 'runs a command',
   ['sys.ls'] = 'runs a command', ['sys.ll'] = 'runs a command', ['sys.la'] = 'runs a command',
   ['sys.lla'] = 'runs a command', ['cutorch.test'] = 'runs the whole suite of tests',
   ['nn.test'] = 'runs the whole suite of tests',
   -- They wait, by design.
   ['sys.sleep'] = 'sleeps', ['sys.usleep'] = 'sleeps', ['cutorch._sleep'] = 'sleeps',
   ['cutorch.streamSleep'] = 'sleeps', ['xlua.progress'] = 'draws on the terminal',
   -- They take away what the test stands on.
   ['paths.rmall'] = 'removes folders', ['paths.rmdir'] = 'removes folders',
   ['cutorch.deviceReset'] = 'drops all memory of a device, with the tensors that lie in it',
   ['xlua.clearall'] = 'clears the globals', ['xlua.clear'] = 'clears globals',
   ['paths.tmpname'] = 'leaves a file',
   ['torch.setenv'] = 'changes what child processes see',
   ['torch.metatype'] = 'makes any table a class', ['torch.newmetatable'] = 'makes classes',
   ['xlua.unpack_class'] = 'writes fields of the globals',
   ['xlua.log'] = 'sends what is printed to a file', ['xlua.error'] = 'only raises',
   -- Counts of references by hand: one too few is a use after free by definition.
   ['tensor.free'] = 'counts by hand', ['tensor.retain'] = 'counts by hand',
   ['storage.free'] = 'counts by hand', ['storage.retain'] = 'counts by hand',
   -- (A storage over an address, torch.FloatStorage(n, address), trusts the address: child.lua.)
   -- Captures what runs afterwards; what it rejects has spec/device/graph_spec.lua.
   ['cutorch.graph'] = 'captures calls',
   ['torch.CmdLine'] = 'ends the process on --help',
}
