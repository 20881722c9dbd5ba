--- nn.PartialLinear(inputSize, outputSize, bias): nn.Linear of which only some outputs are
-- computed.
-- What must stay true: setPartition(indices) chooses the outputs, resetPartition takes all;
-- gradients of the other rows stay as they are.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local lib = require 'dpt.nn.lib'

local PartialLinear, parent = torch.class('nn.PartialLinear', 'nn.Module')

function PartialLinear:__init(inputSize, outputSize, bias)
   parent.__init(self)
   self.weight = torch.Tensor(outputSize, inputSize)
   self.gradWeight = torch.Tensor(outputSize, inputSize):zero()
   if bias == nil or bias then
      self.bias = torch.Tensor(1, outputSize):zero()
      self.gradBias = torch.Tensor(1, outputSize):zero()
   end
   self:reset()
end

function PartialLinear:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:size(2))
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
end

--- Computes the outputs whose numbers a tensor holds, in its order.
function PartialLinear:setPartition(indices)
   self.partition = torch.LongTensor(indices:nElement()):copy(indices)
   self._rows = nil
end

function PartialLinear:resetPartition()
   self.partition = nil
   self._rows = nil
end

-- The numbers of the outputs on the weight's side, nil for all.
local function rows(self)
   if not self.partition then return nil end
   local typename = torch.type(nn.utils.indexTensor(nil, self.weight))
   if torch.type(self.partition) == typename then return self.partition end
   return nn.utils.sameSide(self, '_rows', self.partition:long(), self.weight)
end

-- Weight and bias of the chosen outputs.
local function chosen(self)
   local index = rows(self)
   local bias = self.bias and self.bias:view(-1)
   if not index then return self.weight, bias end
   return self.weight:index(1, index), bias and bias:index(1, index)
end

function PartialLinear:updateOutput(input)
   local weight, bias = chosen(self)
   lib.linear_forward(self.output, input, weight, bias)
   return self.output
end

function PartialLinear:updateGradInput(_, gradOutput)
   if self.gradInput then
      lib.linear_backward_data(self.gradInput, gradOutput, (chosen(self)))
      return self.gradInput
   end
end

function PartialLinear:accGradParameters(input, gradOutput, scale)
   local index = rows(self)
   local gradBias = self.bias and self.gradBias:view(-1)
   if not index then
      lib.linear_backward_weight(self.gradWeight, gradBias, input, gradOutput, scale or 1)
      return
   end
   local n = index:size(1)
   local weight = self.weight.new():resize(n, self.weight:size(2)):zero()
   local bias = gradBias and self.weight.new():resize(n):zero()
   lib.linear_backward_weight(weight, bias, input, gradOutput, scale or 1)
   self.gradWeight:indexAdd(1, index, weight)
   if bias then gradBias:indexAdd(1, index, bias) end
end

function PartialLinear:__tostring__()
   return ('%s(%d -> %d)'):format(torch.type(self), self.weight:size(2), self.weight:size(1))
      .. (self.bias == nil and ' without bias' or '')
end

return PartialLinear
