--- cudnn.RNNTanh: h' = tanh(W x + R h + b); its arguments are those of cudnn.RNN.
-- Invariant: the class only sets firstMode; all methods are cudnn.RNN's.

local torch = require 'dpt.tensor'

local RNNTanh = torch.class('cudnn.RNNTanh', 'cudnn.RNN')

RNNTanh.firstMode = 'CUDNN_RNN_TANH'

--- Recurrent layers with cells tanh(x).
-- @function cudnn.RNNTanh
-- @as cudnn
-- @return a module; forward: T x B x inputSize -> T x B x hiddenSize
-- @usage cudnn.RNNTanh(3, 4, 1):forward(torch.CudaTensor(2, 1, 3):fill(1)):size() --> 2x1x4

return RNNTanh
