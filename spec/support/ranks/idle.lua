-- Does nothing for so many seconds (arg[1]) between two operations, of which each may take two;
-- then one rank ends its script, and the other goes on as long.
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
