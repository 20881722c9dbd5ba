--- nn.LinearWeightNorm(inputSize, outputSize, bias, eps): nn.Linear with weight normalization: each
-- row of the weight is g v / |v|.
-- Invariant: v (outputSize x inputSize) and g (outputSize x 1) are learned; forward computes weight
-- from them. eps is added to |v|^2.
-- @function nn.LinearWeightNorm
-- @within nn linear
-- @as layer
-- @param eps avoids division by zero (1e-16)
-- @return a module; forward: ... x inputSize -> ... x outputSize, with the same leading sizes, or
--    none
-- @usage nn.LinearWeightNorm(3, 2):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local LinearWeightNorm, parent = torch.class('nn.LinearWeightNorm', 'nn.Linear')

function LinearWeightNorm:__init(inputSize, outputSize, bias, eps)
   self.eps = eps or 1e-16
   self.v = torch.Tensor(outputSize, inputSize)
   self.gradV = torch.Tensor(outputSize, inputSize):zero()
   self.g = torch.Tensor(outputSize, 1)
   self.gradG = torch.Tensor(outputSize, 1):zero()
   parent.__init(self, inputSize, outputSize, bias)
end

function LinearWeightNorm:parameters()
   if self.bias then
      return {self.v, self.g, self.bias}, {self.gradV, self.gradG, self.gradBias}
   end
   return {self.v, self.g}, {self.gradV, self.gradG}
end

-- Returns |v| of each row, outputSize x 1.
local function lengths(self)
   return torch.cmul(self.v, self.v):sum(2):add(self.eps):sqrt()
end

function LinearWeightNorm:reset(stdv)
   parent.reset(self, stdv)
   self:initFromWeight()
end

--- Sets v and g from the weight.
-- @function nn.LinearWeightNorm:initFromWeight
-- @as method
-- @within nn linear
-- @param weight? tensor: outputSize x inputSize (the module's)
-- @return the module
-- @usage nn.LinearWeightNorm(2, 1):initFromWeight(torch.Tensor{{3, 4}}).g --> [5]
function LinearWeightNorm:initFromWeight(weight)
   self.v:copy(weight or self.weight)
   self.g:copy(torch.cmul(self.v, self.v):sum(2):sqrt())
   return self
end

--- Returns an nn.LinearWeightNorm that computes the same function as an nn.Linear.
-- @function nn.LinearWeightNorm.fromLinear
-- @as method
-- @within nn linear
-- @also nn.LinearWeightNorm:fromLinear()
-- @param linear nn.Linear: its weight and bias are copied
-- @return an nn.LinearWeightNorm
-- @usage local l = nn.Linear(2, 3)
--    l.weight:fill(2)
--    l.bias:fill(1)
--    return nn.LinearWeightNorm.fromLinear(l):forward(torch.ones(2)) --> [5 5 5]
function LinearWeightNorm.fromLinear(linear)
   local outputSize, inputSize = linear.weight:size(1), linear.weight:size(2)
   local module = nn.LinearWeightNorm(inputSize, outputSize, linear.bias ~= nil)
   module:type(linear:type())
   module.weight:copy(linear.weight)
   if linear.bias then module.bias:copy(linear.bias) end
   return module:initFromWeight()
end

--- Returns an nn.Linear that computes the same function as this module.
-- @function nn.LinearWeightNorm:toLinear
-- @as method
-- @within nn linear
-- @return an nn.Linear
-- @usage torch.type(nn.LinearWeightNorm(2, 3):toLinear()) --> nn.Linear
function LinearWeightNorm:toLinear()
   self:updateWeightMatrix()
   local outputSize, inputSize = self.weight:size(1), self.weight:size(2)
   local module = nn.Linear(inputSize, outputSize, self.bias ~= nil):type(self:type())
   module.weight:copy(self.weight)
   if self.bias then module.bias:copy(self.bias) end
   return module
end

--- Computes the weight from v and g: g v / |v|.
-- @function nn.LinearWeightNorm:updateWeightMatrix
-- @as author
-- @return nothing
-- @usage local m = nn.LinearWeightNorm(2, 1):initFromWeight(torch.Tensor{{3, 4}})
--    m:updateWeightMatrix()
--    return m.weight:clone():round() --> [3 4]
function LinearWeightNorm:updateWeightMatrix()
   local factor = torch.cdiv(self.g, lengths(self))
   self.weight:cmul(self.v, factor:expandAs(self.v))
end

function LinearWeightNorm:updateOutput(input)
   self:updateWeightMatrix()
   return parent.updateOutput(self, input)
end

function LinearWeightNorm:accGradParameters(input, gradOutput, scale)
   self.gradWeight:zero()
   parent.accGradParameters(self, input, gradOutput, scale)
   -- with u = v / |v|: dg = dW u, dv = g (dW - dg u) / |v|
   local norms = lengths(self)
   local unit = torch.cdiv(self.v, norms:expandAs(self.v))
   local gradG = torch.cmul(self.gradWeight, unit):sum(2)
   local factor = torch.cdiv(self.g, norms) -- read before gradG is added, which may alias g
   self.gradG:add(1, gradG)
   local gradV = self.gradWeight:clone():addcmul(-1, unit, gradG:expandAs(unit))
   self.gradV:addcmul(1, gradV, factor:expandAs(gradV))
end

-- gradWeight is only a buffer here; the update uses the gradients of v and g.
function LinearWeightNorm:defaultAccUpdateGradParameters(input, gradOutput, lr)
   local gradV, gradG, gradBias = self.gradV, self.gradG, self.gradBias
   self.gradV, self.gradG, self.gradBias = self.v, self.g, self.bias
   self:accGradParameters(input, gradOutput, -lr)
   self.gradV, self.gradG, self.gradBias = gradV, gradG, gradBias
end

return LinearWeightNorm
