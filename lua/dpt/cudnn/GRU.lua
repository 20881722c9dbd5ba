--- cudnn.GRU: gated recurrent units, as cuDNN has them; its arguments are those of cudnn.RNN.
-- Invariant: it is a cudnn.RNN whose fields say so.

local torch = require 'dpt.tensor'

local GRU = torch.class('cudnn.GRU', 'cudnn.RNN')

GRU.firstMode = 'CUDNN_GRU'

return GRU
