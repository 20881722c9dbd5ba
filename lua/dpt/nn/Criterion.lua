--- nn.Criterion: what every loss can do.
-- What must stay true: output is a Lua number: forward reads one value at its end, the only wait;
-- backward never waits. A criterion fills in updateOutput and updateGradInput.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local deepcopy = require 'dpt.clone'

local Criterion = torch.class('nn.Criterion')

function Criterion:__init()
   self.gradInput = torch.Tensor()
   self.output = 0
   self._type = self.gradInput:type()
end

function Criterion:updateOutput(_, _)
end

function Criterion:forward(input, target)
   return self:updateOutput(input, target)
end

function Criterion:backward(input, target)
   return self:updateGradInput(input, target)
end

function Criterion:updateGradInput(_, _)
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

--- A target of values in the input's type: itself, or a copy.
function Criterion:valuesFor(input, target)
   if not torch.isTensor(target) or torch.type(target) == torch.type(input) then return target end
   if torch.type(self._target) ~= torch.type(input) then self._target = input.new() end
   return self._target:resize(target:size()):copy(target)
end

function Criterion:clone()
   return deepcopy(self)
end

function Criterion:type(typename, tensorCache)
   if not typename then return self._type end
   tensorCache = tensorCache or {}
   for key, value in pairs(self) do
      self[key] = nn.utils.recursiveType(value, typename, tensorCache)
   end
   self._type = typename
   return self
end

for method, typename in pairs{
   float = 'torch.FloatTensor', double = 'torch.DoubleTensor', half = 'torch.HalfTensor',
   cuda = 'torch.CudaTensor', cudaDouble = 'torch.CudaDoubleTensor',
   cudaHalf = 'torch.CudaHalfTensor',
} do
   Criterion[method] = function(self, ...) return self:type(typename, ...) end
end

function Criterion:__tostring__()
   return torch.type(self)
end

--- Criterion(input, target): the loss and its gradient.
function Criterion:__call__(input, target)
   self.output = self:forward(input, target)
   self.gradInput = self:backward(input, target)
   return self.output, self.gradInput
end

return Criterion
