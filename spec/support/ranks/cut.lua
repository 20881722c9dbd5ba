-- Sums arg[1] elements in an endless loop, while the link between the two hosts is taken down: then
-- an operation may take four seconds. It writes its process id to $TMPDIR/RANK when it starts.
local ffi = require 'ffi'
local distributed = require 'dpt.distributed'
ffi.cdef 'int getpid(void); int setenv(const char *, const char *, int);'
ffi.C.setenv('DPT_TIMEOUT', '600', 0) -- before threads read it
local t = torch.FloatTensor(tonumber(arg[1]))
distributed.allReduce(t)
ffi.C.setenv('DPT_TIMEOUT', '4', 1)
local name = ('%s/%d'):format(os.getenv 'TMPDIR', distributed.rank())
local file = io.open(name .. '.new', 'w')
file:write(ffi.C.getpid())
file:close()
os.rename(name .. '.new', name)
while true do distributed.allReduce(t, 'mean', nil, 'weights') end
