--- cudnn.BLSTM: cudnn.LSTM in both directions; its arguments are those of cudnn.RNN.
-- Invariant: it is a cudnn.LSTM whose fields say so.

local torch = require 'dpt.tensor'

local BLSTM, parent = torch.class('cudnn.BLSTM', 'cudnn.LSTM')

function BLSTM:__init(...)
   parent.__init(self, ...)
   self:bothDirections()
end

return BLSTM
