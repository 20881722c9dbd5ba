--- nn.Mean(dimension, nInputDims): the mean over a dimension, which is removed. Inputs with
-- nInputDims + 1 dimensions are batches.
-- Invariant: it is nn.Sum with sizeAverage.
-- @function nn.Mean
-- @within nn simple
-- @as layer
-- @return a module; forward: a tensor -> one without that dimension
-- @usage nn.Mean(1):forward(torch.Tensor{{1, 5}, {9, 7}}) --> [5 6]

local torch = require 'dpt.tensor'

local Mean, parent = torch.class('nn.Mean', 'nn.Sum')

function Mean:__init(dimension, nInputDims)
   parent.__init(self, dimension, nInputDims, true)
end

return Mean
