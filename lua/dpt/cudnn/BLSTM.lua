--- cudnn.BLSTM: cudnn.LSTM in both directions; its arguments are those of cudnn.RNN.
-- Invariant: the constructor makes a cudnn.LSTM bidirectional; all methods are cudnn.LSTM's.

local torch = require 'dpt.tensor'

local BLSTM, parent = torch.class('cudnn.BLSTM', 'cudnn.LSTM')

function BLSTM:__init(...)
   parent.__init(self, ...)
   self:bothDirections()
end

--- Bidirectional LSTM layers; the outputs of both directions are concatenated.
-- @function cudnn.BLSTM
-- @as cudnn
-- @return a module; forward: T x B x inputSize -> T x B x 2 hiddenSize
-- @usage cudnn.BLSTM(3, 4, 1):forward(torch.CudaTensor(2, 1, 3):fill(1)):size() --> 2x1x8

return BLSTM
