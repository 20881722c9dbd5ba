--- cudnn.BGRU: cudnn.GRU in both directions; its arguments are those of cudnn.RNN.
-- Invariant: it is a cudnn.GRU whose fields say so.

local torch = require 'dpt.tensor'

local BGRU, parent = torch.class('cudnn.BGRU', 'cudnn.GRU')

function BGRU:__init(...)
   parent.__init(self, ...)
   self:bothDirections()
end

return BGRU
