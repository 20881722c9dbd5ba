--- nn.SoftMin(): applies nn.SoftMax to -x.
-- Invariant: as in nn.SoftMax.
-- @function nn.SoftMin
-- @within nn transfer
-- @as layer
-- @return a module; forward: n, B x n, C x H x W or B x C x H x W -> the same size
-- @usage nn.SoftMin():forward(torch.Tensor{0, 1}) --> [0.7311 0.2689]

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local SoftMin, parent = torch.class('nn.SoftMin', 'nn.Module')

function SoftMin:updateOutput(input)
   self.mininput = self.mininput or input.new()
   self.mininput:resizeAs(input):mul(input, -1)
   lib.softmax_forward(self.output, self.mininput, 0)
   return self.output
end

function SoftMin:updateGradInput(_, gradOutput)
   lib.softmax_backward(self.gradInput, gradOutput, self.output, 0)
   self.gradInput:mul(-1)
   return self.gradInput
end

function SoftMin:clearState()
   self.mininput = nil
   return parent.clearState(self)
end

return SoftMin
