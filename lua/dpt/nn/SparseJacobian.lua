--- nn.SparseJacobian: see dpt.nn.Jacobian.

local nn = require 'dpt.nn'

return nn.Jacobian and nn.SparseJacobian
