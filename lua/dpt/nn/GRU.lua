--- nn.GRU(inputSize, outputSize, rho): a gated recurrent unit (GRU) with the cell of cudnn.GRU, one
-- step per call.
-- Invariant: it is an nn.StepRNN; other options of the package rnn are not supported.
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
