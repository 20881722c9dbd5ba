--- cudnn.RNNTanh: h' = tanh(W x + R h + b); its arguments are those of cudnn.RNN.
-- Invariant: it is a cudnn.RNN whose fields say so.

local torch = require 'dpt.tensor'

local RNNTanh = torch.class('cudnn.RNNTanh', 'cudnn.RNN')

RNNTanh.firstMode = 'CUDNN_RNN_TANH'

return RNNTanh
