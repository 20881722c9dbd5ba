--- nn.Max(dimension, nInputDims): the maximum over a dimension, which goes away.

local torch = require 'dpt.tensor'
local extremum = require 'dpt.nn.extremum'

return extremum.define('nn.Max', torch.max)
