--- nn.SeqGRU(inputSize, outputSize, batchFirst): applies a GRU (cudnn.GRU's cell) to whole
-- sequences.
-- Invariant: it is an nn.SeqRNN.
-- @function nn.SeqGRU
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize (B x T with batchFirst) -> T x B x outputSize
-- @usage nn.SeqGRU(3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'

local SeqGRU, parent = torch.class('nn.SeqGRU', 'nn.SeqRNN')

function SeqGRU:__init(inputSize, outputSize, batchFirst)
   parent.__init(self, 'CUDNN_GRU', inputSize, outputSize, batchFirst)
end

return SeqGRU
