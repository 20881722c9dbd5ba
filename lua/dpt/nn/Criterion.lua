--- nn.Criterion: what every loss can do.
-- Invariant: output is a Lua number: forward reads one value at its end, the only wait (while
-- cutorch.graph captures it is the tensor with that value, and nothing waits); backward never
-- waits. A criterion fills in updateGradInput and updateLoss, which queues the loss, or, if the
-- loss is a number anyway, updateOutput instead of updateLoss. One whose batches can be split over
-- devices (nn.DataParallelCriterion) has its denominator as well.
-- @function nn.Criterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes see its descendants, returns the loss
-- @usage nn.MSECriterion():forward(torch.zeros(1), torch.ones(1)) --> 1

local dptffi = require 'dpt.ffi'
local C, type = dptffi.C, dptffi.type
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local deepcopy = require 'dpt.clone'
local weights = require 'dpt.parallel.ranks.weights'
local addObjectMethods = require 'dpt.nn.object'

local Criterion = torch.class('nn.Criterion')
addObjectMethods(Criterion)

function Criterion:__init()
   self.gradInput = torch.Tensor()
   self.output = 0
   self._type = self.gradInput:type()
end

--- Queues the loss; a tensor of one element, which is not waited for.
function Criterion:updateLoss(_, _)
   dptffi.fail('%s has no updateOutput: a criterion fills in updateLoss or updateOutput',
      torch.type(self))
end

function Criterion:updateOutput(input, target)
   local loss = self:updateLoss(input, target)
   self.output = C.dpt_graph_capturing() == 0 and loss[1] or loss
   return self.output
end

function Criterion:forward(input, target)
   return self:updateOutput(input, target)
end

function Criterion:backward(input, target)
   local gradInput = self:updateGradInput(input, target)
   if weights.noted and gradInput then
      weights.note(gradInput, self, self:denominators({}, input, target), input, target)
   end
   return gradInput
end

function Criterion:updateGradInput(_, _)
end

--- What the loss of this batch was divided by: samples, elements, the sum of their weights; a
-- number or, if only the device knows, a tensor of one element. False if the loss is a sum.
-- Called after updateLoss or updateOutput.
function Criterion:denominator(_, _)
   dptffi.fail("%s cannot be computed in parts: it does not say what its loss is divided by (give"
      .. ' it a method denominator(input, target); false for a sum)', torch.type(self))
end

--- What the losses were divided by of which this criterion's is the weighted sum, in the order of
-- terms. Called after forward.
-- @param list to which {criterion = whose loss, denominator = as above; nil: it does not say} are
-- appended
-- @return list
function Criterion:denominators(list, input, target)
   local says = self.denominator ~= Criterion.denominator
   list[#list + 1] = {criterion = self}
   if says then list[#list].denominator = self:denominator(input, target) end
   return list
end

--- The losses of which this criterion's is the weighted sum, queued and not waited for.
-- To be called of a copy that copyForTerms made.
-- @return list of {criterion = whose loss, weight = its factor, loss = number or tensor of one
-- element, denominator = as above}
function Criterion:terms(input, target)
   -- a class with an updateOutput of its own may do more than updateLoss
   local update = self.updateOutput == Criterion.updateOutput and 'updateLoss' or 'updateOutput'
   local loss = self[update](self, input, target)
   return {{criterion = self, weight = 1, loss = loss,
      denominator = self:denominator(input, target)}}
end

-- Lets no criterion occur twice in a tree.
local function separate(tree, seen)
   for key, value in pairs(tree) do
      if type(value) == 'table' then
         if seen[value] and torch.isTypeOf(value, 'nn.Criterion') then
            value = deepcopy(value)
            tree[key] = value
         end
         if not seen[value] then
            seen[value] = true
            separate(value, seen)
         end
      end
   end
end

--- A copy to call terms of: a criterion that stands in it twice is two, each with its own loss and
-- share.
function Criterion:copyForTerms()
   local copy = deepcopy(self)
   separate(copy, {[copy] = true})
   return copy
end

-- Calls f(term, key) for what is a tensor in terms.
local function eachTensor(terms, f)
   for _, term in ipairs(terms) do
      for _, key in ipairs{'loss', 'denominator'} do
         if torch.isTensor(term[key]) then f(term, key) end
      end
   end
end

--- The terms with their numbers queued into one tensor, so that one wait reads them all.
function Criterion:queueTerms(input, target)
   local terms, list, typename = self:terms(input, target), {}, nil
   eachTensor(terms, function(term, key)
      list[#list + 1] = term[key]
      local same = (typename or term[key]:type()) == term[key]:type()
      typename = same and term[key]:type() or 'torch.CudaDoubleTensor'
   end)
   for i, t in ipairs(list) do list[i] = t:type(typename) end
   terms.numbers = list[2] and torch.cat(list, 1) or list[1]
   return terms
end

--- Waits for queued terms and replaces their tensors by numbers.
-- @return terms
function Criterion:readTerms(terms)
   local numbers, i = terms.numbers and terms.numbers:double(), 0
   eachTensor(terms, function(term, key)
      i = i + 1
      term[key] = numbers[i]
   end)
   return terms
end

--- Adds this criterion's terms, times weight, to a list.
function Criterion:addTerms(list, weight, input, target)
   for _, term in ipairs(self:terms(input, target)) do
      term.weight = term.weight * weight
      list[#list + 1] = term
   end
end

local function multiply(value, factor)
   if torch.isTensor(value) then return value:mul(factor) end
   for _, inner in pairs(value) do multiply(inner, factor) end
end

--- updateGradInput of a part of a batch: times its share of the denominator, which is the field
-- share_ of the criterion that a term names (1).
function Criterion:partGradient(input, target)
   local gradInput = self:updateGradInput(input, target)
   if self.share_ then multiply(gradInput, self.share_) end
   return gradInput
end

--- updateGradInput with a factor for each term, once more after backward.
-- @param list that denominators returned
-- @param factors one for each entry of it
function Criterion:weighedGradient(list, factors, input, target)
   local twice
   for k, term in ipairs(list) do
      local criterion = term.criterion
      twice = twice or criterion.share_ and criterion.share_ ~= factors[k] and criterion
      criterion.share_ = factors[k]
   end
   local ok, gradInput = pcall(self.updateGradInput, self, input, target)
   for _, term in ipairs(list) do term.criterion.share_ = nil end
   if twice then
      dptffi.fail('%s: a %s stands in it more than once, and its losses count differently on this'
         .. ' rank: add a clone for each', torch.type(self), torch.type(twice))
   end
   if not ok then error(gradInput, 0) end
   return gradInput
end

--- The sum of losses, divided unless the divisor is false, as a tensor of one element; 0 of no
-- samples.
function Criterion:sumOf(losses, divisor)
   if losses:type() == 'torch.CudaHalfTensor' then losses = losses:cuda() end -- 65504 is too little
   local sum = self:lossTensor(losses):sum(losses:view(1, -1), 2)
   if divisor and divisor ~= 0 then sum:div(divisor) end
   return sum:resize(1)
end

--- A one-element tensor of the input's kind into which C puts the loss; kept between calls.
function Criterion:lossTensor(input)
   if torch.type(self._loss) ~= torch.type(input) then self._loss = input.new() end
   return self._loss
end

--- A target of class numbers on the input's side: itself, or a copy. A number becomes a tensor.
function Criterion:classesFor(input, target)
   if type(target) == 'number' then
      self._target = nn.utils.indexTensor(self._target, input)
      return self._target:resize(1):fill(target)
   end
   return nn.utils.sameSide(self, '_target', target, input)
end

--- A target of values in the input's type: itself, or a copy. A number becomes a tensor.
function Criterion:valuesFor(input, target)
   local number = type(target) == 'number'
   if not number and (not torch.isTensor(target) or torch.type(target) == torch.type(input)) then
      return target
   end
   if torch.type(self._target) ~= torch.type(input) then self._target = input.new() end
   if number then return self._target:resize(1):fill(target) end
   return self._target:resize(target:size()):copy(target)
end

function Criterion:clone()
   return deepcopy(self)
end

--- Criterion(input, target): the loss and its gradient.
function Criterion:__call__(input, target)
   self.output = self:forward(input, target)
   self.gradInput = self:backward(input, target)
   return self.output, self.gradInput
end

--- Computes the loss and waits for it.
-- @function nn.Criterion:forward
-- @within nn criterions
-- @as method
-- @param input tensor or table: what a network returned
-- @param target tensor, table or number: what is right
-- @return the loss, a number
-- @usage nn.AbsCriterion():forward(torch.Tensor{1}, torch.Tensor{4}) --> 3

--- Computes the gradient of the loss, for the network's backward.
-- @function nn.Criterion:backward
-- @within nn criterions
-- @as method
-- @param input tensor or table: that of the last forward
-- @param target tensor, table or number: that of the last forward
-- @return the gradient of the input
-- @usage nn.MSECriterion():backward(torch.Tensor{1}, torch.Tensor{4}) --> [-6]

return Criterion
