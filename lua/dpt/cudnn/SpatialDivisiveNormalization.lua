--- cudnn.SpatialDivisiveNormalization(size, alpha, beta, K): stores its arguments only, for files
-- and scripts that use this name.
-- Invariant: forward raises. It does in cudnn.torch, too, where the class calls methods that do not
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

--- Has the fields of cudnn.torch's class, for files and scripts that use its name. It does not
-- compute, as cudnn.torch's class did not.
-- @function cudnn.SpatialDivisiveNormalization
-- @as cudnn
-- @param size number of planes
-- @param alpha stored only
-- @param beta stored only
-- @param K stored only
-- @return a module, whose forward raises
-- @usage cudnn.SpatialDivisiveNormalization(3).size --> 3

return SpatialDivisiveNormalization
