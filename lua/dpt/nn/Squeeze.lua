--- nn.Squeeze(dim, nInputDims): leaves out dimensions of size 1, all or the one named.
-- Invariant: output is a view; with nInputDims an input of more dimensions is a batch.
-- @function nn.Squeeze
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> one without its dimensions of size 1
-- @usage nn.Squeeze():forward(torch.ones(2, 1, 3, 1)):size() --> 2x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local Squeeze, parent = torch.class('nn.Squeeze', 'nn.Module')

function Squeeze:__init(dim, numInputDims)
   parent.__init(self)
   self.dim = dim
   self:setNumInputDims(numInputDims)
end

--- How many dimensions an input has; one of more is a batch.
-- @function nn.Squeeze:setNumInputDims
-- @as method
-- @within nn simple
-- @param numInputDims number: of a sample
-- @return the module
-- @usage nn.Squeeze(1):setNumInputDims(2).numInputDims --> 2
function Squeeze:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

function Squeeze:updateOutput(input)
   local dim = self.dim
   if dim and self.numInputDims and input:dim() == self.numInputDims + 1 then dim = dim + 1 end
   self.output:set(dim and input:squeeze(dim) or input:squeeze())
   return self.output
end

function Squeeze:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.viewAgain(self.gradInput, gradOutput, input:size())
   return self.gradInput
end

return Squeeze
