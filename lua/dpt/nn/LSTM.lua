--- nn.LSTM(inputSize, outputSize, rho): one step at a time of cudnn.LSTM's cell.
-- Invariant: it is an nn.StepRNN; the package rnn's other options do not exist.

local torch = require 'dpt.tensor'

local LSTM, parent = torch.class('nn.LSTM', 'nn.StepRNN')

function LSTM:__init(inputSize, outputSize, rho)
   parent.__init(self, 'CUDNN_LSTM', inputSize, outputSize, rho)
end

return LSTM
