--- nn.PReLU(nOutputPlane): y = x if x > 0, a x otherwise, with one learned slope a, or one per
-- plane if nOutputPlane is given.
-- Invariant: slopes are initialized to 0.25. Input is C, N x C, N x C x L, N x C x H x W; or C x H
-- x W if the number of slopes does not fit N x C x L.
-- @function nn.PReLU
-- @within nn transfer
-- @as layer
-- @return a module; forward: any tensor; with nOutputPlane B x C x ... -> the same size
-- @usage nn.PReLU():forward(torch.Tensor{-4, 2}) --> [-1 2]

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib

local PReLU, parent = torch.class('nn.PReLU', 'nn.Module')

function PReLU:__init(nOutputPlane)
   parent.__init(self)
   self.nOutputPlane = nOutputPlane or 0 -- 0: one slope for all planes
   local n = math.max(self.nOutputPlane, 1)
   self.weight = torch.Tensor(n):fill(0.25)
   self.gradWeight = torch.Tensor(n):zero()
end

function PReLU:updateOutput(input)
   lib.prelu_forward(self.output, input, self.weight)
   return self.output
end

function PReLU:updateGradInput(input, gradOutput)
   lib.prelu_backward_data(self.gradInput, gradOutput, input, self.weight)
   return self.gradInput
end

function PReLU:accGradParameters(input, gradOutput, scale)
   lib.prelu_backward_weight(self.gradWeight, gradOutput, input, scale or 1)
end

return PReLU
