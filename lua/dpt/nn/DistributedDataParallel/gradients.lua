--- dpt.nn.DistributedDataParallel.gradients: answers queries about the gradients of all ranks.
--
-- Invariant: after a backward all ranks have the same gradients, so values computed from gradients
-- agree without communication: all ranks clip alike, and either all or none skip a step. Pending
-- gradients (noSync) are summed first.
local cutorch = require 'dpt.device'
local updates = require 'dpt.updates'
local nn = require 'dpt.nn'
local shares = require 'dpt.nn.DistributedDataParallel.shares'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local gradients = {}

local CHUNK = 2 ^ 20 -- elements tested at a time

function gradients:_gradientViews()
   if self.ranks == 1 then return nn.Module._gradientViews(self) end
   if self.pending:isPending() then self:syncGradients() end
   return self:_updateLayout().gradient
end

-- Returns 0, or NaN if an element is not finite.
local function nothing(t)
   t = t:contiguous():view(-1)
   local sum = 0
   for first = 1, t:nElement(), CHUNK do
      local part = t:narrow(1, first, math.min(CHUNK, t:nElement() - first + 1))
      sum = sum + part.new():mul(part, 0):sum()
   end
   return sum
end

--- Returns true if a gradient of any rank is infinite or NaN; all ranks return the same.
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
   for _, t in ipairs(self:_gradientViews()) do
      if t:nElement() > 0 and cutorch.withDeviceOf(t, nothing, t) ~= 0 then return true end
   end
   return false
end

--- Returns the loss over all ranks from each rank's loss: the mean, weighted as in the last
-- backward, or by rows if the last forward came later; or the sum if losses are sums. All ranks
-- must call it. Raises if the loss is a sum of terms with different weights, for which one number
-- is not enough.
-- @function nn.DistributedDataParallel:meanLoss
-- @as ofranks
-- @param loss number: this rank's loss
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
      dptffi.fail('nn.DistributedDataParallel: meanLoss before forward: a loss is weighted by the'
         .. ' rows of the last forward')
   end
   if self.ranks == 1 then return loss end
   local own = self.weight or {weight = self.rows, kind = shares.ROWS, ratio = 0}
   local isNone, sum, weights = own.weight == 0, 0, {}
   for r, numbers in ipairs(self:_allGatherNumbers{isNone and 0 or own.weight * loss, own.weight,
      isNone and shares.NONE or own.kind, own.ratio}) do
      sum = sum + numbers[1]
      weights[r] = {weight = numbers[2], kind = numbers[3], ratio = numbers[4]}
   end
   local total = shares.sum(weights, self.group)
   if not total then
      dptffi.fail('nn.DistributedDataParallel: meanLoss got the sum of several terms with different'
         .. ' weights on the ranks; call a criterion and meanLoss for each term')
   end
   return total > 0 and sum / total or 0
end

--- Returns true if x is part of this network's parameters.
function gradients:_trains(x) return updates.sharesStorage(self.params:trained(), x) end

--- Common properties of nn.DistributedDataParallel's methods, for the reference.
-- @pattern ofranks
-- @within nn data-parallel
-- @follows PyTorch's DistributedDataParallel
-- @raise if the ranks' calls do not match

return gradients
