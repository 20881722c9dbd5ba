--- nn.NoBackprop(module): a module through which no gradient goes.
-- Invariant: its parameters get no gradient, and the gradient of its input is zero.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local NoBackprop = torch.class('nn.NoBackprop', 'nn.Decorator')

function NoBackprop:updateGradInput(input, _)
   self.gradInput = nn.utils.recursiveCopy(self.gradInput, input)
   return nn.utils.recursiveFill(self.gradInput, 0)
end

function NoBackprop:accGradParameters()
end
NoBackprop.accUpdateGradParameters = NoBackprop.accGradParameters
NoBackprop.sharedAccUpdateGradParameters = NoBackprop.accGradParameters

return NoBackprop
