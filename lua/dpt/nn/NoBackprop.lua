--- nn.NoBackprop(module): wraps a module and blocks its gradients.
-- Invariant: the module's parameters get no gradient, and the input's gradient is zero.
-- @function nn.NoBackprop
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: the module's input -> its output
-- @usage nn.NoBackprop(nn.Linear(3, 5)):forward(torch.ones(2, 3)):size() --> 2x5

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
