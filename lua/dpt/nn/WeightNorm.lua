--- nn.WeightNorm(module, outputDim): applies weight normalization to a module: its weight is
-- g v / |v|, with one g for each slice of the weight along outputDim (1).
-- Invariant: v (outputs x rest) and g (outputs x 1) are learned instead of the weight, which each
-- forward computes from them. 1e-4 is added under the root of |v|, as in Torch7. v is initialized
-- from a normal distribution with Torch7's deviation, g as |v|, and the bias as zero.
-- @function nn.WeightNorm
-- @within nn containers
-- @as layer
-- @param outputDim dimension whose slices have one norm each (1)
-- @return a module; forward: any input of the module -> the module's output
-- @usage nn.WeightNorm(nn.Linear(3, 2)):forward(torch.ones(4, 3)):size() --> 4x2

local torch = require 'dpt.tensor'
local raise = require('dpt.ffi').raise

local WeightNorm, parent = torch.class('nn.WeightNorm', 'nn.Decorator')

-- Stores the sizes of the weight and of v.
local function measure(self)
   self.weightSize = self.weight:size()
   self.viewOut = self:permuteIn(self.weight):size()
   self.otherDims = self.weight:nElement() / self.viewOut[1]
   self.viewIn = torch.LongStorage{self.viewOut[1], self.otherDims}
end

function WeightNorm:__init(module, outputDim)
   parent.__init(self, module)
   if not module.weight then
      raise("nn.WeightNorm: argument 'module' is of type " .. torch.type(module)
         .. ', wanted a module with a weight')
   end
   self.bias, self.gradBias = module.bias, module.gradBias
   self.gradWeight, self.weight = module.gradWeight, module.weight
   self.outputDim = outputDim or 1
   measure(self)
   self.v = self.weight.new(self.viewIn)
   self:resetInit()
   self.gradV = self.v:clone():zero()
   self.gradG = self.g:clone():zero()
end

--- Initializes v randomly and sets g = |v|.
-- @function nn.WeightNorm:resetInit
-- @as method
-- @within nn containers
-- @return nothing
-- @usage local m = nn.WeightNorm(nn.Linear(2, 3))
--    m:resetInit()
--    return torch.cdiv(m.g, m.v:norm(2, 2)) --> [1 1 1]
function WeightNorm:resetInit()
   self.v:normal(0, math.sqrt(2 / self.v:size(2)))
   self.g = self.v:norm(2, 2)
   if self.bias then self.bias:zero() end
end

--- Moves the dimension outputDim of a weight to the front. The order of the others does not change.
-- @function nn.WeightNorm:permuteIn
-- @as author
-- @param weight tensor: of the module's weight sizes
-- @return a view
-- @usage nn.WeightNorm(nn.Linear(2, 3), 2):permuteIn(torch.ones(3, 2)):size() --> 2x3
function WeightNorm:permuteIn(weight)
   for i = self.outputDim - 1, 1, -1 do weight = weight:transpose(i, i + 1) end
   return weight
end

--- Moves the first dimension of a tensor back to outputDim.
-- @function nn.WeightNorm:permuteOut
-- @as author
-- @param weight tensor: result of permuteIn
-- @return a view
-- @usage nn.WeightNorm(nn.Linear(2, 3), 2):permuteOut(torch.ones(2, 3)):size() --> 3x2
function WeightNorm:permuteOut(weight)
   for i = 1, self.outputDim - 1 do weight = weight:transpose(i, i + 1) end
   return weight
end

local function lengths(self)
   return torch.cmul(self.v, self.v):sum(2):add(1e-4):sqrt()
end

--- Computes the module's weight from v and g, as every forward does.
-- @function nn.WeightNorm:updateWeight
-- @as author
-- @return nothing
-- @usage local m = nn.WeightNorm(nn.Linear(1, 1))
--    m.g:fill(0)
--    m:updateWeight()
--    return m.weight --> [0]
function WeightNorm:updateWeight()
   local factor = torch.cdiv(self.g:view(-1, 1), lengths(self)):expandAs(self.v)
   local rows = torch.cmul(self.v, factor):view(self.viewOut)
   self.weight:copy(self:permuteOut(rows))
end

-- Converts a file of dpt 1.0.0, which swapped dimension 1 and outputDim, to today's order.
local function reorder(self, rows)
   local turned = self.weight:transpose(1, self.outputDim):size()
   local weight = rows:view(turned):transpose(1, self.outputDim)
   rows:copy(self:permuteIn(weight):contiguous():view(self.viewIn))
end

-- Files of Torch7 contain v and g only; those of dpt 1.0.0 contain no sizes.
function WeightNorm:read(file)
   parent.read(self, file)
   if self.weight and not self.viewOut then
      measure(self)
      reorder(self, self.v)
      reorder(self, self.gradV)
   end
   if self.weight then return end
   local module = self.modules[1]
   self.weight, self.gradWeight = self.v.new(self.weightSize), self.v.new(self.weightSize):zero()
   module.weight, module.gradWeight = self.weight, self.gradWeight
   self:updateWeight()
end

function WeightNorm:parameters()
   if self.bias then
      return {self.v, self.g, self.bias}, {self.gradV, self.gradG, self.gradBias}
   end
   return {self.v, self.g}, {self.gradV, self.gradG}
end

function WeightNorm:updateOutput(input)
   self:updateWeight()
   self.output = self.modules[1]:updateOutput(input)
   return self.output
end

function WeightNorm:accGradParameters(input, gradOutput, scale)
   self.gradWeight:zero()
   self.modules[1]:accGradParameters(input, gradOutput, scale)
   -- with u = v / |v|: dg = dW u, dv = g (dW - dg u) / |v|
   local norms = lengths(self)
   local unit = torch.cdiv(self.v, norms:expandAs(self.v))
   local gradient = self:permuteIn(self.gradWeight):contiguous():view(self.viewIn)
   local gradG = torch.cmul(gradient, unit):sum(2)
   local factor = torch.cdiv(self.g:view(-1, 1), norms) -- before gradG is added: it may be g itself
   self.gradG:add(1, gradG:viewAs(self.gradG))
   local gradV = gradient:clone():addcmul(-1, unit, gradG:expandAs(unit))
   self.gradV:addcmul(1, gradV, factor:expandAs(gradV))
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
