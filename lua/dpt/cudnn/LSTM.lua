--- cudnn.LSTM: long short-term memory; its arguments are those of cudnn.RNN.
-- Invariant: it is a cudnn.RNN whose fields say so.

local torch = require 'dpt.tensor'

local LSTM = torch.class('cudnn.LSTM', 'cudnn.RNN')

LSTM.firstMode = 'CUDNN_LSTM'

return LSTM
