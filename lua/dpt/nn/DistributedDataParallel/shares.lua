--- dpt.nn.DistributedDataParallel.shares: computes the weight of each rank's gradient.
--
-- Invariant: the mean over the samples of all ranks is the sum of each rank's mean times its share
-- of the divisors: a criterion's denominator, the number that the script passes, or otherwise rows.
-- A loss that is a sum is summed. Each entry of a table of gradients has its own share. The terms
-- of one tensor have a common share, so their denominators must have the same ratios on all ranks.
-- A rank without rows has weight 0 and is compatible with all. All ranks compare the same numbers,
-- so an error of the comparison is raised on all ranks.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local denominators = require 'dpt.nn.denominators'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local shares = {}

local NAME = 'nn.DistributedDataParallel'

--- Kinds of weights. MIXED: some terms of a loss are means, some are sums. UNKNOWN: the gradient
-- may be that of a criterion whose divisor is not the number of rows.
shares.NONE, shares.ROWS, shares.DENOMINATOR, shares.SUM, shares.MIXED = 0, 1, 2, 3, 4
shares.UNKNOWN = 5
local KINDS = {'rows', "the criterion's denominator", 'nothing, since its loss is a sum',
   'the denominators of some terms'}

local NEAR = 1e-6

--- Returns the divisors of gradOutput as terms (dpt.nn.denominators), or nil.
-- @param given argument 4 of backward: nil, or {denominator = number or false}
function shares.termsOf(gradOutput, given)
   if given == nil then return denominators.find(gradOutput) end
   local divisor = type(given) == 'table' and given.denominator
   local isNumber = type(divisor) == 'number' and divisor >= 0 and divisor < math.huge
   if type(given) ~= 'table' or next(given, next(given)) ~= nil
      or not isNumber and given.denominator ~= false then
      fail('%s: argument 4 of backward is %s, wanted {denominator = n}: a number from 0, or false'
         .. ' for a sum', NAME, type(given) == 'table' and ('a table with denominator = %s'):format(
         tostring(given.denominator)) or 'a ' .. torch.type(given))
   end
   return {{denominator = divisor}, isGiven = true}
end

-- Returns the divisors of terms as numbers, false for a sum. All tensors are read in one transfer.
local function read(terms, rows)
   local numbers, tensors, indices = {}, {}, {}
   for k, term in ipairs(terms) do
      local divisor = term.denominator
      if divisor == nil then divisor = rows end
      if torch.isTensor(divisor) then
         tensors[#tensors + 1], indices[#indices + 1] = divisor:view(-1):narrow(1, 1, 1), k
      end
      numbers[k] = divisor
   end
   if #tensors == 1 then numbers[indices[1]] = tensors[1][1] end
   if #tensors < 2 then return numbers end
   for i, t in ipairs(tensors) do tensors[i] = t:type(tensors[1]:type()) end
   local values = torch.cat(tensors, 1):double()
   for i, k in ipairs(indices) do numbers[k] = values[i] end
   return numbers
end

-- Returns the weight of several terms: their sum, and a number that depends only on their ratios.
local function weightOf(numbers)
   local total, sums, ratio = 0, 0, 0
   for _, number in ipairs(numbers) do
      total, sums = total + (number or 0), sums + (number and 0 or 1)
   end
   if sums == #numbers then return {weight = 1, kind = shares.SUM, ratio = 0} end
   for k, number in ipairs(numbers) do
      ratio = ratio + (total > 0 and (number or 0) / total * math.sin(k) or 0)
   end
   return {weight = total, kind = sums > 0 and shares.MIXED or shares.DENOMINATOR, ratio = ratio}
end

local function noWeight() return {weight = 0, kind = shares.NONE, ratio = 0} end

-- Returns the weight of a gradient with terms. A single term without a denominator is divided by
-- rows.
local function weightOfTerms(terms, rows)
   if #terms == 1 and terms[1].denominator == nil then
      return {weight = rows, kind = shares.ROWS, ratio = 0}
   end
   return weightOf(read(terms, rows))
end

-- Appends the weights of the tensors in a tree of gradients, each of which has terms.
local function addEntries(list, gradient, rows)
   if torch.isTensor(gradient) then
      local terms = denominators.find(gradient)
      local own = terms and weightOfTerms(terms, rows) or noWeight() -- nil: no elements
      own.tensor = gradient
      list[#list + 1] = own
   else
      for _, entry in ipairs(gradient) do addEntries(list, entry, rows) end
   end
   return list
end

-- Returns the number of tensors in a tree of gradients.
local function countEntries(gradient)
   if torch.isTensor(gradient) then return 1 end
   local count = 0
   for _, entry in ipairs(gradient) do count = count + countEntries(entry) end
   return count
end

--- Returns the weight of a network output's gradient on this rank: {weight = , kind = , ratio = };
-- for a table also {entries = its number of tensors, gradient = , rows = }.
-- @param rows number of rows of the batch
-- @param terms from shares.termsOf
function shares.of(gradient, rows, terms)
   if rows == 0 then return noWeight() end
   if terms then
      local own = weightOfTerms(terms, rows)
      if not terms.isGiven and not torch.isTensor(gradient) then
         own.entries, own.gradient, own.rows = countEntries(gradient), gradient, rows
      end
      return own
   end
   local criterion = denominators.findNonRowCriterion()
   return {weight = rows, kind = criterion and shares.UNKNOWN or shares.ROWS, ratio = 0,
      criterion = criterion}
end

--- Returns true if two weights can be added.
function shares.areCompatible(a, b)
   if a.kind == shares.NONE or b.kind == shares.NONE then return true end
   return a.kind == b.kind
      and (a.weight == 0 or b.weight == 0 or math.abs(a.ratio - b.ratio) <= NEAR)
end

-- Returns the reason why the weight of rank r of a group cannot be added to that of rank `first`,
-- or nil if it can.
local function describeConflict(known, first, own, r, group)
   if own.kind == shares.UNKNOWN then
      return ("gradOutput of rank %d is no criterion's gradient (but a copy, a sum or computed by"
         .. ' hand), and since the last backward a %s has run there that divides by something else'
         .. ' than rows; pass the divisor of gradOutput: backward(input, gradOutput, 1,'
         .. ' {denominator = n}), false for a sum'):format(group:globalRank(r),
         own.criterion or 'criterion')
   elseif own.kind == shares.MIXED then
      return 'some terms of the loss are means, and some sums, which count differently on the'
         .. ' ranks; call backward for each of the two, gradients are accumulated'
   elseif own.kind ~= known.kind then
      return ('the gradient of rank %d was divided by %s, that of rank %d by %s'):format(
         group:globalRank(first), KINDS[known.kind], group:globalRank(r), KINDS[own.kind])
   elseif not shares.areCompatible(own, known) then
      return ('the terms of the loss count differently on the ranks: their denominators have'
         .. ' other ratios on rank %d than on rank %d; call backward for each term, gradients are'
         .. ' accumulated'):format(group:globalRank(r), group:globalRank(first))
   end
end

--- Returns the sum of all ranks' weights, or 1 if gradients are summed, and true if it is the
-- divisor of a mean. Returns nil and a message if the weights differ in kind, or if those of
-- several terms differ in ratios.
-- @param all list of weights, by rank
-- @param group the group of the ranks
function shares.sum(all, group)
   local sum, first = 0, nil
   for r, own in ipairs(all) do
      if own.kind ~= shares.NONE then
         local why = describeConflict(all[first or r], (first or r) - 1, own, r - 1, group)
         if why then return nil, why end
         if not first or all[first].weight == 0 then first = r end
         sum = sum + own.weight
      end
   end
   if first and all[first].kind == shares.SUM then return 1, false end
   return sum, true
end

--- Raises if a weight is unusable, before anything is sent.
-- @param group the group of the ranks
function shares.check(own, group)
   local rank = group:rank()
   local why = own.kind >= shares.MIXED and describeConflict(own, rank, own, rank, group)
   if why then fail('%s: %s', NAME, why) end
   return own
end

--- Returns this rank's share of each entry, by tensor, from the weights of all ranks.
-- @param own from shares.of
-- @param gather function that takes a list of numbers and returns those of all ranks
-- @param n number of entries on the ranks with rows
function shares.ofEntries(own, gather, n, group)
   local numbers, result = {}, {}
   local list = own.gradient and addEntries({}, own.gradient, own.rows) or {} -- without rows: none
   for k = 1, n do
      local entry = list[k] or noWeight()
      numbers[3 * k - 2], numbers[3 * k - 1], numbers[3 * k] = entry.weight, entry.kind, entry.ratio
   end
   local all = gather(numbers)
   for k = 1, n do
      local column = {}
      for r, theirs in ipairs(all) do
         column[r] = {weight = theirs[3 * k - 2], kind = theirs[3 * k - 1], ratio = theirs[3 * k]}
      end
      local total, why = shares.sum(column, group)
      if not total then fail('%s: entry %d of the gradient: %s', NAME, k, why) end
      if list[k] then result[list[k].tensor] = total > 0 and list[k].weight / total or 0 end
   end
   return result
end

local function scale(kept, t, factor)
   if torch.type(kept) ~= t:type() then kept = t.new() end
   return kept:resizeAs(t):mul(t, factor)
end

--- Returns a gradient, a tensor or a tree of tensors, times a factor; each product is on its
-- tensor's device.
-- @param kept the result of the last such call, whose memory is reused, or nil
-- @param factor a number, or a table of numbers by tensor
function shares.multiplied(kept, gradient, factor)
   if torch.isTensor(gradient) then
      local own = type(factor) == 'table' and (factor[gradient] or 0) or factor
      return cutorch.withDeviceOf(gradient, scale, kept, gradient, own)
   elseif torch.type(gradient) ~= 'table' then
      return gradient
   end
   local list = {}
   for key, value in pairs(gradient) do
      list[key] = shares.multiplied(torch.type(kept) == 'table' and kept[key] or nil, value, factor)
   end
   return setmetatable(list, debug.getmetatable(gradient))
end

return shares
