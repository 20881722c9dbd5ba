--- nn.GRU(inputSize, outputSize, rho): one step at a time of cudnn.GRU's cell.
-- Invariant: it is an nn.StepRNN; the package rnn's other options do not exist.

local torch = require 'dpt.tensor'

local GRU, parent = torch.class('nn.GRU', 'nn.StepRNN')

function GRU:__init(inputSize, outputSize, rho)
   parent.__init(self, 'CUDNN_GRU', inputSize, outputSize, rho)
end

return GRU
