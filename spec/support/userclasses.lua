--- Classes as scripts bring them: modules, a container, a criterion.
-- What must stay true: a second require, of a spec that busted reloads, defines nothing again.
local torch, nn = require('dpt').torch, require('dpt').nn
if nn.SpecScale then return end

-- As user code does it: fields in __init, three methods, buffers made by new() and resized.
local Scale, scaleParent = torch.class('nn.SpecScale', 'nn.Module')

function Scale:__init(n)
   scaleParent.__init(self)
   self.weight = torch.Tensor(n)
   self.gradWeight = torch.Tensor(n):zero()
   self:reset()
end

function Scale:reset(stdv)
   stdv = stdv or 0.1
   if nn.oldSeed then
      self.weight:apply(function() return torch.uniform(1 - stdv, 1 + stdv) end)
   else
      self.weight:uniform(1 - stdv, 1 + stdv)
   end
   return self
end

function Scale:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   self.repeated = self.repeated or input.new()
   self.repeated:resizeAs(input)
   self.repeated:copy(self.weight:view(1, -1):expandAs(input))
   self.output:cmul(self.repeated)
   return self.output
end

function Scale:updateGradInput(input, gradOutput)
   if self.gradInput then
      self.gradInput:resizeAs(input):zero()
      self.gradInput:addcmul(1, self.repeated, gradOutput)
      return self.gradInput
   end
end

function Scale:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   self.gradWeight:add(scale, torch.cmul(input, gradOutput):sum(1):view(-1))
end

function Scale:type(type, cache)
   self.repeated = nil
   return scaleParent.type(self, type, cache)
end

function Scale:clearState()
   nn.utils.clear(self, 'repeated')
   return scaleParent.clearState(self)
end

function Scale:__tostring__() return torch.type(self) .. ('(%d)'):format(self.weight:size(1)) end

-- A layer that works on numbers by itself, with apply and map, and computes both in backward.
local Swish, swishParent = torch.class('nn.SpecSwish', 'nn.Module')

function Swish:__init(beta)
   swishParent.__init(self)
   self.beta = beta or 1
   self.sigmoid = nn.Sigmoid()
end

function Swish:updateOutput(input)
   local s = self.sigmoid:forward(torch.mul(input, self.beta))
   self.output:cmul(input, s)
   return self.output
end

function Swish:updateGradInput(_, gradOutput)
   local s, y = self.sigmoid.output, self.output
   self.gradInput = (y * self.beta + s - torch.cmul(s, y) * self.beta):cmul(gradOutput)
   return self.gradInput
end

-- A container of one's own: x + f(x), by way of nn.Decorator's place.
local Residual, residualParent = torch.class('nn.SpecResidual', 'nn.Container')

function Residual:__init(inner)
   residualParent.__init(self)
   self:add(inner)
end

function Residual:updateOutput(input)
   self.output:resizeAs(input):copy(input):add(self.modules[1]:forward(input))
   return self.output
end

function Residual:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(gradOutput)
   self.gradInput:add(self.modules[1]:updateGradInput(input, gradOutput))
   return self.gradInput
end

function Residual:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale)
end

local Loss, lossParent = torch.class('nn.SpecCosh', 'nn.Criterion')

function Loss:__init(sizeAverage)
   lossParent.__init(self)
   self.sizeAverage = sizeAverage ~= false
   self.buffer = torch.Tensor()
end

function Loss:updateOutput(input, target)
   self.buffer:resizeAs(input):copy(input):add(-1, target)
   local e = torch.exp(self.buffer)
   self.output = (e + torch.exp(-self.buffer)):div(2):log():sum()
   if self.sizeAverage then self.output = self.output / input:nElement() end
   return self.output
end

function Loss:updateGradInput(input)
   self.gradInput:resizeAs(input):tanh(self.buffer)
   if self.sizeAverage then self.gradInput:div(input:nElement()) end
   return self.gradInput
end
