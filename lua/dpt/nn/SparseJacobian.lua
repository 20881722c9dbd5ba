--- dpt.nn.SparseJacobian: loads dpt.nn.Jacobian, which defines nn.SparseJacobian.

local nn = require 'dpt.nn'

--- Applies the tests of nn.Jacobian to modules whose inputs are rows {index, value}; tests the
-- values only.
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
-- @usage local m, x = nn.SparseLinear(3, 2), torch.Tensor{{1, 1}, {3, 2}}
--    local far = nn.SparseJacobian.testJacobianParameters(m, x, m.weight, m.gradWeight)
--    return ('%.4f'):format(far) --> 0.0000
return nn.Jacobian and nn.SparseJacobian
