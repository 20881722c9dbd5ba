--- nn.Squeeze(dim, nInputDims): removes all dimensions of size 1, or only the given one.
-- Invariant: output is a view. With nInputDims, an input with one more dimension is a batch, whose
-- batch dimension is kept.
-- @function nn.Squeeze
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> the tensor without its dimensions of size 1
-- @usage nn.Squeeze():forward(torch.ones(2, 1, 3, 1)):size() --> 2x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local type = require('dpt.ffi').type

local Squeeze, parent = torch.class('nn.Squeeze', 'nn.Module')

function Squeeze:__init(dim, numInputDims)
   parent.__init(self)
   self.dim = dim
   self:setNumInputDims(numInputDims)
end

--- Sets the number of dimensions of a sample; an input with one more is a batch.
-- @function nn.Squeeze:setNumInputDims
-- @as method
-- @within nn simple
-- @param numInputDims number: dimensions of a sample, without the batch
-- @return the module
-- @usage nn.Squeeze(1):setNumInputDims(2).numInputDims --> 2
function Squeeze:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

function Squeeze:updateOutput(input)
   local dim = self.dim
   local batched = self.numInputDims and input:dim() == self.numInputDims + 1
   if dim and batched then dim = dim + 1 end
   local x = dim and input:squeeze(dim) or input:squeeze()
   if type(x) == 'number' then x = input:view(1) end
   if batched and not dim and input:size(1) == 1 and input:nElement() > 1 then
      x = nn.utils.addSingletonDimension(x)
   end
   self.output:set(x)
   return self.output
end

function Squeeze:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.viewAgain(self.gradInput, gradOutput, input:size())
   return self.gradInput
end

return Squeeze
