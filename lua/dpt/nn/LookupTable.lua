--- nn.LookupTable(nIndex, nOutput, paddingValue, maxNorm, normType): an embedding: returns row i of
-- the weight for each index i of the input, a vector or a matrix of numbers 1..nIndex of any type.
-- Invariant: the row of index paddingValue gets no gradient. With maxNorm, forward first scales
-- every used row with a larger norm down to maxNorm, in the weight itself.
-- @function nn.LookupTable
-- @within nn linear
-- @as layer
-- @return a module; forward: B x T or T numbers 1..nIndex -> B x T x nOutput or T x nOutput
-- @usage nn.LookupTable(10, 4):forward(torch.LongTensor{{1, 9, 3}}):size() --> 1x3x4

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local exactIndices = require 'dpt.nn.exact_indices'
local forwardWrites = require 'dpt.parallel.params.forward_writes'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local LookupTable, parent = torch.class('nn.LookupTable', 'nn.Module')
LookupTable.__version = 4
LookupTable._maxDimensions = 2 -- of the input; one without dimensions is an empty vector

function LookupTable:__init(nIndex, nOutput, paddingValue, maxNorm, normType)
   parent.__init(self)
   self.weight = torch.Tensor(nIndex, nOutput)
   self.gradWeight = torch.Tensor(nIndex, nOutput):zero()
   self.paddingValue = paddingValue or 0
   self.maxNorm = maxNorm or nil
   self.normType = normType or nil
   self.shouldScaleGradByFreq = false
   self:reset()
end

--- Divides the gradient of each index by its number of occurrences in the input.
-- @function nn.LookupTable:scaleGradByFreq
-- @as method
-- @within nn linear
-- @return the module
-- @usage local m, i = nn.LookupTable(3, 1):scaleGradByFreq(), torch.LongTensor{2, 2, 3}
--    m:zeroGradParameters()
--    m:forward(i)
--    m:backward(i, torch.ones(3, 1))
--    return m.gradWeight --> [0 1 1]
function LookupTable:scaleGradByFreq()
   self.shouldScaleGradByFreq = true
   return self
end

--- Sets the index whose row gets no gradient.
-- @function nn.LookupTable:setPadding
-- @as method
-- @within nn linear
-- @param paddingValue number: an index
-- @return the module
-- @usage nn.LookupTable(5, 2):setPadding(1).paddingValue --> 1
function LookupTable:setPadding(paddingValue)
   self.paddingValue = paddingValue
   return self
end

--- Sets maxNorm, the largest norm of used rows; forward scales longer rows down.
-- @function nn.LookupTable:setMaxNorm
-- @as method
-- @within nn linear
-- @param maxNorm number: the largest norm; nil removes the limit
-- @return the module
-- @usage nn.LookupTable(5, 2):setMaxNorm(2).maxNorm --> 2
function LookupTable:setMaxNorm(maxNorm)
   self.maxNorm = maxNorm
   return self
end

--- Sets the exponent of the norm that maxNorm limits.
-- @function nn.LookupTable:setNormType
-- @as method
-- @within nn linear
-- @param normType number: 2 for the Euclidean norm
-- @return the module
-- @usage nn.LookupTable(5, 2):setNormType(1).normType --> 1
function LookupTable:setNormType(normType)
   self.normType = normType
   return self
end

--- Frees gradWeight: the module then supports accUpdateGradParameters only.
-- @function nn.LookupTable:accUpdateOnly
-- @as method
-- @within nn linear
-- @return the module
-- @usage local m, i = nn.LookupTable(2, 1):accUpdateOnly(), torch.LongTensor{2}
--    m.weight:zero()
--    m:forward(i)
--    m:accUpdateGradParameters(i, torch.ones(1, 1), 0.5)
--    return m.weight, m.gradWeight --> [0 -0.5], nil
function LookupTable:accUpdateOnly()
   self.gradWeight = nil
   return self
end

function LookupTable:reset(stdv)
   self.weight:normal(0, stdv or 1)
   return self
end

--- Returns the input as a contiguous LongTensor: the input itself, or a copy in the field _input;
-- for subclasses.
-- @function nn.LookupTable:makeInputContiguous
-- @as author
-- @param input tensor: of indices
-- @return a contiguous tensor
-- @usage nn.LookupTable(5, 2):makeInputContiguous(torch.LongTensor{{1, 2}, {3, 4}}:t())
--    --> [1 3 2 4]
function LookupTable:makeInputContiguous(input)
   local long = self.weight:type():find 'Cuda' and 'torch.CudaLongTensor' or 'torch.LongTensor'
   self.copiedInput = not input:isContiguous() or input:type() ~= long
   if not self.copiedInput then return input end
   if torch.type(self._input) ~= long then self._input = torch.getmetatable(long).new() end
   return self._input:resize(input:size()):copy(input)
end

-- Raises if the input is in a 16-bit type that cannot represent all indices.
function LookupTable:_checkIndices(input) exactIndices(self, input, self.weight:size(1)) end

--- Returns the input as indices on the weight's device. Raises if its type is a 16-bit one that
-- cannot represent all indices.
-- @function nn.LookupTable:indices
-- @as author
-- @param input tensor: of one or two dimensions; of any size in nn.Embedding
-- @return a tensor
-- @usage nn.LookupTable(5, 2):indices(torch.LongTensor{1, 2}):nElement() --> 2
function LookupTable:indices(input)
   if not torch.isTensor(input) or input:dim() > self._maxDimensions then
      fail('nn.LookupTable: input wants 1 or 2 dimensions, got %s',
         torch.isTensor(input) and input:dim() or torch.type(input))
   end
   self:_checkIndices(input)
   return nn.utils.sameSide(self, '_input', input, self.weight)
end

function forwardWrites.kinds.renorm(weight, indices, maxNorm, normType)
   lib.lookup_renorm(weight, indices, maxNorm, normType)
end

--- Scales the rows of the weight that the indices select down to maxNorm.
-- @function nn.LookupTable:renorm
-- @as author
-- @param input tensor: of indices
-- @return nothing
-- @usage local m = nn.LookupTable(2, 2, 0, 1)
--    m.weight:fill(3)
--    m:renorm(torch.LongTensor{1})
--    return m.weight[1]:norm() < 1.01, m.weight[2] --> true, [3 3]
function LookupTable:renorm(indices)
   if self.maxNorm then
      local normType = self.normType or 2
      forwardWrites.kinds.renorm(self.weight, indices, self.maxNorm, normType)
      forwardWrites.record('renorm', self.weight, indices, self.maxNorm, normType)
   end
end

function LookupTable:updateOutput(input)
   local indices = self:indices(input)
   self:renorm(indices)
   lib.lookup_forward(self.output, self.weight, indices)
   return self.output
end

--- Returns zeros in the input's type: indices have no gradient.
function LookupTable:updateGradInput(input, _)
   if torch.type(self.gradInput) ~= torch.type(input) then self.gradInput = input.new() end
   if not self.gradInput:isSameSizeAs(input) then self.gradInput:resizeAs(input):zero() end
   return self.gradInput
end

function LookupTable:accGradParameters(input, gradOutput, scale)
   lib.lookup_backward(self.gradWeight, self:indices(input), gradOutput, self.paddingValue,
      self.shouldScaleGradByFreq and 1 or 0, scale or 1)
end

LookupTable.sharedAccUpdateGradParameters = parent.defaultAccUpdateGradParameters

function LookupTable:type(typename, tensorCache)
   if typename then
      self._input = nil
      self.gradInput = self.weight.new()
   end
   return parent.type(self, typename, tensorCache)
end

function LookupTable:clearState()
   nn.utils.clear(self, '_input')
   return parent.clearState(self)
end

return LookupTable
