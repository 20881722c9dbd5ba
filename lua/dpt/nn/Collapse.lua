--- nn.Collapse(nInputDim): flattens the last nInputDim dimensions into one.
-- Invariant: if the input has more dimensions, the first one is the batch, which is kept.
-- @function nn.Collapse
-- @within nn simple
-- @as layer
-- @return a module; forward: ... x (nInputDim dimensions) -> ... x their product
-- @usage nn.Collapse(2):forward(torch.ones(4, 2, 3)):size() --> 4x6

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Collapse, parent = torch.class('nn.Collapse', 'nn.Module')

function Collapse:__init(nInputDim)
   parent.__init(self)
   self.nInputDim = nInputDim
end

function Collapse:updateOutput(input)
   if input:dim() > self.nInputDim then
      self.output = nn.utils.viewAgain(self.output, input, input:size(1), -1)
   else
      self.output = nn.utils.viewAgain(self.output, input, -1)
   end
   return self.output
end

function Collapse:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.viewAgain(self.gradInput, gradOutput, input:size())
   return self.gradInput
end

return Collapse
