--- cudnn.GRU: gated recurrent units as defined by cuDNN; its arguments are those of cudnn.RNN.
-- Invariant: the class only sets firstMode; all methods are cudnn.RNN's.

local torch = require 'dpt.tensor'

local GRU = torch.class('cudnn.GRU', 'cudnn.RNN')

GRU.firstMode = 'CUDNN_GRU'

--- Layers of gated recurrent units.
-- @function cudnn.GRU
-- @as cudnn
-- @return a module; forward: T x B x inputSize -> T x B x hiddenSize
-- @usage cudnn.GRU(3, 4, 1):forward(torch.CudaTensor(2, 1, 3):fill(1)):size() --> 2x1x4

return GRU
