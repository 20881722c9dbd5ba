--- nn.SpatialReplicationPadding(l, r, t, b): pads an image by repeating its border pixels.
-- @function nn.SpatialReplicationPadding
-- @within nn sampling
-- @as layer
-- @return a module; forward: B x C x H x W or one image -> H + top + bottom, W + left + right
-- @usage nn.SpatialReplicationPadding(1, 1, 0, 0):forward(torch.Tensor{{{5, 6}}}) --> [5 5 6 6]

local C = require 'dpt.ffi'.C
local padding = require 'dpt.nn.padding'

return padding.define('nn.SpatialReplicationPadding', C.DPT_PAD_REPLICATE)
