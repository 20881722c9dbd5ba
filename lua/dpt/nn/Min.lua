--- nn.Min(dimension, nInputDims): the minimum over a dimension, which goes away.

local torch = require 'dpt.tensor'
local extremum = require 'dpt.nn.extremum'

return extremum.define('nn.Min', torch.min)
