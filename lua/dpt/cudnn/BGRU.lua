--- cudnn.BGRU: cudnn.GRU in both directions; its arguments are those of cudnn.RNN.
-- Invariant: the constructor makes a cudnn.GRU bidirectional; all methods are cudnn.GRU's.

local torch = require 'dpt.tensor'

local BGRU, parent = torch.class('cudnn.BGRU', 'cudnn.GRU')

function BGRU:__init(...)
   parent.__init(self, ...)
   self:bothDirections()
end

--- Bidirectional layers of gated recurrent units; the outputs of both directions are concatenated.
-- @function cudnn.BGRU
-- @as cudnn
-- @return a module; forward: T x B x inputSize -> T x B x 2 hiddenSize
-- @usage cudnn.BGRU(3, 4, 1):forward(torch.CudaTensor(2, 1, 3):fill(1)):size() --> 2x1x8

return BGRU
