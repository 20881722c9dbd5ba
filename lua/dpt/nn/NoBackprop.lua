--- nn.NoBackprop(module): a module through which no gradient goes.
-- Invariant: its parameters get no gradient, and the gradient of its input is zero.
-- @function nn.NoBackprop
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: what the module takes -> what it returns
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
