--- nn.LSTM(inputSize, outputSize, rho): a long short-term memory (LSTM) unit with the cell of
-- cudnn.LSTM, one step per call.
-- Invariant: it is an nn.StepRNN; other options of the package rnn are not supported.
-- @function nn.LSTM
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: one step: B x inputSize -> B x outputSize
-- @usage nn.LSTM(3, 5):forward(torch.ones(2, 3)):size() --> 2x5

local torch = require 'dpt.tensor'

local LSTM, parent = torch.class('nn.LSTM', 'nn.StepRNN')

function LSTM:__init(inputSize, outputSize, rho)
   parent.__init(self, 'CUDNN_LSTM', inputSize, outputSize, rho)
end

return LSTM
