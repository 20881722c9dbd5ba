--- dpt.parallel.ranks.weights: how much the gradient of each rank counts.
--
-- Invariant: a mean over the samples of all ranks is the sum of each rank's mean times its share of
-- what a criterion divides by (nn.Criterion's denominator), or of the rows if that is unknown. A
-- loss that is a sum is summed. Losses that are sums of several have a weight for each term
-- (dpt.parallel.ranks.terms). A rank without rows counts for nothing and agrees with everybody; all
-- ranks see all weights, so that those that cannot be put together raise on all of them.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local fail = require('dpt.ffi').fail

local weights = {}

-- By gradient: {terms = what its terms were divided by, criterion = {it} (weak), input, target,
-- version = of the gradient; taken = the gradient's version, if another tensor was a criterion's}.
local origins = setmetatable({}, {__mode = 'k'})

-- What the last criterion noted since the last backward; false: several did, of other kinds.
local untaken
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

-- A number that changes when a script writes to a tensor of a gradient.
local function versionOf(gradient)
   if torch.isTensor(gradient) then return comm.version{gradient} end
   local sum = 0
   for _, inner in pairs(gradient) do sum = sum + versionOf(inner) end
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
   local origin = {terms = list, input = input, target = target}
   if list[2] then
      origin.version, origin.criterion = versionOf(gradient), setmetatable({criterion}, weak)
      weights.last = criterion
   end
   origins[gradient] = origin
   untaken = (untaken == nil or untaken and kindOf(untaken) == kindOf(list)) and list
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

-- What the terms of a gradient were divided by, nil if that is unknown. A tensor that is no
-- criterion's is a multiple or a copy of one, or came back through another network: it is
-- that of the criterion that noted last, if all since the last backward noted one kind.
local function termsOf(gradient, comesAgain)
   local origin = origins[gradient]
   if origin and origin.taken and (untaken ~= nil or origin.taken ~= versionOf(gradient)) then
      origin = nil
   end
   origin = origin or ofEntries(gradient) -- looked at each time: the script may fill it anew
   if not origin and untaken and #untaken == 1 then
      origin = {terms = untaken, taken = versionOf(gradient)}
      if not comesAgain then origins[gradient] = origin end
   end
   if not comesAgain then untaken = nil end
   return origin and origin.terms
end

--- The gradient of a network's input counts as that of its output.
function weights.follow(gradOutput, gradInput)
   if gradInput == nil or rawequal(gradOutput, gradInput) then return end
   local origin = origins[gradOutput]
   origins[gradInput] = origin and #origin.terms == 1
      and {terms = origin.terms, taken = versionOf(gradInput)} or nil
end

--- The weight of a gradient of a network's output on this rank, and its kind.
-- @param rows of the batch
-- @param comesAgain whether the pass that counts is still to come with it
-- @return of several terms: how many there are, their kind and the list of them
function weights.of(gradient, rows, comesAgain)
   local terms = termsOf(gradient, comesAgain)
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
   local criterion = origin.criterion[1]
   if not criterion or versionOf(gradient) ~= origin.version then
      fail('%s: the terms of the loss count differently on this rank, and the gradient cannot be'
         .. ' computed once more, since %s: use a criterion for each term', owner,
         criterion and 'a script has written to it' or 'the criterion is gone')
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
