--- nn.SeqGRU(inputSize, outputSize, batchFirst): cudnn.GRU's cell over whole sequences.
-- Invariant: it is an nn.SeqRNN.

local torch = require 'dpt.tensor'

local SeqGRU, parent = torch.class('nn.SeqGRU', 'nn.SeqRNN')

function SeqGRU:__init(inputSize, outputSize, batchFirst)
   parent.__init(self, 'CUDNN_GRU', inputSize, outputSize, batchFirst)
end

return SeqGRU
