--- nn.SparseLinear(inputSize, outputSize, doGradInput): nn.Linear for sparse inputs. A sample is a
-- matrix of rows {index, value}; a batch is a table of samples or a tensor N x nonzeros x 2.
-- Invariant: weight is outputSize x inputSize. With doGradInput, gradInput has a row {index,
-- gradient} for every element of a sample, in a table or, for a batch that is a tensor, in a
-- tensor. Without doGradInput it is empty.
-- @function nn.SparseLinear
-- @within nn linear
-- @as layer
-- @return a module; forward: a table of tensors n x 2 of (index, value), or one such tensor -> B x
--    outputSize
-- @usage nn.SparseLinear(100, 2) :forward{torch.Tensor{{7, 1}, {30, 2}}, torch.Tensor{{1,
--       1}}}:size() --> 2x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local exactIndices = require 'dpt.nn.exact_indices'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local SparseLinear, parent = torch.class('nn.SparseLinear', 'nn.Module')

function SparseLinear:__init(inputSize, outputSize, doGradInput)
   parent.__init(self)
   self.doGradInput = doGradInput or false
   self.gradInput = {}
   self.inputSize, self.outputSize = inputSize, outputSize
   self.weight = torch.Tensor(outputSize, inputSize)
   self.bias = torch.Tensor(outputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   self.gradBias = torch.Tensor(outputSize):zero()
   self:reset()
end

function SparseLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv):mul(1e-6)
end

-- Returns the indices and values of a sample.
local function parts(sample)
   if sample:dim() ~= 2 or sample:size(2) ~= 2 then
      fail('nn.SparseLinear: a sample of size %s, wanted rows {index, value}',
         table.concat(sample:size():totable(), 'x'))
   end
   local numbers = sample:select(2, 1)
   local index = nn.utils.indexTensor(nil, sample):resize(numbers:size(1)):copy(numbers)
   return index, sample:select(2, 2)
end

-- Returns the samples as a list, true for a batch, and true if the batch is a tensor.
local function samples(input)
   if type(input) == 'table' then return input, true end
   if input:dim() == 2 then return {input}, false end
   local list = {}
   for i = 1, input:size(1) do list[i] = input[i] end
   return list, true, true
end

-- Raises if the samples are in a 16-bit type that cannot represent all indices.
function SparseLinear:_checkIndices(input)
   for _, sample in ipairs((samples(input))) do exactIndices(self, sample, self.inputSize) end
end

function SparseLinear:updateOutput(input)
   self:_checkIndices(input)
   local list, batch = samples(input)
   self.output:resize(#list, self.outputSize)
   for i, sample in ipairs(list) do
      local index, values = parts(sample)
      self.output[i]:copy(self.bias):addmv(1, self.weight:index(2, index), values)
   end
   if not batch then self.output:resize(self.outputSize) end
   return self.output
end

function SparseLinear:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local list = samples(input)
   local g = gradOutput:contiguous():view(#list, self.outputSize)
   for i, sample in ipairs(list) do
      local index, values = parts(sample)
      local columns = torch.ger(g[i], values:contiguous()):mul(scale)
      self.gradWeight:indexAdd(2, index, columns)
   end
   self.gradBias:add(scale, g:sum(1))
end

function SparseLinear:updateGradInput(input, gradOutput)
   self.gradInput = {}
   if not self.doGradInput then return self.gradInput end
   local list, _, tensor = samples(input)
   local dense = torch.mm(gradOutput:contiguous():view(#list, self.outputSize), self.weight)
   local rows = dense.new(#list, self.inputSize, 2)
   rows:select(3, 1):copy(torch.range(1, self.inputSize):view(1, -1):expand(#list, self.inputSize))
   rows:select(3, 2):copy(dense)
   if tensor then
      self.gradInput = rows
   else
      for i = 1, #list do self.gradInput[i] = rows[i] end
   end
   return self.gradInput
end

return SparseLinear
