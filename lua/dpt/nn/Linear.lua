--- nn.Linear(inputSize, outputSize, bias): y = W x + b for each vector along the last dimension of
-- the input, which has any number of dimensions, as in PyTorch.
-- Invariant: weight is outputSize x inputSize. With bias = false there is no field bias.
-- @function nn.Linear
-- @within nn linear
-- @as layer
-- @return a module; forward: ... x inputSize -> ... x outputSize, with the same leading sizes, or
--    none
-- @usage nn.Linear(3, 2):forward(torch.ones(4, 5, 3)):size() --> 4x5x2

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local Linear, parent = torch.class('nn.Linear', 'nn.Module')
Linear.outputSplit = Linear.sameSplit

function Linear:__init(inputSize, outputSize, bias)
   parent.__init(self)
   self.weight = torch.Tensor(outputSize, inputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   if bias == nil or bias then
      self.bias = torch.Tensor(outputSize)
      self.gradBias = torch.Tensor(outputSize):zero()
   end
   self:reset()
end

--- Resizes the field addBuffer to a vector of ones, one per row; for subclasses.
-- @function nn.Linear:updateAddBuffer
-- @as author
-- @param input tensor: N x inputSize
-- @return nothing
-- @usage local m = nn.Linear(2, 3)
--    m:updateAddBuffer(torch.ones(4, 2))
--    return m.addBuffer --> [1 1 1 1]
function Linear:updateAddBuffer(input)
   self.addBuffer = self.addBuffer or input.new()
   if self.addBuffer:nElement() ~= input:size(1) then
      self.addBuffer:resize(input:size(1)):fill(1)
   end
end

--- Removes the bias.
-- @function nn.Linear:noBias
-- @as method
-- @within nn linear
-- @return the module
-- @usage nn.Linear(2, 3):noBias():forward(torch.zeros(2)) --> [0 0 0]
function Linear:noBias()
   self.bias = nil
   self.gradBias = nil
   return self
end

--- Draws weight and bias uniformly from +-stdv sqrt(3), or from +-1/sqrt(inputSize) without stdv.
function Linear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
   return self
end

function Linear:updateOutput(input)
   lib.linear_forward(self.output, input, self.weight, self.bias)
   return self.output
end

function Linear:updateGradInput(_, gradOutput)
   if self.gradInput then
      lib.linear_backward_data(self.gradInput, gradOutput, self.weight)
      return self.gradInput
   end
end

function Linear:accGradParameters(input, gradOutput, scale)
   lib.linear_backward_weight(self.gradWeight, self.bias and self.gradBias, input, gradOutput,
      scale or 1)
end

-- The weight is not read after the update, so shared weights need no gradient buffer.
Linear.sharedAccUpdateGradParameters = parent.defaultAccUpdateGradParameters

function Linear:__tostring__()
   return ('%s(%d -> %d)'):format(torch.type(self), self.weight:size(2), self.weight:size(1))
      .. (self.bias == nil and ' without bias' or '')
end

return Linear
