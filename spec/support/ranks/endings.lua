-- Ways in which the scripts of two or three ranks end. arg[1]: the way. Those of `endings` succeed
-- and print `the end`; those of `mistakes` end with an error.
local distributed = require 'dpt.distributed'
local script = require 'spec.support.ranks.script'
local rank, size = distributed.rank(), distributed.size()
local LARGE = 4000000 -- elements: more than MPI buffers
local function floats(count) return torch.FloatTensor(count):fill(rank + 1) end

local endings = {}

-- Rank 1's script ends long before it runs the last sums.
function endings.queued()
   local t = floats(10):cuda()
   distributed.barrier()
   if rank == 1 then script.busy(1) end
   for _ = 1, 3 do distributed.allReduce(t, 'mean') end
   if rank == 0 then assert(t:min() == (size + 1) / 2 and t:max() == t:min(), t[1]) end
end

-- An ordinary script; a layer of rank 1 is slow. arg[2]: the file that rank 0 saves.
function endings.training()
   local optim = require('dpt').optim
   local network = nn.Sequential():add(nn.Linear(20, 50)):add(nn.ReLU()):add(nn.Linear(50, 2))
      :add(nn.LogSoftMax()):cuda()
   if rank == 1 then
      network:get(2).updateGradInput = function(...)
         script.busy(0.3)
         return nn.ReLU.updateGradInput(...)
      end
   end
   local net = nn.DistributedDataParallel(network)
   local criterion = nn.ClassNLLCriterion():cuda()
   local x, dx = net:getParameters()
   for _ = 1, 4 do
      local n = 4 + 4 * rank
      local input, target = torch.CudaTensor(n, 20):normal(), torch.CudaTensor(n):fill(1)
      optim.sgd(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         return loss, dx
      end, x, {learningRate = 0.1})
   end
   if rank == 0 then torch.save(arg[2], net) end
end

-- Rank 0 has done its part of an operation; its last operations are of another group.
function endings.own_group()
   local own, t = distributed.group{0}, floats(10)
   distributed.barrier()
   if rank == 1 then script.sleep(1.5) end
   distributed.gather(rank == 2 and torch.FloatTensor(10 * size) or nil, t, 2)
   if rank == 0 then
      for _ = 1, 2000 do distributed.allReduce(t, 'sum', own) end
   end
end

-- Messages arrive slowly after the script of their sender has ended.
function endings.sent()
   local t, count = torch.FloatTensor(1000), 4
   distributed.barrier()
   if rank == 1 then
      for i = 1, count do distributed.send(t:fill(i), 0) end
   elseif rank == 0 then
      script.sleep(0.3)
      script.link '10KB/s'
      for i = 1, count do
         distributed.receive(t, 1)
         assert(t:min() == i and t:max() == i)
      end
      script.link ''
   end
end

-- A rank writes to a pipe whose reader has ended: the write fails, as MPI's write to a dead rank's
-- socket does. Programs that a rank starts end by the signal, as usual.
function endings.broken_pipe()
   local pipe = io.popen('true', 'w')
   script.sleep(0.2)
   assert(not pipe:write(('x'):rep(100000)))
   local program = io.popen "sh -c 'kill -PIPE $$; echo alive'"
   assert(program:read '*a' == '')
end

local mistakes = {}

-- One rank runs one operation more than another rank, whose script ends late.
function mistakes.absent()
   local t = floats(10):cuda()
   distributed.barrier()
   if rank == 1 then script.busy(0.5) end
   distributed.allReduce(t)
   if rank == 0 then
      distributed.allReduce(t)
      cutorch.synchronizeAll()
   end
end

-- Operations differ: the last ones, one of many, and one before a file is written.
local function differ() distributed.allReduce(floats(4), rank == 0 and 'sum' or 'mean') end
mistakes.differ = differ
function mistakes.differ_early()
   differ()
   for _ = 1, 300 do distributed.barrier() end
end
function mistakes.differ_save() -- arg[2]: the file
   differ()
   if rank == 0 then torch.save(arg[2], floats(1000)) end
   distributed.barrier()
end

-- An operation of one rank that the other never calls.
function mistakes.left_send()
   distributed.barrier()
   if rank == 0 then distributed.send(floats(4), 1) end
end
function mistakes.left_broadcast()
   if rank == 0 then distributed.broadcast(floats(4), 0) end
end
function mistakes.left_exchange()
   distributed.barrier()
   if rank == 0 then distributed.exchange{{send = floats(4), to = 1, tag = 2}} end
end

-- All ranks send first.
function mistakes.circle()
   local t = floats(LARGE)
   distributed.send(t, (rank + 1) % size)
   distributed.receive(t, (rank - 1) % size)
end

-- A rank waits for a message with another tag than the one sent first.
function mistakes.tag()
   local t = floats(LARGE)
   for i = 1, 2 do
      if rank == 0 then
         distributed.send(t, 1, i)
      else
         distributed.receive(t, 0, 3 - i)
      end
   end
end

-- The parts of an exchange do not match.
local function exchange(sent, received)
   local back = sent:clone()
   if rank == 0 then
      distributed.exchange{{send = sent, to = 1}, {receive = back, from = 1}}
   else
      distributed.exchange{{send = back, to = 0}, {receive = received, from = 0}}
   end
end
function mistakes.exchange_count() exchange(floats(5), floats(6)) end
function mistakes.exchange_type() exchange(floats(5), torch.LongTensor(5)) end
function mistakes.exchange_of_devices() exchange(floats(5):cuda(), floats(6):cuda()) end

-- Rank 0 computes while rank 1 waits.
function mistakes.computes()
   distributed.barrier()
   script.limit(1)
   if rank == 0 then script.sleep(4) end
   distributed.barrier()
end

-- Rank 0 computes while rank 1 sends to it, so that rank 2, which arrives first, waits for both.
function mistakes.elsewhere()
   distributed.barrier()
   script.limit(1)
   if rank == 1 then script.sleep(0.5) end
   if rank == 0 then script.sleep(4) end
   if rank == 1 then distributed.send(floats(LARGE), 0) end
   distributed.barrier()
end

local way = endings[arg[1]] or mistakes[arg[1]]
way()
if endings[arg[1]] and rank == 0 then print 'the end' end
