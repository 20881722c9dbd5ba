--- nn.Identity(): returns what it gets, tensor or table.
-- Invariant: output is the input itself and gradInput gradOutput itself.
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

--- A table's entries are joined as nn.DataParallelTable says.
function Identity:outputSplit(split)
   return tonumber(split) and split
end

function Identity:updateGradInput(_, gradOutput)
   self.gradInput = gradOutput
   return gradOutput
end

return Identity
