--- nn.SoftPlus(beta): applies log(1 + e^(beta x)) / beta elementwise; x where beta x > threshold
-- (20).
-- Invariant: backward uses the output.
-- @function nn.SoftPlus
-- @within nn transfer
-- @as layer
-- @param beta the steepness: log(1 + e^(beta x)) / beta (1)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.SoftPlus():forward(torch.Tensor{0, 1}) --> [0.6931 1.313]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'

local SoftPlus, parent = torch.class('nn.SoftPlus', 'nn.Module')

function SoftPlus:__init(beta)
   parent.__init(self)
   self.beta = beta or 1
   self.threshold = 20
end

pointwise.define(SoftPlus, {
   forward = 'softplus', backward = 'softplus_backward', of = 'output', p = 'beta', q = 'threshold',
})

return SoftPlus
