-- Does the same operations on all ranks but one, which goes wrong: arg: fault, rank, before which
-- operation, seed. The ranks must end with a message, whatever it is.
local distributed = require 'dpt.distributed'
local ffi = require 'ffi'
ffi.cdef 'int getpid(void); int kill(int, int); int setenv(const char *, const char *, int);'
local fault, victim, place, seed = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
local rank, size = distributed.rank(), distributed.size()

local function signal(number)
   ffi.C.kill(ffi.C.getpid(), number)
   require('dpt.ffi').C.dpt_sleep(0.01)
end

local faults = {
   none = function() end,
   kill = function() signal(9) end,
   stop = function() signal(19) end,
   error = function() error 'a mistake of the script' end,
   exit = function() os.exit(0) end,
   status = function() os.exit(7) end,
   count = function() distributed.allReduce(torch.FloatTensor(77), 'max', nil, 'too long') end,
   type = function() distributed.allReduce(torch.LongTensor(5)) end,
   order = function() distributed.broadcast(torch.DoubleTensor(6), size - 1) end,
}

-- The same on every rank.
local random = torch.Generator()
torch.manualSeed(random, seed)
local function draw(n) return torch.random(random, 1, n) end
for i = 1, 12 do
   local what, count, root = draw(6), draw(2000), draw(size) - 1
   if i == place then
      if fault == 'stop' then -- the others wait from here on
         distributed.barrier()
         if rank ~= victim then ffi.C.setenv('DPT_TIMEOUT', '2', 1) end
      end
      if rank == victim then faults[fault]() end
   end
   local t = torch.FloatTensor(count):fill(rank)
   if draw(2) == 1 then t = t:cuda() end
   if what == 1 then distributed.allReduce(t, 'sum', nil, 'gradients')
   elseif what == 2 then distributed.broadcast(t, root)
   elseif what == 3 then distributed.reduce(t, root)
   elseif what == 4 then distributed.allGather(t.new(size * count), t)
   elseif what == 5 then distributed.gather(rank == root and t.new(size * count) or nil, t, root)
   else distributed.barrier() end
end
cutorch.synchronizeAll()
distributed.barrier()
if rank == 0 then print 'the end' end
