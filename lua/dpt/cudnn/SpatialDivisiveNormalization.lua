--- cudnn.SpatialDivisiveNormalization(size, alpha, beta, K): stores its arguments only, for files
-- and scripts that use this name.
-- Invariant: forward raises. In cudnn.torch, forward raises as well: it calls methods that do not
-- exist.

local torch = require 'dpt.tensor'
local raise = require('dpt.ffi').raise

local SpatialDivisiveNormalization, parent =
   torch.class('cudnn.SpatialDivisiveNormalization', 'nn.Module')

function SpatialDivisiveNormalization:__init(size, alpha, beta, K)
   parent.__init(self)
   self.size, self.alpha, self.beta, self.K = size or 5, alpha or 1e-4, beta or 0.75, K or 2
end

function SpatialDivisiveNormalization:updateOutput()
   raise('cudnn.SpatialDivisiveNormalization does not compute: use '
      .. 'nn.SpatialDivisiveNormalization or cudnn.SpatialCrossMapLRN')
end

--- Stores the same fields as the class of cudnn.torch, for files and scripts that use this name.
-- forward raises an error, as in cudnn.torch, whose forward calls methods that do not exist.
-- @function cudnn.SpatialDivisiveNormalization
-- @as cudnn
-- @param size number of planes
-- @param alpha stored only
-- @param beta stored only
-- @param K stored only
-- @return a module, whose forward raises
-- @usage cudnn.SpatialDivisiveNormalization(3).size --> 3

return SpatialDivisiveNormalization
