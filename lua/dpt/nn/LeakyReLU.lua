--- nn.LeakyReLU(negval, ip): y = x if x > 0, negval x otherwise. ip computes in place.
-- Invariant: in place negval is not negative, so the output has the input's sign. As in Torch7, a
-- boolean negval is ignored.
-- @function nn.LeakyReLU
-- @within nn transfer
-- @as layer
-- @param negval the slope for x < 0 (0.01)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.LeakyReLU(0.1):forward(torch.Tensor{-1, 2}) --> [-0.1 2]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'
local expect = require 'dpt.class.expect'
local type = require('dpt.ffi').type

local LeakyReLU, parent = torch.class('nn.LeakyReLU', 'nn.Module')

function LeakyReLU:__init(negval, ip)
   parent.__init(self)
   self.negval = expect('nn.LeakyReLU', 'negval', type(negval) ~= 'boolean' and negval or 0.01,
      'number')
   self.inplace = self.negval >= 0 and ip or false
end

pointwise.define(LeakyReLU, {
   forward = 'leakyrelu', backward = 'leakyrelu_backward', of = 'input', p = 'negval',
})

function LeakyReLU:__tostring__()
   return torch.type(self) .. ('(%g)'):format(self.negval)
end

return LeakyReLU
