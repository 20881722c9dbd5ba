--- Random losses of scores N x width, or of a list of two such scores.
--
-- Invariant: a loss is {targets(n), gradient(output, target, method), weight(target, n)}. gradient
-- returns the gradient of the output, the loss, and the fourth argument of net:backward or nil;
-- method is the criterion's method to call: 'backward', or 'updateGradInput' for a reference that
-- no network must notice. weight is the divisor of the loss of these targets, up to a factor common
-- to all batches, or nil for a sum. isEven: the divisor is the number of rows. All choices come
-- from `choose`, all numbers from torch's default generator.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

local M = {}

local WEIGHTS = {1, 2, 0.5, 3}

--- Number of scores of a row.
M.width = #WEIGHTS

local function rowsOf(_, n) return n end

local function values(type)
   return function(n) return torch.randn(n, M.width):type(type) end
end

--- Returns random scores of n rows.
function M.scores(n, type) return values(type)(n) end

local function classes(type)
   return function(n)
      return torch.rand(n):mul(M.width):floor():add(1):clamp(1, M.width):type(type)
   end
end

-- Returns a loss computed by a criterion, which `make` creates.
local function ofCriterion(make, targets, weight, isEven)
   local criterions = {backward = make(), updateGradInput = make()}
   local function gradient(output, target, method)
      local criterion = criterions[method]
      local value = criterion:forward(output, target)
      return criterion[method](criterion, output, target), value
   end
   return {gradient = gradient, targets = targets, weight = weight, isEven = isEven}
end

-- Sums the weights of the classes of a target.
local function weightOf(target)
   local sum = 0
   for i = 1, target:nElement() do sum = sum + (WEIGHTS[target[i]] or 0) end
   return sum
end

local function regression(choose)
   return choose{'MSECriterion', 'AbsCriterion', 'SmoothL1Criterion'}
end

-- By the name of a loss: function(choose, type of the scores).
local single = {}

function single.mean(choose, type)
   local name = regression(choose)
   return ofCriterion(function() return nn[name]():type(type) end, values(type), rowsOf, true)
end

function single.classes(choose, type)
   local name = choose{'ClassNLLCriterion', 'CrossEntropyCriterion'}
   local loss = ofCriterion(function() return nn[name]():type(type) end, classes(type), rowsOf,
      true)
   loss.isRows = true
   return loss
end

function single.sum(choose, type)
   if choose(2) == 1 then
      local name = regression(choose)
      return ofCriterion(function()
         local criterion = nn[name]():type(type)
         criterion.sizeAverage = false
         return criterion
      end, values(type))
   end
   return ofCriterion(function() return nn.ClassNLLCriterion(nil, false):type(type) end,
      classes(type))
end

function single.weights(choose, type)
   local name = choose{'ClassNLLCriterion', 'CrossEntropyCriterion'}
   return ofCriterion(function() return nn[name](torch.Tensor(WEIGHTS)):type(type) end,
      classes(type), weightOf)
end

-- Some targets are ignored, but not the first.
function single.masked(_, type)
   local all = classes(type)
   local loss = ofCriterion(function() return nn.ClassNLLCriterion():type(type) end, function(n)
      local target = all(n)
      for i = 2, n do if torch.uniform() < 0.4 then target[i] = -100 end end
      return target
   end, function(target)
      local count = 0
      for i = 1, target:nElement() do count = count + (target[i] > 0 and 1 or 0) end
      return count
   end)
   loss.isMasked = true
   return loss
end

-- Several terms with the same divisor.
function single.terms(_, type)
   return ofCriterion(function()
      return nn.MultiCriterion():add(nn.MSECriterion(), 0.5):add(nn.AbsCriterion(), 2):type(type)
   end, values(type), rowsOf, true)
end

-- ---- without a criterion ----

function single.rows(_, type)
   local function gradient(output, target)
      local n = math.max(output:size(1), 1)
      local off = output - target
      return off * (2 / n), off:nElement() > 0 and (off:norm() ^ 2) / n or 0
   end
   return M.unclaimed{gradient = gradient, targets = values(type), weight = rowsOf, isEven = true,
      isByHand = true}
end

-- Rows are weighted by the first number of their targets.
function single.denominator(choose, type)
   local isSum = choose(2) == 1
   local function weight(target)
      return target:nElement() > 0 and target:select(2, 1):clone():abs():sum() or 0
   end
   local function gradient(output, target)
      local off, sum = output - target, isSum and 1 or weight(target)
      if off:nElement() == 0 then return off, 0, {denominator = not isSum and 0} end
      local own = target:select(2, 1):clone():abs():view(-1, 1):expandAs(off)
      return off:clone():cmul(own):mul(2 / sum), torch.cmul(off, off):cmul(own):sum() / sum,
         {denominator = not isSum and sum}
   end
   return {gradient = gradient, targets = values(type), weight = not isSum and weight or nil,
      isByHand = true}
end

-- ---- changes of a gradient, as in scripts ----

-- By name: function(loss) that returns another loss.
local function changed(loss, change)
   local copy = {}
   for k, v in pairs(loss) do copy[k] = v end
   function copy.gradient(output, target, method)
      local gradOutput, value, counts = loss.gradient(output, target, method)
      return change(gradOutput, output, target), value, counts
   end
   return copy
end

--- Marks a loss whose gradient does not belong to a criterion.
function M.unclaimed(loss)
   loss.isUnclaimed = true
   return loss
end

--- Returns a loss of another network's output for the scores; the network is distributed or not
-- (bare).
function M.through(loss, kind, bare)
   local one = nn.Sequential():add(nn.Linear(M.width, M.width)):add(nn.Tanh()):type(kind.type)
   local nets = {updateGradInput = one, backward = one:clone()}
   if not bare and kind.choose(2) == 1 then
      nets.backward = nn.DistributedDataParallel(nets.backward)
   end
   local copy = {}
   for k, v in pairs(loss) do copy[k] = v end
   function copy.gradient(output, target, method)
      local net = nets[method]
      local gradOutput, value = loss.gradient(net:forward(output), target, method)
      return net:backward(output, gradOutput), value
   end
   return copy
end

local changes = {
   as_it_is = function(loss) return loss end,
   multiple = function(loss)
      return changed(loss, function(g) return g:mul(0.5) end)
   end,
   view = function(loss)
      return changed(loss, function(g) return g:view(g:size()) end)
   end,
   view_of_multiple = function(loss)
      return changed(loss, function(g) return g:mul(2):viewAs(g) end)
   end,
   -- adds a penalty of the scores in place
   penalty = function(loss)
      return loss.isMasked and loss or changed(loss, function(g, output, target)
         local weight = not loss.weight and 1 or loss.weight(target, output:size(1))
         if output:nElement() > 0 then g:add(0.1 / weight, output) end
         return g
      end)
   end,
   -- a copy is weighted by its rows
   copy = function(loss)
      return loss.isRows and M.unclaimed(changed(loss, function(g) return g:clone():mul(3) end))
         or loss
   end,
   through = function(loss, kind)
      loss = M.through(loss, kind)
      if loss.isRows then return M.unclaimed(loss) end
      local gradient = loss.gradient
      function loss.gradient(output, target, method)
         local gradOutput, value = gradient(output, target, method)
         return gradOutput, value,
            {denominator = loss.weight and loss.weight(target, output:size(1)) or false}
      end
      return loss
   end,
}
local changeNames = {'as_it_is', 'as_it_is', 'copy', 'multiple', 'penalty', 'through', 'view',
   'view_of_multiple'}

local names = {'classes', 'denominator', 'masked', 'mean', 'rows', 'sum', 'terms', 'weights'}

-- Returns a loss of one tensor of scores.
-- @param kind see M.make
-- @param list names of losses
local function one(choose, kind, list)
   local name = choose(list or kind.isEven and {'mean', 'classes', 'terms', 'rows'} or names)
   local loss, change = single[name](choose, kind.type), choose(changeNames)
   if loss.isByHand or change == 'through' and not kind.mayGoThrough then change = 'as_it_is' end
   loss = changes[change](loss, kind)
   loss.name = change == 'as_it_is' and name or name .. ' ' .. change
   return loss
end

-- Returns a loss of two tensors of scores: an nn.ParallelCriterion, or a table of gradients.
local function pair(choose, kind)
   local form = choose(kind.isEven and {'parallel', 'even'} or {'parallel', 'even', 'sums'})
   if form == 'parallel' then
      local target = values(kind.type)
      local loss = ofCriterion(function()
         return nn.ParallelCriterion():add(nn.MSECriterion(), 0.5):add(nn.AbsCriterion())
            :type(kind.type)
      end, function(n) return {target(n), target(n)} end, rowsOf, true)
      loss.name = 'parallel'
      return loss
   end
   kind = setmetatable({mayGoThrough = false}, {__index = kind}) -- divisors are unknown
   local a = one(choose, kind, form == 'sums' and {'sum'} or {'mean', 'classes'})
   local b = one(choose, kind, form == 'sums' and {'sum'} or {'mean', 'classes'})
   return {isEven = a.isEven, weight = a.weight, isUnclaimed = a.isUnclaimed or b.isUnclaimed,
      name = ('{%s, %s}'):format(a.name, b.name),
      targets = function(n) return {a.targets(n), b.targets(n)} end,
      gradient = function(output, target, method)
         local first, value = a.gradient(output[1], target[1], method)
         local second, more = b.gradient(output[2], target[2], method)
         return {first, second}, value + more
      end}
end

--- Returns a loss by name, of one tensor of scores, without changes.
function M.named(name, choose, kind)
   local loss = single[name](choose, kind.type)
   loss.name = name
   return loss
end

--- Returns a random loss.
-- @param kind type = type of the scores; outputs = 1, or 2 for a list of two scores; isEven = true
-- if losses must be divided by their rows; mayGoThrough = true if a gradient may come from another
-- network; choose
function M.make(choose, kind)
   return (kind.outputs == 1 and one or pair)(choose, kind)
end

return M
