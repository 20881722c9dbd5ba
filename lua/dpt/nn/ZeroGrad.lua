--- nn.ZeroGrad(): returns its input and stops gradients: gradInput is zero.
-- Invariant: input may be a table of tensors. Output is the input itself.
-- @function nn.ZeroGrad
-- @within nn transfer
-- @as layer
-- @return a module; forward: any value -> the same value
-- @usage nn.ZeroGrad():backward(torch.ones(2), torch.Tensor{1, 2}) --> [0 0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local ZeroGrad = torch.class('nn.ZeroGrad', 'nn.Identity')

function ZeroGrad:updateGradInput(input, _)
   self.gradInput = nn.utils.recursiveResizeAs(self.gradInput, input)
   nn.utils.recursiveFill(self.gradInput, 0)
   return self.gradInput
end

return ZeroGrad
