--- nn.Identity(): returns its input, a tensor or a table, unchanged.
-- Invariant: output is the input itself, gradInput is gradOutput itself.
-- @function nn.Identity
-- @within nn simple
-- @as layer
-- @return a module; forward: anything -> the same object
-- @usage nn.Identity():forward(torch.Tensor{4, 5}) --> [4 5]

local torch = require 'dpt.tensor'

local Identity = torch.class('nn.Identity', 'nn.Module')

function Identity:updateOutput(input)
   self.output = input
   return input
end

--- Returns how the output was split. A table's entries are joined by nn.DataParallelTable's
-- defaults.
function Identity:outputSplit(split)
   return tonumber(split) and split
end

function Identity:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput
   return gradOutput
end

return Identity
