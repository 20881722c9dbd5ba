--- nn.SparseJacobian: see dpt.nn.Jacobian.

local nn = require 'dpt.nn'

--- nn.Jacobian's functions for modules whose input are rows {index, value}: they look at the values
-- alone.
-- @field nn.SparseJacobian
-- @as author
-- @also nn.SparseJacobian.forward()
-- @also nn.SparseJacobian.backward()
-- @also nn.SparseJacobian.forwardUpdate()
-- @also nn.SparseJacobian.backwardUpdate()
-- @also nn.SparseJacobian.testJacobian()
-- @also nn.SparseJacobian.testJacobianParameters()
-- @also nn.SparseJacobian.testJacobianUpdateParameters()
-- @also nn.SparseJacobian.testIO()
-- @also nn.SparseJacobian.testAllUpdate()
-- @return a table of functions
-- @usage local m, test = nn.SparseLinear(3, 2), nn.SparseJacobian
--    return test.testJacobianParameters(m, torch.Tensor{{1, 1}, {3, 2}}, m.weight,
--       m.gradWeight) < 1e-5 --> true
return nn.Jacobian and nn.SparseJacobian
