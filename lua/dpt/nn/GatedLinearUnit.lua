--- nn.GatedLinearUnit(dim): y = a sigmoid(b), where a and b are the halves of the input along
-- dimension dim (the last one; a negative one is counted from the end).
-- Invariant: the size of that dimension is even. A subclass has another field `gate`: the pointwise
-- operations of its activation.
-- @function nn.GatedLinearUnit
-- @within nn transfer
-- @as layer
-- @return a module; forward: a tensor with an even size along dim -> half of that size
-- @usage nn.GatedLinearUnit():forward(torch.Tensor{6, 0}) --> [3]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local GatedLinearUnit, parent = torch.class('nn.GatedLinearUnit', 'nn.Module')

--- Operations of the gates' activation, for subclasses: the numbers of the forward and the backward
-- operation, and true if the latter reads the activation's input instead of its output.
-- @field nn.GatedLinearUnit.gate
-- @as author
-- @also nn.SwiGLU.gate
-- @also nn.GEGLU.gate
-- @also nn.ReGLU.gate
-- @follows dpt's own
-- @return a table
-- @usage nn.GatedLinearUnit.gate.ofInput, nn.SwiGLU.gate.ofInput --> nil, true
GatedLinearUnit.gate = {
   forward = pointwise.id 'sigmoid', backward = pointwise.id 'sigmoid_backward',
}

function GatedLinearUnit:__init(dim)
   parent.__init(self)
   self.dim = dim
   self.sigmoid = torch.Tensor()
end

--- Returns the halves of the input along dim: values and gates.
-- @function nn.GatedLinearUnit:halves
-- @as author
-- @param t tensor: the input
-- @return two views
-- @usage nn.GatedLinearUnit():halves(torch.Tensor{1, 2}) --> [1], [2]
function GatedLinearUnit:halves(t)
   local dim = self.dim or -1
   if dim < 0 then dim = t:dim() + 1 + dim end
   local size = t:size(dim)
   if size % 2 ~= 0 then
      fail('nn.GatedLinearUnit: dimension %d has size %d, wanted an even size', dim, size)
   end
   return t:narrow(dim, 1, size / 2), t:narrow(dim, size / 2 + 1, size / 2)
end

function GatedLinearUnit:updateOutput(input)
   local a, b = self:halves(input)
   lib.map1(self.gate.forward, self.sigmoid, b, 0, 0)
   self.output:resizeAs(a):cmul(a, self.sigmoid)
   return self.output
end

function GatedLinearUnit:updateGradInput(input, gradOutput)
   local a, b = self:halves(input)
   self.gradInput:resizeAs(input)
   local ga, gb = self:halves(self.gradInput)
   ga:cmul(gradOutput, self.sigmoid)
   gb:cmul(gradOutput, a)
   lib.map2(self.gate.backward, gb, gb, self.gate.ofInput and b or self.sigmoid, 0, 0)
   return self.gradInput
end

function GatedLinearUnit:clearState()
   self.sigmoid:set()
   return parent.clearState(self)
end

return GatedLinearUnit
