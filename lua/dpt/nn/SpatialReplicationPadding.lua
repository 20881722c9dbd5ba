--- nn.SpatialReplicationPadding(l, r, t, b): an image's border pixels repeated outwards.

local C = require 'dpt.ffi'.C
local padding = require 'dpt.nn.padding'

return padding.define('nn.SpatialReplicationPadding', C.DPT_PAD_REPLICATE)
