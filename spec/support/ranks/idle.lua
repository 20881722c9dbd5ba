-- Sleeps for arg[1] seconds between two operations, each of which may take two; then one rank ends
-- its script, and the other sleeps as long again.
local ffi = require 'ffi'
local distributed = require 'dpt.distributed'
local sleep = require('dpt.ffi').C.dpt_sleep
ffi.cdef 'int setenv(const char *, const char *, int);'
ffi.C.setenv('DPT_TIMEOUT', '600', 0) -- before threads read it
local t = torch.FloatTensor{1}
distributed.allReduce(t)
ffi.C.setenv('DPT_TIMEOUT', '2', 1)
sleep(tonumber(arg[1]))
distributed.allReduce(t)
assert(t[1] == distributed.size() ^ 2)
if distributed.rank() == 0 then
   sleep(tonumber(arg[1]))
   print 'the end'
end
