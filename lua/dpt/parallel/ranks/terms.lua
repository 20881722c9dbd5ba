--- dpt.parallel.ranks.terms: shares of ranks in losses that are sums of several.
--
-- Invariant: each term has the share that it would have by itself. If all terms of a rank have the
-- same one, its gradient is multiplied by that; if not, the gradient is computed once more with a
-- factor for each term. What waits on ranks (noSync) cannot be, so there all terms must have the
-- same: all ranks see all numbers, and raise alike if they have not.
local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local terms = {}

--- Stands for what a term that is a sum is divided by.
terms.SUM = -1

local NEAR = 1e-6

--- The numbers that terms are divided by, read at once; rows if a criterion does not say.
-- @param list that nn.Criterion's denominators returned
function terms.read(list, rows)
   local numbers, tensors, places = {}, {}, {}
   for k, term in ipairs(list) do
      local divisor = term.denominator
      if divisor == nil then divisor = rows end
      if torch.isTensor(divisor) then
         tensors[#tensors + 1], places[#places + 1] = divisor:view(-1):narrow(1, 1, 1), k
      end
      numbers[k] = divisor or terms.SUM
   end
   if #tensors == 0 then return numbers end
   for i, t in ipairs(tensors) do tensors[i] = t:type(tensors[1]:type()) end
   local read = torch.cat(tensors, 1):double()
   for i, k in ipairs(places) do numbers[k] = read[i] end
   return numbers
end

--- What a pass counts in units of the first one that waits (noSync).
function terms.share(owner, numbers, unit)
   local share
   for k, number in ipairs(numbers) do
      local own = number == terms.SUM and 1 or unit[k] > 0 and number / unit[k] or 0
      share = share or own
      if #numbers ~= #unit or (number == terms.SUM) ~= (unit[k] == terms.SUM)
         or math.abs(own - share) > NEAR * share then
         fail('%s: in noSync all terms of a loss must count alike in all passes, term %d counts %g'
            .. ' times what it did in the first one, term 1 %g times', owner, k, own, share)
      end
   end
   return share
end

-- What each term is divided by over all ranks; and whether some are sums, some means.
local function totals(owner, all, count, passes)
   local sums, kinds = {}, {}
   for k = 1, count do
      sums[k] = 0
      for r, numbers in ipairs(all) do
         for _, number in ipairs{numbers[k], numbers[count + k]} do
            local is = number ~= 0 and (number == terms.SUM and 'sum' or 'mean') or nil
            if is and kinds[k] and kinds[k] ~= is then
               fail('%s: term %d of the loss is a %s on rank %d, and none on others', owner, k, is,
                  r - 1)
            end
            kinds[k] = kinds[k] or is
            sums[k] = sums[k] + number
         end
      end
      sums[k] = kinds[k] == 'sum' and terms.SUM or sums[k] / passes
   end
   return sums
end

-- Whether a rank's numbers are the same part of all totals, and which: of sums a whole one.
local function part(numbers, first, sums)
   local same, one = true, nil
   for k, sum in ipairs(sums) do
      local number = numbers[first + k]
      local own = sum == terms.SUM and 1 or sum > 0 and number / sum or 0
      one = one or own
      same = same and math.abs(own - one) <= NEAR * one
   end
   return same, one
end

--- Shares of this rank.
-- @param all numbers of all ranks: those of this pass (zeros: it has no rows), then those that wait
-- @param count of terms
-- @param passes how many there are on each rank
-- @return {factors = one for each term; share = that of all, or nil; total = what the first term is
-- divided by over all ranks; isEven = whether every rank has one share for all terms}
function terms.settle(owner, all, rank, count, passes)
   local sums, result = totals(owner, all, count, passes), {factors = {}, isEven = true}
   for r, numbers in ipairs(all) do
      local waits = false
      for k = 1, count do waits = waits or numbers[count + k] ~= 0 end
      if waits and not part(numbers, count, sums) then
         fail('%s: the terms of the loss of rank %d count differently in noSync, where a gradient'
            .. ' cannot be weighed by them: use a criterion for each term, or no noSync', owner,
            r - 1)
      end
      local has = false
      for k = 1, count do has = has or numbers[k] ~= 0 end
      result.isEven = result.isEven and (not has or (part(numbers, 0, sums)))
   end
   local exact = true
   for k, sum in ipairs(sums) do
      local number = all[rank + 1][k]
      result.factors[k] = number == 0 and 0 or sum == terms.SUM and 1 or number / sum
      exact = exact and result.factors[k] == result.factors[1]
   end
   result.share, result.total = exact and result.factors[1] or nil, sums[1]
   return result
end

return terms
