--- nn.Max(dimension, nInputDims): the maximum over a dimension, which is removed. Inputs with
-- nInputDims + 1 dimensions are batches.
-- @function nn.Max
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> one without that dimension
-- @usage nn.Max(2):forward(torch.Tensor{{1, 5}, {9, 2}}) --> [5 9]

local torch = require 'dpt.tensor'
local extremum = require 'dpt.nn.extremum'

return extremum.define('nn.Max', torch.max)
