--- cudnn.RNNReLU: h' = max(W x + R h + b, 0); its arguments are those of cudnn.RNN.
-- Invariant: the class only sets firstMode; all methods are cudnn.RNN's.

local torch = require 'dpt.tensor'

local RNNReLU = torch.class('cudnn.RNNReLU', 'cudnn.RNN')

RNNReLU.firstMode = 'CUDNN_RNN_RELU'

--- Recurrent layers with cells max(x, 0).
-- @function cudnn.RNNReLU
-- @as cudnn
-- @return a module; forward: T x B x inputSize -> T x B x hiddenSize
-- @usage cudnn.RNNReLU(3, 4, 1):forward(torch.CudaTensor(2, 1, 3):fill(1)):size() --> 2x1x4

return RNNReLU
