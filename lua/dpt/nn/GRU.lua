--- nn.GRU(inputSize, outputSize, rho): one step at a time of cudnn.GRU's cell.
-- Invariant: it is an nn.StepRNN; the package rnn's other options do not exist.
-- @function nn.GRU
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: one step: B x inputSize -> B x outputSize
-- @usage nn.GRU(3, 5):forward(torch.ones(2, 3)):size() --> 2x5

local torch = require 'dpt.tensor'

local GRU, parent = torch.class('nn.GRU', 'nn.StepRNN')

function GRU:__init(inputSize, outputSize, rho)
   parent.__init(self, 'CUDNN_GRU', inputSize, outputSize, rho)
end

return GRU
