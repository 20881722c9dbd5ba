--- nn.SoftMin(dim): applies nn.SoftMax to -x.
-- Invariant: as in nn.SoftMax.
-- @function nn.SoftMin
-- @within nn transfer
-- @as layer
-- @param dim? number: the dimension, from 1; negative: counted from the end (the first one of an
--    input of 1 or 3 dimensions, the second one of an input of 2 or 4, as in Torch7)
-- @return a module; forward: as nn.SoftMax
-- @usage nn.SoftMin():forward(torch.Tensor{0, 1}) --> [0.7311 0.2689]

local torch = require 'dpt.tensor'
local softmax = require 'dpt.nn.softmax'

local SoftMin, parent = torch.class('nn.SoftMin', 'nn.Module')

function SoftMin:__init(dim)
   parent.__init(self)
   softmax.setDimension(self, dim)
end

function SoftMin:updateOutput(input)
   self.mininput = self.mininput or input.new()
   self.mininput:resizeAs(input):mul(input, -1)
   return softmax.forward(self, self.mininput, 0)
end

function SoftMin:updateGradInput(_, gradOutput)
   return softmax.backward(self, gradOutput, 0):mul(-1)
end

function SoftMin:clearState()
   self.mininput = nil
   return parent.clearState(self)
end

return SoftMin
