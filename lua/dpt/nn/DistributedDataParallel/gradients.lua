--- dpt.nn.DistributedDataParallel.gradients: what scripts ask about the gradients of all ranks.
--
-- Invariant: after a backward all ranks have the same gradients, so what is computed of them is the
-- same everywhere and nothing is sent: all ranks clip alike, and skip a step or none does. What
-- waits on ranks (noSync) is added up before.
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local flatten = require 'dpt.parallel.params.flatten'
local layout = require 'dpt.parallel.params.layout'
local weights = require 'dpt.parallel.ranks.weights'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local gradients = {}

local CHUNK = 2 ^ 20 -- elements that are looked at at once

-- Views of all gradients, each element in one.
local function segmentsOf(self)
   if self.pending then self:syncGradients() end
   if self.ranks > 1 then return self:_layOut().gradient end
   if self.modules[1].syncGradients then self.modules[1]:syncGradients() end
   local _, halves = layout.plan(layout.describe(self.modules[1]))
   local list = {}
   for h = 2, #halves, 2 do
      for _, segment in ipairs(halves[h]) do list[#list + 1] = segment end
   end
   return list
end

--- Multiplies the gradients so that their norm is maxNorm at most; those whose norm is not finite
-- stay. The factor is PyTorch's, maxNorm / (norm + 1e-6), or 1 if that is more.
-- @function nn.DistributedDataParallel:clipGradNorm
-- @as ofranks
-- @param maxNorm number: above 0
-- @return the norm before
-- @usage local net = nn.DistributedDataParallel(nn.Add(1))
--    net:forward(torch.ones(1))
--    net:zeroGradParameters()
--    net:backward(torch.ones(1), torch.Tensor{4})
--    return net:clipGradNorm(1) --> 4
function gradients:clipGradNorm(maxNorm)
   if type(maxNorm) ~= 'number' or maxNorm ~= maxNorm or maxNorm <= 0 then
      dptffi.fail('nn.DistributedDataParallel: clipGradNorm wants a number above 0 as argument 1,'
         .. ' got %s', tostring(maxNorm))
   end
   local list, sum = segmentsOf(self), 0
   for _, t in ipairs(list) do
      if t:nElement() > 0 then sum = sum + t:norm() ^ 2 end
   end
   local norm = math.sqrt(sum)
   local factor = maxNorm / (norm + 1e-6)
   if factor < 1 and norm < math.huge then
      for _, t in ipairs(list) do t:mul(factor) end
   end
   return norm
end

-- 0, or NaN if an element is not finite.
local function nothing(t)
   t = t:contiguous():view(-1)
   local sum = 0
   for first = 1, t:nElement(), CHUNK do
      local part = t:narrow(1, first, math.min(CHUNK, t:nElement() - first + 1))
      sum = sum + part.new():mul(part, 0):sum()
   end
   return sum
end

--- Whether a gradient is infinite or NaN: of one rank is enough, and all ranks answer alike.
-- @function nn.DistributedDataParallel:foundInf
-- @as ofranks
-- @return a boolean
-- @usage local net = nn.DistributedDataParallel(nn.Add(1))
--    net:forward(torch.ones(1))
--    net:zeroGradParameters()
--    local before = net:foundInf()
--    net:get(1).gradBias:fill(1 / 0)
--    return before, net:foundInf() --> false, true
function gradients:foundInf()
   for _, t in ipairs(segmentsOf(self)) do
      local device = comm.device(t)
      local sum = t:nElement() == 0 and 0 or device > 0 and cutorch.withDevice(device, nothing, t)
         or nothing(t)
      if sum ~= 0 then return true end
   end
   return false
end

--- The loss of all ranks from that of each: the mean with the weights of the last backward, or of
-- the rows of the last forward if that came later; the sum if losses are sums. All ranks call it.
-- If the terms of a loss that is a sum of several count differently, one number for a rank is not
-- enough, and that is an error.
-- @function nn.DistributedDataParallel:meanLoss
-- @as ofranks
-- @param loss number: of this rank
-- @return a number
-- @usage local net = nn.DistributedDataParallel(nn.Linear(2, 1))
--    net:forward(torch.ones(3, 2))
--    return net:meanLoss(5) --> 5
function gradients:meanLoss(loss)
   if type(loss) ~= 'number' then
      dptffi.fail('nn.DistributedDataParallel: meanLoss wants a number as argument 1, got %s',
         type(loss))
   end
   if not self.rows then
      dptffi.fail('nn.DistributedDataParallel: meanLoss before forward: a loss counts as its rows')
   end
   if self.ranks == 1 then return loss end
   local weight, kind = self.weighed or self.rows, self.weighedBy or weights.ROWS
   if weight == 0 then kind = weights.NONE end
   local all = self:_exchange(weight == 0 and 0 or weight * loss, weight, kind)
   if weights.kind('nn.DistributedDataParallel', all, 2, 3) == weights.TERMS then
      dptffi.fail('nn.DistributedDataParallel: meanLoss got the sum of several terms that count'
         .. ' differently on the ranks: call a criterion and meanLoss for each term')
   end
   local sum, total = 0, weights.sum('nn.DistributedDataParallel', all, 2, 3)
   for _, numbers in ipairs(all) do sum = sum + numbers[1] end
   return total > 0 and sum / total or 0
end

--- Whether x lies in parameters of this network, which has run.
function gradients:_trains(x)
   return self.rows and self.params and flatten.meet(self.params.source, x)
end

--- What methods of nn.DistributedDataParallel have in common, for the reference.
-- @pattern ofranks
-- @within nn data-parallel
-- @follows PyTorch's DistributedDataParallel
-- @raise if ranks do not call it alike

return gradients
