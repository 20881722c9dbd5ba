--- Runs once before busted reads the first spec.
--
-- Invariant: a test that hangs ends the process after ten minutes, beyond all that a busy machine
-- may need.
require 'dpt'
local ffi = require 'ffi'
local busted = require 'busted'
ffi.cdef 'unsigned alarm(unsigned seconds);'
busted.subscribe({'test', 'start'}, function()
   ffi.C.alarm(600) -- SIGALRM ends the process
   return nil, true
end)
busted.subscribe({'test', 'end'}, function()
   ffi.C.alarm(0)
   return nil, true
end)
require 'spec.support.modules'
-- with their modules: specs that require them get the same
require 'dpt.nn.DataParallelTable'
require 'dpt.nn.RNN'
