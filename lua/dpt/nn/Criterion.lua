--- nn.Criterion: base class of losses.
-- Invariant: output is a Lua number. forward reads it from the device at its end; it waits only
-- there. While cutorch.graph captures, output is the one-element tensor and nothing waits. backward
-- never waits. A subclass implements updateGradInput, and updateLoss, which queues the computation
-- of the loss; or, if it computes the loss as a number on the host, updateOutput instead of
-- updateLoss. If batches can be split over devices (nn.DataParallelCriterion), it implements
-- denominator as well.
-- @function nn.Criterion
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes see its subclasses, returns the loss
-- @usage nn.MSECriterion():forward(torch.zeros(1), torch.ones(1)) --> 1

local dptffi = require 'dpt.ffi'
local C, type = dptffi.C, dptffi.type
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local core = require 'dpt.tensor.core'
local deepcopy = require 'dpt.clone'
local denominators = require 'dpt.nn.denominators'
local addObjectMethods = require 'dpt.nn.object'

local Criterion = torch.class('nn.Criterion')
addObjectMethods(Criterion)

function Criterion:__init()
   self.gradInput = torch.Tensor()
   self.output = 0
   self._type = self.gradInput:type()
end

--- Queues the computation of the loss, without waiting. A subclass implements it, so that its loss
-- can be computed in parts.
-- @function nn.Criterion:updateLoss
-- @as author
-- @param input tensor: or table
-- @param target tensor: or table or number
-- @return a tensor of one element; a second one if updateOutput returns two numbers
-- @usage nn.MSECriterion():updateLoss(torch.Tensor{1}, torch.Tensor{4}) --> [9]
function Criterion:updateLoss(_, _)
   dptffi.fail('%s has no updateOutput; a criterion defines updateLoss or updateOutput',
      torch.type(self))
end

--- Computes the loss. A subclass implements it if it does not implement updateLoss.
-- @function nn.Criterion:updateOutput
-- @as method
-- @within nn criterions
-- @param input tensor: or table; a network's output
-- @param target tensor: or table or number; the expected output
-- @return the loss, a number
-- @usage nn.MSECriterion():updateOutput(torch.Tensor{1}, torch.Tensor{3}) --> 4
function Criterion:updateOutput(input, target)
   local loss, weight = self:updateLoss(input, target)
   local captures = C.dpt_graph_capturing() ~= 0
   self.output = captures and loss or loss[1]
   if weight and not captures then return self.output, weight[1] end
   return self.output
end

function Criterion:forward(input, target)
   return self:updateOutput(input, target)
end

function Criterion:backward(input, target)
   local gradInput = self:updateGradInput(input, target)
   if denominators.enabled and gradInput then
      denominators.record(gradInput, self:denominators({}, input, target), torch.type(self),
         input)
   end
   return gradInput
end

--- Computes the gradient of the loss. Every subclass implements it.
-- @function nn.Criterion:updateGradInput
-- @as method
-- @within nn criterions
-- @param input tensor: or table; that of the last forward
-- @param target tensor: or table or number; that of the last forward
-- @return the gradient of the input
-- @usage nn.AbsCriterion():updateGradInput(torch.Tensor{1}, torch.Tensor{3}) --> [-1]
function Criterion:updateGradInput(_, _)
end

--- Returns the divisor of the last batch's loss: the number of samples or elements, or the sum of
-- their weights.
-- @function nn.Criterion:denominator
-- @as author
-- @follows dpt's own
-- @param input tensor: or table; that of the last forward
-- @param target tensor: or table or number; that of the last forward
-- @return a number; a tensor of one element, if only the device knows it; false if the loss is a
--    sum. After a tensor, a second result: its value if nothing is masked, or false if it depends
--    on weights
-- @usage nn.MSECriterion():denominator(torch.ones(2, 3), torch.ones(2, 3)) --> 6
function Criterion:denominator(_, _)
   dptffi.fail('%s cannot be computed in parts: the divisor of its loss is unknown; define a method'
      .. ' denominator(input, target) that returns it, or false for a sum', torch.type(self))
end

--- Appends the divisors of the terms (the losses whose weighted sum is this loss), in order.
-- @function nn.Criterion:denominators
-- @as author
-- @follows dpt's own
-- @param list table: {denominator = } is appended for each
-- @param input tensor: or table; that of the last forward
-- @param target tensor: or table or number; that of the last forward
-- @return the list
-- @usage nn.MSECriterion():denominators({}, torch.ones(4), torch.ones(4))[1].denominator --> 4
function Criterion:denominators(list, input, target)
   local term = {}
   if self.denominator ~= Criterion.denominator then
      term.denominator, term.count = self:denominator(input, target)
   end
   list[#list + 1] = term
   return list
end

--- Queues the terms, whose weighted sum is this loss. Call it on a copy that copyForTerms made.
-- @function nn.Criterion:terms
-- @as author
-- @follows dpt's own
-- @param input tensor: or table
-- @param target tensor: or table or number
-- @return a list of {criterion, weight, loss, denominator}
-- @usage nn.MultiCriterion():add(nn.MSECriterion(), 0.5)
--       :copyForTerms() :terms(torch.ones(2), torch.ones(2))[1].weight --> 0.5
function Criterion:terms(input, target)
   -- a subclass's updateOutput may do more than updateLoss
   local update = self.updateOutput == Criterion.updateOutput and 'updateLoss' or 'updateOutput'
   local loss = self[update](self, input, target)
   return {{criterion = self, weight = 1, loss = loss,
      denominator = (self:denominator(input, target))}}
end

-- Replaces repeated criterions in a tree by copies.
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

--- Returns a copy whose terms can be queued. A criterion that occurs twice becomes two copies, each
-- with its own loss and share.
-- @function nn.Criterion:copyForTerms
-- @as author
-- @follows dpt's own
-- @return a criterion
-- @usage torch.type(nn.MSECriterion():copyForTerms()) --> nn.MSECriterion
function Criterion:copyForTerms()
   local copy = deepcopy(self)
   separate(copy, {[copy] = true})
   return copy
end

-- Calls f(term, key) for each tensor in terms.
local function eachTensor(terms, f)
   for _, term in ipairs(terms) do
      for _, key in ipairs{'loss', 'denominator'} do
         if torch.isTensor(term[key]) then f(term, key) end
      end
   end
end

--- Queues the terms and concatenates their losses in one tensor, so that one wait reads all of
-- them.
-- @function nn.Criterion:queueTerms
-- @as author
-- @follows dpt's own
-- @param input tensor: or table
-- @param target tensor: or table or number
-- @return the terms; the field numbers holds the tensor
-- @usage nn.MSECriterion():queueTerms(torch.Tensor{1}, torch.Tensor{2}).numbers --> [1]
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
-- @function nn.Criterion:readTerms
-- @as author
-- @follows dpt's own
-- @param terms table: from queueTerms
-- @return the terms, with numbers
-- @usage local c = nn.MSECriterion()
--    return c:readTerms(c:queueTerms(torch.Tensor{1}, torch.Tensor{4}))[1].loss --> 9
function Criterion:readTerms(terms)
   local numbers, i = terms.numbers and terms.numbers:double(), 0
   eachTensor(terms, function(term, key)
      i = i + 1
      term[key] = numbers[i]
   end)
   return terms
end

--- Adds this criterion's terms, times weight, to a list.
-- @function nn.Criterion:addTerms
-- @as author
-- @follows dpt's own
-- @param list table: of terms
-- @param weight number: a factor
-- @param input tensor: or table
-- @param target tensor: or table or number
-- @return nothing
-- @usage local list = {}
--    nn.MSECriterion():addTerms(list, 3, torch.Tensor{1}, torch.Tensor{2})
--    return list[1].weight --> 3
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

--- Computes updateGradInput for part of a batch, times the part's share of the denominator: the
-- field share_ of the criterion in each term (1 if nil).
-- @function nn.Criterion:partGradient
-- @as author
-- @follows dpt's own
-- @param input tensor: or table; that of the last forward
-- @param target tensor: or table or number; that of the last forward
-- @return the gradient of the input
-- @usage nn.MSECriterion():partGradient(torch.Tensor{1}, torch.Tensor{2}) --> [-2]
function Criterion:partGradient(input, target)
   local gradInput = self:updateGradInput(input, target)
   if self.share_ then multiply(gradInput, self.share_) end
   return gradInput
end

--- Sums losses into a tensor of one element, and divides by the divisor unless it is false; 0 for
-- no samples.
-- @function nn.Criterion:sumOf
-- @as author
-- @follows dpt's own
-- @param losses tensor: one per sample
-- @param divisor? number: or false
-- @return a tensor of one element
-- @usage nn.MSECriterion():sumOf(torch.Tensor{1, 5}, 2) --> [3]
function Criterion:sumOf(losses, divisor)
   -- the sum of 16-bit floats may exceed their range or precision
   losses = losses:type(core.tensorNames[core.computeKind(losses.kind_)])
   local sum = self:lossTensor(losses):sum(losses:view(1, -1), 2)
   if divisor and divisor ~= 0 then sum:div(divisor) end
   return sum:resize(1)
end

--- Returns a one-element tensor of the input's type, into which the C library writes the loss; it
-- is reused by later calls.
-- @function nn.Criterion:lossTensor
-- @as author
-- @follows dpt's own
-- @param input tensor: of any size
-- @return a tensor
-- @usage torch.type(nn.MSECriterion():lossTensor(torch.FloatTensor(2))) --> torch.FloatTensor
function Criterion:lossTensor(input)
   if torch.type(self._loss) ~= torch.type(input) then self._loss = input.new() end
   return self._loss
end

--- Returns a target of class numbers on the input's device: the target itself or a copy. A number
-- becomes a tensor.
-- @function nn.Criterion:classesFor
-- @as author
-- @follows dpt's own
-- @param input tensor: on the host or a device
-- @param target tensor: of class numbers; or a number
-- @return a tensor
-- @raise if the number is NaN or beyond 2^53
-- @usage nn.ClassNLLCriterion():classesFor(torch.ones(2), 2) --> [2]
function Criterion:classesFor(input, target)
   if type(target) == 'number' then
      if target ~= target or math.abs(target) >= 2^53 then
         dptffi.fail("%s: argument 'target' has class %s, wanted an integer from 1 on",
            torch.type(self), target == target and target or 'NaN')
      end
      self._target = nn.utils.indexTensor(self._target, input)
      return self._target:resize(1):fill(target)
   end
   return nn.utils.sameSide(self, '_target', target, input)
end

--- Returns a target of values in the input's type: the target itself or a copy. A number becomes a
-- tensor.
-- @function nn.Criterion:valuesFor
-- @as author
-- @follows dpt's own
-- @param input tensor: of any type
-- @param target tensor: of any type; or a number
-- @return a tensor
-- @usage nn.MSECriterion():valuesFor(torch.FloatTensor(1), torch.DoubleTensor{3}):type()
--    --> torch.FloatTensor
function Criterion:valuesFor(input, target)
   local number = type(target) == 'number'
   if not number and (not torch.isTensor(target) or torch.type(target) == torch.type(input)) then
      return target
   end
   if torch.type(self._target) ~= torch.type(input) then self._target = input.new() end
   if number then return self._target:resize(1):fill(target) end
   return self._target:resize(target:size()):copy(target)
end

--- Returns a copy that shares no memory with the criterion.
-- @function nn.Criterion:clone
-- @as method
-- @within nn criterions
-- @return a criterion
-- @usage local c = nn.MSECriterion()
--    local copy, x, y = c:clone(), torch.ones(2), torch.zeros(2)
--    copy.sizeAverage = false
--    return c:forward(x, y), copy:forward(x, y) --> 1, 2
function Criterion:clone()
   return deepcopy(self)
end

--- Returns the loss and its gradient: criterion(input, target).
function Criterion:__call__(input, target)
   self.output = self:forward(input, target)
   self.gradInput = self:backward(input, target)
   return self.output, self.gradInput
end

--- Computes the loss and waits for it.
-- @function nn.Criterion:forward
-- @within nn criterions
-- @as method
-- @param input tensor or table: a network's output
-- @param target tensor, table or number: the expected output
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

--- Returns the type of the criterion's tensors; with a name, converts them to that type. The
-- methods named after types convert to that type.
-- @function nn.Criterion:type
-- @as method
-- @within nn criterions
-- @also nn.Criterion:float()
-- @also nn.Criterion:double()
-- @also nn.Criterion:half()
-- @also nn.Criterion:bfloat16()
-- @also nn.Criterion:cuda()
-- @also nn.Criterion:cudaDouble()
-- @also nn.Criterion:cudaHalf()
-- @also nn.Criterion:cudaBFloat16()
-- @param typename? string: for example 'torch.CudaTensor'
-- @param tensorCache? table: keeps tensors shared across several calls
-- @return the type's name, or the criterion
-- @usage nn.MSECriterion():cuda():type() --> torch.CudaTensor

--- Writes the criterion's fields into an open file; writeObject calls it.
-- @function nn.Criterion:write
-- @as method
-- @within nn criterions
-- @param file torch.File: a file that is open for writing
-- @return nothing
-- @usage local f, c = torch.MemoryFile(), nn.MarginCriterion(1)
--    nn.MarginCriterion(2):write(f)
--    f:seek(1)
--    c:read(f)
--    return c.margin --> 2

--- Restores the fields that write wrote to a file.
-- @function nn.Criterion:read
-- @as method
-- @within nn criterions
-- @param file torch.File: a file that is open for reading
-- @return nothing
-- @usage local f, c = torch.MemoryFile(), nn.MarginCriterion(1)
--    nn.MarginCriterion(5):write(f)
--    f:seek(1)
--    c:read(f)
--    return c.margin --> 5

return Criterion
