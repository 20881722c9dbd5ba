--- cudnn.RNNReLU: h' = max(W x + R h + b, 0); its arguments are those of cudnn.RNN.
-- Invariant: it is a cudnn.RNN whose fields say so.

local torch = require 'dpt.tensor'

local RNNReLU = torch.class('cudnn.RNNReLU', 'cudnn.RNN')

RNNReLU.firstMode = 'CUDNN_RNN_RELU'

return RNNReLU
