--- dpt.parallel.ranks.weights: how much the gradient of each rank counts.
--
-- Invariant: a mean over the samples of all ranks is the sum of each rank's mean times its share of
-- what a criterion divides by (nn.Criterion's denominator), or of the rows if that is unknown. A
-- loss that is a sum is summed. Losses that are sums of several have a weight for each term
-- (dpt.parallel.ranks.terms). A rank without rows counts for nothing and agrees with everybody; all
-- ranks see all weights, so that those that cannot be put together raise on all of them.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local versionOf = require('dpt.parallel.split.scatter').version
local cutorch = require 'dpt.device'
local fail = require('dpt.ffi').fail

local weights = {}

-- By gradient: {terms = what its terms were divided by, criterion = {it} (weak), input, target,
-- version = of the gradient; taken = the gradient's version, if another tensor was a criterion's}.
local origins = setmetatable({}, {__mode = 'k'})

-- What criterions noted since the last pass of a network, the last note of each, MOST at most:
-- {{criterion = {it} (weak), terms = , n = elements of the gradient}}.
local untaken = {}
local MOST = 64
-- Gradients that were weighed: what comes back for the input is a sum over all ranks.
local weighed = setmetatable({}, {__mode = 'k'})
local weak = {__mode = 'v'}

--- What a weight is of.
weights.NONE, weights.ROWS, weights.DENOMINATOR, weights.SUM, weights.TERMS = 0, 1, 2, 3, 4
local KINDS = {'rows', "the criterion's denominator", 'nothing, since its loss is a sum',
   'the denominators of several terms'}

-- What kind of weight terms have.
local function kindOf(terms)
   if #terms ~= 1 then return weights.TERMS end
   local divisor = terms[1].denominator
   return divisor == nil and weights.ROWS or divisor and weights.DENOMINATOR or weights.SUM
end

--- -0: an element that holds it takes over the very bits of what is added.
weights.NOTHING = -1 / math.huge

--- What gradients of the pass that runs are multiplied by; nil: that is unknown yet.
weights.share = nil

--- The criterion of several terms that noted last, which a script need not keep.
weights.last = nil

--- The most devices that a rank of the network in training has.
weights.parts = 1

--- Whether a backward is done to look at a module (dpt.parallel.ranks.scale): nothing is sent.
weights.probing = false

--- Whether criterions are to note what they divide by.
weights.noted = false

-- How many elements a gradient has.
local function countOf(gradient)
   if torch.isTensor(gradient) then return gradient:nElement() end
   local sum = 0
   for _, inner in pairs(gradient) do sum = sum + countOf(inner) end
   return sum
end

--- A copy of a tensor where it is.
function weights.copyOf(t)
   local device = comm.device(t)
   return device > 0 and cutorch.withDevice(device, t.clone, t) or t:clone()
end

--- Calls f(...), a pass whose gradients are multiplied by `share`; nil: that is unknown.
function weights.within(share, f, ...)
   weights.share = share
   local ok, result = pcall(f, ...)
   weights.share = nil
   if not ok then error(result, 0) end
   return result
end

--- The share of a pass that ranks have not agreed on: what its gradient counts by itself.
function weights.alone(weight, kind)
   if kind == weights.TERMS then return nil end
   return kind == weights.SUM and 1 or weight
end

--- A criterion has computed a gradient. It may be used again before anybody asks: its divisors, if
-- they are tensors, are copied.
-- @param list that its method denominators returned
function weights.note(gradient, criterion, list, input, target)
   for _, term in ipairs(list) do
      local divisor = term.denominator
      if torch.isTensor(divisor) then term.denominator = weights.copyOf(divisor) end
   end
   local it = setmetatable({criterion}, weak)
   local origin = {terms = list, input = input, target = target}
   if list[2] then
      origin.version, origin.criterion = versionOf(gradient), it
      weights.last = criterion
   end
   origins[gradient] = origin
   local place = #untaken >= MOST and 1 or nil
   for i, noted in ipairs(untaken) do
      if noted.criterion[1] == criterion then place = i end
   end
   if place then table.remove(untaken, place) end
   untaken[#untaken + 1] = {criterion = it, terms = list, n = countOf(gradient)}
end

-- The terms that a gradient has which is no criterion's: those of all of its size, of which it may
-- be the sum; else it came through another network, and has those of the last criterion, if all
-- noted one kind. nil: that is unknown.
local function untakenTerms(gradient)
   local list, n, last = {}, countOf(gradient), untaken[#untaken]
   for _, noted in ipairs(untaken) do
      if noted.n == n then
         for _, term in ipairs(noted.terms) do list[#list + 1] = term end
      end
   end
   if list[1] then return list end
   for _, noted in ipairs(untaken) do
      if kindOf(noted.terms) ~= kindOf(last.terms) then return nil end
   end
   return last and last.terms
end

-- The origin of a table that a script has made of criterions' gradients, one for each output of a
-- network: the terms of all, one after the other; nil if it is something else.
local function ofEntries(gradient)
   if torch.type(gradient) ~= 'table' or #gradient == 0 then return nil end
   local terms = {}
   for _, entry in ipairs(gradient) do
      local origin = origins[entry] or ofEntries(entry)
      if not origin or origin.taken then return nil end
      for _, term in ipairs(origin.terms) do terms[#terms + 1] = term end
   end
   return {terms = terms, hasEntries = true}
end

-- What the terms of a gradient were divided by, nil if that is unknown.
local function termsOf(gradient)
   local origin = origins[gradient]
   if origin and origin.taken and (untaken[1] or origin.taken ~= versionOf(gradient)) then
      origin = nil
   end
   origin = origin or ofEntries(gradient) -- looked at each time: the script may fill it anew
   local list = not origin and untakenTerms(gradient)
   if list then
      origin = {terms = list, taken = versionOf(gradient)}
      origins[gradient] = origin
   end
   untaken, weighed[gradient] = {}, nil
   return origin and origin.terms
end

--- The gradient of a network's input counts as that of its output.
function weights.follow(gradOutput, gradInput)
   if gradInput == nil or rawequal(gradOutput, gradInput) then return end
   local origin = origins[gradOutput] or ofEntries(gradOutput)
   local terms = weighed[gradOutput] and {{denominator = false}} or origin and origin.terms
   origins[gradInput] = terms and {terms = terms, taken = versionOf(gradInput)} or nil
end

--- The weight of a gradient of a network's output on this rank, and its kind.
-- @param rows of the batch
-- @return of several terms: how many there are, their kind and the list of them
function weights.of(gradient, rows)
   local terms = termsOf(gradient)
   if rows == 0 then return 0, weights.NONE end
   local kind = terms and kindOf(terms) or weights.ROWS
   if kind == weights.ROWS then return rows, kind end
   if kind == weights.TERMS then return #terms, kind, terms end
   if kind == weights.SUM then return 1, kind end
   local divisor = terms[1].denominator
   return torch.isTensor(divisor) and divisor:view(-1)[1] or divisor, kind
end

local function multiplied(gradient, factor)
   if torch.isTensor(gradient) then return weights.copyOf(gradient):mul(factor) end
   local list = {}
   for i, entry in ipairs(gradient) do list[i] = multiplied(entry, factor) end
   return list
end

--- A gradient once more, with a factor for each of its terms.
function weights.weigh(owner, gradient, factors)
   local origin = origins[gradient] or ofEntries(gradient)
   weighed[gradient] = true
   if #origin.terms == 1 then return multiplied(gradient, factors[1]) end
   if origin.hasEntries then
      local list, first = {}, 1
      for i, entry in ipairs(gradient) do
         local count = #(origins[entry] or ofEntries(entry)).terms
         list[i] = weights.weigh(owner, entry, {unpack(factors, first, first + count - 1)})
         first = first + count
      end
      return list
   end
   local criterion = not origin.taken and origin.criterion[1]
   if not criterion or versionOf(gradient) ~= origin.version then
      fail("%s: the terms of the loss count differently on the ranks, and the gradient cannot be"
         .. ' computed once more, since %s: use a criterion for each term', owner,
         origin.taken and "it is none of a criterion's own (a sum, a copy or a multiple)"
         or criterion and 'a script has written to it' or 'the criterion is gone')
   end
   return criterion:weighedGradient(origin.terms, factors, origin.input, origin.target)
end

--- Raises unless all ranks have weights of one kind.
-- @param all list of lists
-- @param w, k where weight and kind stand in each
-- @return the kind; NONE: no rank has rows
function weights.kind(owner, all, w, k)
   local kind, first = weights.NONE, nil
   for r, numbers in ipairs(all) do
      if numbers[k] ~= weights.NONE then
         if first and kind ~= numbers[k] then
            fail('%s: the gradient of rank %d was divided by %s, that of rank %d by %s', owner,
               first - 1, KINDS[kind], r - 1, KINDS[numbers[k]])
         end
         if first and kind == weights.TERMS and numbers[w] ~= all[first][w] then
            fail('%s: the loss of rank %d is a sum of %d terms, that of rank %d of %d', owner,
               first - 1, all[first][w], r - 1, numbers[w])
         end
         first, kind = first or r, numbers[k]
      end
   end
   return kind, first
end

--- The sum of all ranks' weights, which are not of several terms.
-- @return the sum, or 1 if gradients are to be summed; whether it is a mean's divisor
function weights.sum(owner, all, w, k)
   local kind = weights.kind(owner, all, w, k)
   if kind == weights.SUM then return 1, false end
   local sum = 0
   for _, numbers in ipairs(all) do sum = sum + numbers[w] end
   return sum, true
end

return weights
