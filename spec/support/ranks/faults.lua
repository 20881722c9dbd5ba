-- Runs the same operations on all ranks, one of which fails. The ranks must end with an error
-- message. arg: fault, rank, place, seed. Places: init (before the ranks are connected), between
-- (while others are in the next operation), save (while it saves a file), end (after the last
-- operation), or the number of the operation before which it happens.
local distributed = require 'dpt.distributed'
local ffi = require 'ffi'
ffi.cdef [[
   int getpid(void);
   int kill(int, int);
   int setenv(const char *, const char *, int);
]]
ffi.C.setenv('DPT_TIMEOUT', '600', 0) -- before threads read it
local fault, victim, place, seed = arg[1], tonumber(arg[2]), arg[3], tonumber(arg[4])
local OPERATIONS = 12

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
   order = function() distributed.broadcast(torch.DoubleTensor(6), distributed.size() - 1) end,
}

local function shorten() ffi.C.setenv('DPT_TIMEOUT', '2', 1) end

if place == 'init' then -- only the launcher knows the rank so far
   if tonumber(os.getenv 'OMPI_COMM_WORLD_RANK') == victim then
      faults[fault]()
   elseif fault == 'stop' or fault == 'exit' then
      shorten()
   end
end
local rank, size = distributed.rank(), distributed.size()

-- An object that fails while it is written.
local Faulty = torch.class 'Faulty'
function Faulty:write() faults[fault]() end

local function goWrong()
   if fault == 'stop' then -- the others wait from here on
      distributed.barrier()
      if rank ~= victim then
         shorten()
         distributed.rank() -- reads it: no operation does at the end of the script
      end
   end
   if rank ~= victim then return end
   if place == 'between' then
      require('dpt.ffi').C.dpt_sleep(0.1)
      faults[fault]()
   elseif place == 'save' then
      torch.save(os.getenv 'TMPDIR' .. '/saved', {torch.FloatTensor(1000), Faulty.new()})
   else
      faults[fault]()
   end
end

-- The same generator on every rank.
local random = torch.Generator()
torch.manualSeed(random, seed)
local function draw(n) return torch.random(random, 1, n) end
local at = tonumber(place) or draw(OPERATIONS)
for i = 1, OPERATIONS do
   local what, count, root, isCuda = draw(9), draw(2000), draw(size) - 1, draw(2) == 1
   if i == at and place ~= 'init' and place ~= 'end' then goWrong() end
   local t = torch.FloatTensor(count):fill(rank)
   if isCuda then t = t:cuda() end
   if what == 1 then distributed.allReduce(t, 'sum', nil, 'gradients')
   elseif what == 2 then distributed.broadcast(t, root)
   elseif what == 3 then distributed.reduce(t, root)
   elseif what == 4 then distributed.allGather(t.new(size * count), t)
   elseif what == 5 then distributed.gather(rank == root and t.new(size * count) or nil, t, root)
   elseif what == 6 then distributed.scatter(t, rank == root and t.new(size * count) or nil, root)
   elseif what == 7 then distributed.reduceScatter(t, t.new(size * count):zero())
   elseif what == 8 then distributed.group{root}
   else distributed.barrier() end
end
cutorch.synchronizeAll()
distributed.barrier()
if place == 'end' then goWrong() end
if rank == 0 then print 'the end' end
