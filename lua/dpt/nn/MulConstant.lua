--- nn.MulConstant(number, ip): multiplies every element by a number.
-- Invariant: with ip (in place) output shares the input's memory, and backward restores the input.
-- @function nn.MulConstant
-- @within nn linear
-- @as layer
-- @param constant the factor of every element
-- @return a module; forward: any tensor -> the same size
-- @usage nn.MulConstant(3):forward(torch.Tensor{1, 2}) --> [3 6]

local torch = require 'dpt.tensor'
local expect = require 'dpt.class.expect'

local MulConstant, parent = torch.class('nn.MulConstant', 'nn.Module')

function MulConstant:__init(constant, ip)
   parent.__init(self)
   self.constant_scalar = expect('nn.MulConstant', 'constant', constant, 'number')
   self.inplace = ip or false
end

function MulConstant:updateOutput(input)
   if self.inplace then
      input:mul(self.constant_scalar)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input):mul(self.constant_scalar)
   end
   return self.output
end

function MulConstant:updateGradInput(input, gradOutput)
   if not self.gradInput then return end
   if self.inplace then
      gradOutput:mul(self.constant_scalar)
      self.gradInput:set(gradOutput)
      input:div(self.constant_scalar)
   else
      self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(self.constant_scalar)
   end
   return self.gradInput
end

return MulConstant
