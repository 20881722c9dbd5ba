--- nn.Unsqueeze(pos, numInputDims): inserts a dimension of size 1 at position pos.
-- Invariant: output is a view. An input with more dimensions than numInputDims is a batch.
-- @function nn.Unsqueeze
-- @within nn simple
-- @as layer
-- @param pos position of the new dimension
-- @return a module; forward: a tensor -> the tensor with one more dimension of size 1
-- @usage nn.Unsqueeze(1):forward(torch.ones(3, 4)):size() --> 1x3x4

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local expect = require 'dpt.class.expect'
local fail = require('dpt.ffi').fail

local Unsqueeze, parent = torch.class('nn.Unsqueeze', 'nn.Module')

function Unsqueeze:__init(pos, numInputDims)
   parent.__init(self)
   expect('nn.Unsqueeze', 'pos', pos, 'number')
   self.pos = pos
   self:setNumInputDims(numInputDims)
end

--- Sets the number of dimensions of a sample. An input with more is a batch, whose leading
-- dimensions pos does not count.
-- @function nn.Unsqueeze:setNumInputDims
-- @as method
-- @within nn simple
-- @param numInputDims number: dimensions of a sample, without the batch
-- @return the module
-- @usage nn.Unsqueeze(1):setNumInputDims(1):forward(torch.ones(2, 3)):size() --> 2x1x3
function Unsqueeze:setNumInputDims(numInputDims)
   self.numInputDims = numInputDims
   return self
end

function Unsqueeze:updateOutput(input)
   if input:dim() == 0 then input = input.new(0, 1):select(2, 1) end -- a vector without elements
   self.numInputDims = self.numInputDims or input:dim() -- as in Torch7, the first input sets it
   local shift = input:dim() - self.numInputDims
   if shift < 0 then
      fail('nn.Unsqueeze: input has %d dimensions, wanted %d or more', input:dim(),
         self.numInputDims)
   end
   nn.utils.addSingletonDimension(self.output, input, self.pos + shift)
   return self.output
end

function Unsqueeze:updateGradInput(input, gradOutput)
   self.gradInput = nn.utils.viewAgain(self.gradInput, gradOutput, input:size())
   return self.gradInput
end

function Unsqueeze:__tostring__()
   return torch.type(self) .. '(dim ' .. self.pos .. ')'
end

return Unsqueeze
