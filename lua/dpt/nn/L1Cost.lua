--- nn.L1Cost(): the L1 norm of the input, sum |x|.
-- Invariant: it has no target.
-- @function nn.L1Cost
-- @within nn criterions
-- @as criterion
-- @return a criterion; forward takes any tensor; no target, returns the loss
-- @usage nn.L1Cost():forward(torch.Tensor{-1, 2}) --> 3

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local losses = require 'dpt.nn.losses'

local L1Cost = torch.class('nn.L1Cost', 'nn.Criterion')
local id = losses.id('l1')

function L1Cost:updateLoss(input)
   local out = self:lossTensor(input)
   lib.loss_forward(id, out, input, nil, nil, 0, 0)
   return out
end

function L1Cost:updateGradInput(input)
   lib.loss_backward(id, self.gradInput, input, nil, nil, 0, 0)
   return self.gradInput
end

function L1Cost:denominator()
   return false
end

return L1Cost
