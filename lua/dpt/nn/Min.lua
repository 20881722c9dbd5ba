--- nn.Min(dimension, nInputDims): the minimum over a dimension, which is removed. Inputs with
-- nInputDims + 1 dimensions are batches.
-- @function nn.Min
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> one without that dimension
-- @usage nn.Min(2):forward(torch.Tensor{{1, 5}, {9, 2}}) --> [1 2]

local torch = require 'dpt.tensor'
local extremum = require 'dpt.nn.extremum'

return extremum.define('nn.Min', torch.min)
