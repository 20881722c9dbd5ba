--- nn.IndexLinear(inputSize, outputSize): nn.Linear for sparse inputs {keys, values}: two vectors;
-- two tables of vectors (a batch); or, with a third entry, the keys and values of a batch, each in
-- one vector, and the samples' lengths.
-- Invariant: weight is inputSize x outputSize; a key selects row key + offset + 1. weightDecay
-- shrinks only rows that were used. With normalize, four columns precede those of weight: the
-- largest magnitude of the key's values seen in training; its reciprocal; a factor for the row's
-- updates (1 after use in training); and a learned number that is added to the normalized values.
-- @function nn.IndexLinear
-- @within nn linear
-- @as layer
-- @param keysOffset is added to each key (0)
-- @param weight a tensor to use as the weight instead of a new one
-- @param normalize true: divides values by the largest magnitude that their key has had
-- @return a module; forward: {keys, values}, a LongTensor and a tensor of the same length ->
--    outputSize; tables of them -> B x outputSize
-- @usage nn.IndexLinear(100, 2):forward{torch.LongTensor{7, 30}, torch.Tensor{1, 2}}:size()
--    --> 2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local exactIndices = require 'dpt.nn.exact_indices'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local IndexLinear, parent = torch.class('nn.IndexLinear', 'nn.Module')

local PEAK, INVERSE, RATE, SHIFT, EXTRA = 1, 2, 3, 4, 4

--- @param doGradInput true: updateGradInput computes a gradient (false)
-- @param keysOffset key 0 is row keysOffset (0)
-- @param weight a tensor to use instead of a new one; bias likewise
-- @param normalize true: divides values by their key's largest magnitude
function IndexLinear:__init(inputSize, outputSize, doGradInput, keysOffset, weight, bias, normalize)
   parent.__init(self)
   self.normalize = normalize and EXTRA or 0
   self.weight = weight or torch.Tensor(inputSize, outputSize + self.normalize):zero()
   self.bias = bias or torch.Tensor(outputSize):zero()
   self.inputSize, self.outputSize = self.weight:size(1), self.weight:size(2) - self.normalize
   self.gradWeight = self.weight.new():resizeAs(self.weight):zero()
   self.gradBias = self.bias.new(self.outputSize):zero()
   self.weightDecay = 0
   self.doGradInput = doGradInput or false
   self.offset = (keysOffset or 0) - 1
   self.used = {} -- rows of every accGradParameters since zeroGradParameters
end

function IndexLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(1e-6)
   if self.normalize > 0 then self.weight:narrow(2, 1, EXTRA):zero() end
end

local function checkVectors(keys, values)
   if not torch.isTensor(keys) or not torch.isTensor(values) or keys:dim() ~= 1
      or values:dim() ~= 1 or keys:size(1) ~= values:size(1) then
      fail('nn.IndexLinear: wanted {keys, values}, vectors of one length, or tables of them')
   end
end

-- Returns the sample of each key, as an index tensor.
local function samples(lengths, like)
   local list = {}
   for sample, length in ipairs(lengths) do
      for _ = 1, length do list[#list + 1] = sample end
   end
   local index = nn.utils.indexTensor(nil, like)
   return index:resize(#list):copy(torch.LongTensor(list))
end

-- Converts an input to self.rows (rows of weight), self.values and self.sample.
function IndexLinear:_flatten(input)
   if type(input) ~= 'table' then fail('nn.IndexLinear: wanted {keys, values}') end
   local keys, values, lengths = input[1], input[2], input[3]
   self.noBatch, self.isFlat = false, lengths ~= nil
   if lengths then
      lengths = torch.isTensor(lengths) and lengths:long():totable()
         or type(lengths) == 'table' and lengths or {lengths}
   else
      self.noBatch = torch.isTensor(keys)
      if self.noBatch then keys, values = {keys}, {values} end
      if type(keys) ~= 'table' or type(values) ~= 'table' then checkVectors() end
      lengths = {}
      for i, k in ipairs(keys) do
         checkVectors(k, values[i])
         lengths[i] = k:size(1)
      end
      if #keys == 0 then keys, values = {self.weight.new()}, {self.weight.new()} end
      keys, values = torch.cat(keys, 1), torch.cat(values, 1)
   end
   self.count = #lengths
   if self.count > 0 then checkVectors(keys, values) end
   self.values = values
   self.sample = samples(lengths, values)
   self.rows = nn.utils.indexTensor(nil, values):resize(keys:nElement()):copy(keys)
   self.rows:add(self.offset + 1)
end

-- Multiplies row i of a matrix by numbers[i].
local function weighted(rows, numbers)
   return rows:cmul(numbers:contiguous():view(-1, 1):expandAs(rows))
end

-- Returns the columns of rows that are multiplied with values: all after those of normalize.
local function outputs(self, rows) return rows:narrow(2, self.normalize + 1, self.outputSize) end

-- Returns the values divided by their key's largest magnitude, which training updates.
local function normalized(self)
   local weight, values = self.weight, self.values
   local size = torch.abs(values)
   if self.train then
      local peaks, order = torch.sort(size) -- a key's largest value is written last
      local rows = self.rows:index(1, order)
      peaks:cmax(weight:select(2, PEAK):index(1, rows))
      weight:select(2, PEAK):indexCopy(1, rows, peaks)
      weight:select(2, INVERSE):indexCopy(1, rows,
         torch.cdiv(peaks.new():resizeAs(peaks):fill(1), peaks):maskedFill(torch.eq(peaks, 0), 0))
      weight:select(2, RATE):indexFill(1, rows, 1)
   end
   local known = weight:index(1, self.rows)
   local above = torch.gt(size, known:select(2, PEAK)):type(values:type())
   local inside = torch.cmul(values, known:select(2, INVERSE)):cmul(torch.mul(above, -1):add(1))
   return inside:addcmul(above, torch.sign(values)):add(known:select(2, SHIFT))
end

-- Raises if the keys are in a 16-bit type that cannot represent all of them.
function IndexLinear:_checkIndices(input)
   local keys = type(input) == 'table' and input[1]
   for _, list in ipairs(type(keys) == 'table' and keys or {keys}) do
      exactIndices(self, list, self.inputSize - self.offset - 1)
   end
end

function IndexLinear:updateOutput(input)
   self:_checkIndices(input)
   self:_flatten(input)
   self.output:resize(self.count, self.outputSize)
   if self.count == 0 then return self.output end
   if self.normalize > 0 then self.values = normalized(self) end
   self.output:copy(self.bias:view(1, -1):expandAs(self.output))
   self.output:indexAdd(1, self.sample, weighted(outputs(self, self.weight:index(1, self.rows)),
      self.values))
   if self.noBatch then self.output:resize(self.outputSize) end
   return self.output
end

-- Returns the gradient of the weight's row for each key, and gradOutput as a matrix.
local function gradients(self, gradOutput)
   local g = gradOutput:contiguous():view(self.count, self.outputSize)
   local rows = g:index(1, self.sample)
   if self.normalize == 0 then return weighted(rows, self.values), g end
   local all = g.new(rows:size(1), self.weight:size(2)):zero()
   local weight = outputs(self, self.weight:index(1, self.rows))
   all:select(2, SHIFT):copy(torch.cmul(rows, weight):sum(2))
   outputs(self, all):copy(weighted(rows, self.values))
   return all, g
end

function IndexLinear:accGradParameters(_, gradOutput, scale)
   if self.count == 0 then return end
   local rows, g = gradients(self, gradOutput)
   self.gradBias:add(scale or 1, g:sum(1))
   self.gradWeight:indexAdd(1, self.rows, rows:mul(scale or 1))
   table.insert(self.used, self.rows)
end

-- Applies weight decay to rows of weight.
local function decay(self, rows)
   if self.weightDecay == 0 then return end
   local step = self.weight:index(1, rows):mul(-self.weightDecay)
   if self.normalize > 0 then
      weighted(step, self.weight:select(2, RATE):index(1, rows))
      step:narrow(2, 1, EXTRA):zero()
   end
   self.weight:indexAdd(1, rows, step)
end

function IndexLinear:accUpdateGradParameters(_, gradOutput, lr)
   local rows, g = gradients(self, gradOutput)
   if self.normalize > 0 then weighted(rows, self.weight:select(2, RATE):index(1, self.rows)) end
   self.bias:add(-lr, g:sum(1))
   decay(self, self.rows)
   self.weight:indexAdd(1, self.rows, rows:mul(-lr))
   if self.normalize > 0 then self.weight:select(2, RATE):indexFill(1, self.rows, 0) end
end

--- Returns the gradient as {keys, values} of all rows, in the input's format.
function IndexLinear:updateGradInput(_, gradOutput)
   self.gradInput = {}
   if not self.doGradInput then return self.gradInput end
   if self.normalize > 0 then fail('nn.IndexLinear: no gradInput with normalize') end
   local values = gradOutput:contiguous():view(self.count, self.outputSize) * self.weight:t()
   local keys = self.rows.new(self.inputSize):copy(torch.range(1, self.inputSize))
   keys:add(-self.offset - 1)
   if self.isFlat then
      self.gradInput = {torch.repeatTensor(keys, self.count, 1), values}
   elseif self.noBatch then
      self.gradInput = {keys, values[1]}
   else
      self.gradInput = {{}, {}}
      for i = 1, self.count do
         self.gradInput[1][i], self.gradInput[2][i] = keys:clone(), values[i]
      end
   end
   return self.gradInput
end

function IndexLinear:zeroGradParameters()
   parent.zeroGradParameters(self)
   self.used = {}
end

function IndexLinear:updateParameters(learningRate)
   if #self.used > 0 then decay(self, torch.cat(self.used, 1)) end
   if self.normalize == 0 then return parent.updateParameters(self, learningRate) end
   self.bias:add(-learningRate, self.gradBias)
   local rates = self.weight:select(2, RATE):clone():view(-1, 1):expandAs(self.weight)
   self.weight:addcmul(-learningRate, self.gradWeight, rates)
end

function IndexLinear:clearState()
   self.used = {}
   self.rows, self.values, self.sample = nil, nil, nil
   self.gradInput = {}
   return nn.utils.clear(self, 'output')
end

return IndexLinear
