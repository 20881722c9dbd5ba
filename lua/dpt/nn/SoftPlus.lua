--- nn.SoftPlus(beta): log(1 + e^(beta x)) / beta; x itself where beta x > threshold (20).
-- Invariant: backward uses the output.

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
