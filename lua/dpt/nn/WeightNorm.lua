--- nn.WeightNorm(module, outputDim): a module whose weight is g v / |v|, one g for each slice of
-- the weight along outputDim (1).
-- Invariant: v (outputs x rest) and g (outputs x 1) are learned instead of the weight, which is
-- made from them at each forward; |v| gets 1e-4 under the root, as in Torch7. v starts normal with
-- Torch7's deviation, g as |v|, the bias as zero.
-- @function nn.WeightNorm
-- @within nn containers
-- @as layer
-- @param outputDim the dimension whose slices have a norm each (1)
-- @return a module; forward: what the module takes -> what it returns
-- @usage nn.WeightNorm(nn.Linear(3, 2)):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'
local raise = require('dpt.ffi').raise

local WeightNorm, parent = torch.class('nn.WeightNorm', 'nn.Decorator')

function WeightNorm:__init(module, outputDim)
   parent.__init(self, module)
   if not module.weight then
      raise('nn.WeightNorm: wants a module with a weight, got ' .. torch.type(module))
   end
   self.bias, self.gradBias = module.bias, module.gradBias
   self.gradWeight, self.weight = module.gradWeight, module.weight
   self.outputDim = outputDim or 1
   self.v = self:rows(self.weight):clone()
   self:resetInit()
   self.gradV = self.v:clone():zero()
   self.gradG = self.g:clone():zero()
end

--- Draws v anew; the module then has weights of lengths g = |v|.
-- @function nn.WeightNorm:resetInit
-- @as method
-- @within nn containers
-- @return nothing
-- @usage local m = nn.WeightNorm(nn.Linear(2, 3))
--    m:resetInit()
--    return (m.g - m.v:norm(2, 2)):abs():max() < 1e-9 --> true
function WeightNorm:resetInit()
   self.v:normal(0, math.sqrt(2 / self.v:size(2)))
   self.g = self.v:norm(2, 2)
   if self.bias then self.bias:zero() end
end

--- The weight as a matrix with a row for each output.
-- @function nn.WeightNorm:rows
-- @as author
-- @param weight tensor: of the module
-- @return a matrix
-- @usage nn.WeightNorm(nn.Linear(2, 3)):rows(torch.ones(3, 2)):size() --> 3x2
function WeightNorm:rows(weight)
   local turned = weight:transpose(1, self.outputDim):contiguous()
   return turned:view(turned:size(1), -1)
end

--- Puts such a matrix into a tensor of the weight's form.
-- @function nn.WeightNorm:intoWeight
-- @as author
-- @param weight tensor: gets the rows
-- @param rows tensor: a matrix
-- @return nothing
-- @usage local t = torch.Tensor(1, 2)
--    nn.WeightNorm(nn.Linear(2, 1)):intoWeight(t, torch.Tensor{{3, 4}})
--    return t --> [3 4]
function WeightNorm:intoWeight(weight, rows)
   local turned = weight:transpose(1, self.outputDim)
   turned:copy(rows:view(turned:size()))
end

local function lengths(self)
   return torch.cmul(self.v, self.v):sum(2):add(1e-4):sqrt()
end

function WeightNorm:parameters()
   if self.bias then
      return {self.v, self.g, self.bias}, {self.gradV, self.gradG, self.gradBias}
   end
   return {self.v, self.g}, {self.gradV, self.gradG}
end

function WeightNorm:updateOutput(input)
   local factor = torch.cdiv(self.g, lengths(self))
   self:intoWeight(self.modules[1].weight, torch.cmul(self.v, factor:expandAs(self.v)))
   self.output = self.modules[1]:updateOutput(input)
   return self.output
end

function WeightNorm:accGradParameters(input, gradOutput, scale)
   local module = self.modules[1]
   module.gradWeight:zero()
   module:accGradParameters(input, gradOutput, scale)
   -- with u = v / |v|: dg = dW u, dv = g (dW - dg u) / |v|
   local norms = lengths(self)
   local unit = torch.cdiv(self.v, norms:expandAs(self.v))
   local gradient = self:rows(module.gradWeight)
   local gradG = torch.cmul(gradient, unit):sum(2)
   self.gradG:add(1, gradG)
   local gradV = gradient:clone():addcmul(-1, unit, gradG:expandAs(unit))
   self.gradV:addcmul(1, gradV, torch.cdiv(self.g, norms):expandAs(gradV))
end

function WeightNorm:accUpdateGradParameters(input, gradOutput, lr)
   local gradV, gradG, gradBias = self.gradV, self.gradG, self.gradBias
   self.gradV, self.gradG, self.gradBias = self.v, self.g, self.bias
   self.modules[1].gradBias = self.bias
   self:accGradParameters(input, gradOutput, -lr)
   self.gradV, self.gradG, self.gradBias = gradV, gradG, gradBias
   self.modules[1].gradBias = gradBias
end

WeightNorm.sharedAccUpdateGradParameters = WeightNorm.accUpdateGradParameters

function WeightNorm:zeroGradParameters()
   local _, gradients = self:parameters()
   for _, gradient in ipairs(gradients) do gradient:zero() end
end

function WeightNorm:updateParameters(lr)
   local parameters, gradients = self:parameters()
   for i, parameter in ipairs(parameters) do parameter:add(-lr, gradients[i]) end
end

return WeightNorm
