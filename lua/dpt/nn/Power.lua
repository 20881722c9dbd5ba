--- nn.Power(p): y = x^p, element by element.
-- Invariant: the derivative is p x^(p-1).
-- @function nn.Power
-- @within nn transfer
-- @as layer
-- @param p the exponent
-- @return a module; forward: any tensor -> the same size
-- @usage nn.Power(3):forward(torch.Tensor{2, 3}) --> [8 27]

local torch = require 'dpt.tensor'
local expect = require 'dpt.class.expect'

local Power, parent = torch.class('nn.Power', 'nn.Module')

function Power:__init(p)
   parent.__init(self)
   self.pow = expect('nn.Power', 'p', p, 'number')
end

function Power:updateOutput(input)
   self.output:resizeAs(input):pow(input, self.pow)
   return self.output
end

function Power:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):pow(input, self.pow - 1):cmul(gradOutput):mul(self.pow)
   return self.gradInput
end

return Power
