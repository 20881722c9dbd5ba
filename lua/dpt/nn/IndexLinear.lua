--- nn.IndexLinear(inputSize, outputSize): nn.Linear for sparse inputs in the form {keys, values}:
-- vectors, two tables of vectors (a batch), or, with a third entry, all keys and values of a batch
-- in one vector each and the samples' lengths.
-- What must stay true: weight is inputSize x outputSize, a key names its row (key + offset + 1);
-- weightDecay shrinks only rows that took part. Torch7's max-normalization is not there.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require 'dpt.ffi'.fail

local IndexLinear, parent = torch.class('nn.IndexLinear', 'nn.Module')

--- @param doGradInput whether updateGradInput computes anything (false)
-- @param keysOffset what the first key is counted from: key 0 is row keysOffset (0)
-- @param weight tensors to use instead of new ones, here and for bias
function IndexLinear:__init(inputSize, outputSize, doGradInput, keysOffset, weight, bias, normalize)
   parent.__init(self)
   if normalize then fail('nn.IndexLinear: dpt has no max-normalization: normalize the values') end
   self.weight = weight or torch.Tensor(inputSize, outputSize):zero()
   self.bias = bias or torch.Tensor(outputSize):zero()
   self.inputSize, self.outputSize = self.weight:size(1), self.weight:size(2)
   self.gradWeight = self.weight.new(self.inputSize, self.outputSize):zero()
   self.gradBias = self.bias.new(self.outputSize):zero()
   self.weightDecay = 0
   self.doGradInput = doGradInput or false
   self.offset = (keysOffset or 0) - 1
   self.used = {} -- the rows of every accGradParameters since zeroGradParameters
end

function IndexLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(1e-6)
end

local function checkVectors(keys, values)
   if not torch.isTensor(keys) or not torch.isTensor(values) or keys:dim() ~= 1
      or values:dim() ~= 1 or keys:size(1) ~= values:size(1) then
      fail('nn.IndexLinear: wanted {keys, values}, vectors of one length, or tables of them')
   end
end

-- The sample of every key, as index tensor.
local function samples(lengths, like)
   local list = {}
   for sample, length in ipairs(lengths) do
      for _ = 1, length do list[#list + 1] = sample end
   end
   local index = nn.utils.indexTensor(nil, like)
   return index:resize(#list):copy(torch.LongTensor(list))
end

-- Brings an input into self.rows (which row of weight), self.values and self.sample.
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
      keys, values = torch.cat(keys, 1), torch.cat(values, 1)
   end
   checkVectors(keys, values)
   self.count = #lengths
   self.values = values
   self.sample = samples(lengths, values)
   self.rows = nn.utils.indexTensor(nil, values):resize(keys:size(1)):copy(keys)
   self.rows:add(self.offset + 1)
end

-- Every row of a matrix times the value that goes with it.
local function weighted(self, rows)
   return rows:cmul(self.values:view(-1, 1):expandAs(rows))
end

function IndexLinear:updateOutput(input)
   self:_flatten(input)
   self.output:resize(self.count, self.outputSize)
   self.output:copy(self.bias:view(1, -1):expandAs(self.output))
   self.output:indexAdd(1, self.sample, weighted(self, self.weight:index(1, self.rows)))
   if self.noBatch then self.output:resize(self.outputSize) end
   return self.output
end

function IndexLinear:accGradParameters(_, gradOutput, scale)
   local g = gradOutput:contiguous():view(self.count, self.outputSize)
   self.gradBias:add(scale or 1, g:sum(1))
   self.gradWeight:indexAdd(1, self.rows, weighted(self, g:index(1, self.sample)):mul(scale or 1))
   table.insert(self.used, self.rows)
end

--- The gradient as {keys, values} of all rows, in the form that the input has.
function IndexLinear:updateGradInput(_, gradOutput)
   self.gradInput = {}
   if not self.doGradInput then return self.gradInput end
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
   if self.weightDecay ~= 0 and #self.used > 0 then
      local rows = torch.cat(self.used, 1)
      self.weight:indexAdd(1, rows, self.weight:index(1, rows):mul(-self.weightDecay))
   end
   parent.updateParameters(self, learningRate)
end

function IndexLinear:clearState()
   self.used = {}
   self.rows, self.values, self.sample = nil, nil, nil
   self.gradInput = {}
   return nn.utils.clear(self, 'output')
end

return IndexLinear
