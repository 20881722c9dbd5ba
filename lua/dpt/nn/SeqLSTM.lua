--- nn.SeqLSTM(inputSize, outputSize, batchFirst): applies an LSTM (cudnn.LSTM's cell) to whole
-- sequences.
-- Invariant: it is an nn.SeqRNN.
-- @function nn.SeqLSTM
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize (B x T with batchFirst) -> T x B x outputSize
-- @usage nn.SeqLSTM(3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'

local SeqLSTM, parent = torch.class('nn.SeqLSTM', 'nn.SeqRNN')

function SeqLSTM:__init(inputSize, outputSize, batchFirst)
   parent.__init(self, 'CUDNN_LSTM', inputSize, outputSize, batchFirst)
end

return SeqLSTM
