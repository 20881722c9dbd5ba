--- nn.SeqLSTM(inputSize, outputSize, batchFirst): cudnn.LSTM's cell over whole sequences.
-- Invariant: it is an nn.SeqRNN.

local torch = require 'dpt.tensor'

local SeqLSTM, parent = torch.class('nn.SeqLSTM', 'nn.SeqRNN')

function SeqLSTM:__init(inputSize, outputSize, batchFirst)
   parent.__init(self, 'CUDNN_LSTM', inputSize, outputSize, batchFirst)
end

return SeqLSTM
