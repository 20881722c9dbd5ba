--- dpt.parallel.ranks.weights: how much the gradient of each rank counts.
--
-- Invariant: a mean over the samples of all ranks is the sum of each rank's mean times its share of
-- what a criterion divides by (nn.Criterion's denominator), or of the rows if that is unknown. A
-- loss that is a sum is summed. A rank without rows counts for nothing and agrees with everybody;
-- all ranks see all weights, so that those that cannot be put together raise on all of them.
local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local weights = {}

-- What gradients were divided by, by gradient: {a number, a tensor of one element or false}.
local origins = setmetatable({}, {__mode = 'k'})

--- What a weight is of.
weights.NONE, weights.ROWS, weights.DENOMINATOR, weights.SUM = 0, 1, 2, 3
local KINDS = {'rows', "the criterion's denominator", 'nothing, since its loss is a sum'}

--- -0: an element that holds it takes over the very bits of what is added.
weights.NOTHING = -1 / math.huge

--- What gradients of the pass that runs are multiplied by; nil: that is unknown yet.
weights.share = nil

--- Whether criterions are to note what they divide by.
weights.noted = false

--- A criterion has computed a gradient of a loss that was divided by `denominator`.
function weights.note(gradient, denominator)
   origins[gradient] = {denominator}
end

--- The weight of a gradient of a network's output on this rank, and its kind.
-- @param rows of the batch
function weights.of(gradient, rows)
   local origin = origins[gradient]
   if rows == 0 then return 0, weights.NONE end
   if not origin then return rows, weights.ROWS end
   local divisor = origin[1]
   if not divisor then return 1, weights.SUM end
   if torch.isTensor(divisor) then divisor = divisor:view(-1)[1] end
   return divisor, weights.DENOMINATOR
end

--- The sum of all ranks' weights.
-- @param all list of lists
-- @param w, k where weight and kind stand in each
-- @return the sum, or 1 if gradients are to be summed; whether it is a mean's divisor
function weights.sum(owner, all, w, k)
   local sum, kind, first = 0, weights.NONE, nil
   for r, numbers in ipairs(all) do
      sum = sum + numbers[w]
      if numbers[k] ~= weights.NONE then
         if first and kind ~= numbers[k] then
            fail('%s: the gradient of rank %d was divided by %s, that of rank %d by %s', owner,
               first - 1, KINDS[kind], r - 1, KINDS[numbers[k]])
         end
         first, kind = first or r, numbers[k]
      end
   end
   return kind == weights.SUM and 1 or sum, kind ~= weights.SUM
end

return weights
