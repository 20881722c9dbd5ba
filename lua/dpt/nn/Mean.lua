--- nn.Mean(dimension, nInputDims): the mean over a dimension, which goes away.
-- Invariant: it is nn.Sum with sizeAverage.

local torch = require 'dpt.tensor'

local Mean, parent = torch.class('nn.Mean', 'nn.Sum')

function Mean:__init(dimension, nInputDims)
   parent.__init(self, dimension, nInputDims, true)
end

return Mean
