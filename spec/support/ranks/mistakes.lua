-- Ranks that call nn.DistributedDataParallel differently. arg: the mistake.
local distributed = require 'dpt.distributed'
local rank = distributed.rank()
local net = nn.DistributedDataParallel(nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()))
local function input() return torch.randn(5, 4) end

local mistakes = {}

local function step()
   local x = input()
   net:forward(x)
   net:backward(x, net.output)
end

-- rank 1 has one batch more
function mistakes.batches() for _ = 1, 2 + rank do step() end end

-- rank 1 evaluates while rank 0 trains
function mistakes.modes()
   if rank == 1 then net:evaluate() end
   step()
end

-- one rank requests the loss of all ranks
function mistakes.loss()
   step()
   if rank == 0 then net:meanLoss(1) end
   net:forward(input())
end

-- rank 1 leaves the loop
function mistakes.join()
   local i = 0
   for _ in net:join(function()
      i = i + 1
      return i < 5 and input() or nil
   end) do
      step()
      if rank == 1 then break end
   end
end

-- evenBatches promises equal rows, and losses with equal divisors
local function uneven(rows, gradOutput)
   local even = nn.DistributedDataParallel(nn.Linear(4, 3), {evenBatches = true})
   local x = torch.ones(rows, 4)
   even:forward(x)
   even:backward(x, gradOutput(even.output))
end

function mistakes.rows() uneven(5 + rank, function(output) return output end) end

function mistakes.weights()
   local nll = nn.ClassNLLCriterion(torch.Tensor{1, 5, 2})
   local classes = torch.Tensor(4):fill(1 + rank)
   uneven(4, function(output)
      nll:forward(output, classes)
      return nll:backward(output, classes)
   end)
end

mistakes[arg[1]]()
