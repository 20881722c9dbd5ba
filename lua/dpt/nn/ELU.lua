--- nn.ELU(alpha, ip): y = x if x > 0, alpha (e^x - 1) otherwise. ip computes in place.
-- Invariant: backward uses the output only, so in-place operation is possible.
-- @function nn.ELU
-- @within nn transfer
-- @as layer
-- @param alpha negative outputs approach -alpha (1)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.ELU():forward(torch.Tensor{-1, 2}) --> [-0.6321 2]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local ELU, parent = torch.class('nn.ELU', 'nn.Module')

function ELU:__init(alpha, inplace)
   parent.__init(self)
   self.alpha = alpha or 1
   self.inplace = inplace or false
end

pointwise.define(ELU, {forward = 'elu', backward = 'elu_backward', of = 'output', p = 'alpha'})

function ELU:__tostring__()
   return ('%s (alpha:%f)'):format(torch.type(self), self.alpha)
end

return ELU
