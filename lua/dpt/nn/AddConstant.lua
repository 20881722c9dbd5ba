--- nn.AddConstant(number, ip): adds a number to every element.
-- What must stay true: with ip (in place) the input's memory is the output's, and backward leaves
-- the input as it was before.

local torch = require 'dpt.tensor'

local AddConstant, parent = torch.class('nn.AddConstant', 'nn.Module')

function AddConstant:__init(constant, ip)
   parent.__init(self)
   if type(constant) ~= 'number' then
      error('nn.AddConstant: wants a number, got ' .. torch.type(constant), 2)
   end
   self.constant_scalar = constant
   self.inplace = ip or false
end

function AddConstant:updateOutput(input)
   if self.inplace then
      input:add(self.constant_scalar)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input):add(self.constant_scalar)
   end
   return self.output
end

function AddConstant:updateGradInput(input, gradOutput)
   if self.inplace then
      self.gradInput:set(gradOutput)
      input:add(-self.constant_scalar)
   else
      self.gradInput:resizeAs(gradOutput):copy(gradOutput)
   end
   return self.gradInput
end

return AddConstant
