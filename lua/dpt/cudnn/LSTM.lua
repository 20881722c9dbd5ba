--- cudnn.LSTM: long short-term memory; its arguments are those of cudnn.RNN.
-- Invariant: the class only sets firstMode; all methods are cudnn.RNN's.

local torch = require 'dpt.tensor'

local LSTM = torch.class('cudnn.LSTM', 'cudnn.RNN')

LSTM.firstMode = 'CUDNN_LSTM'

--- LSTM layers.
-- @function cudnn.LSTM
-- @as cudnn
-- @return a module; forward: T x B x inputSize -> T x B x hiddenSize
-- @usage cudnn.LSTM(3, 4, 1):forward(torch.CudaTensor(2, 1, 3):fill(1)):size() --> 2x1x4

return LSTM
