--- nn.SpatialZeroPadding(l, r, t, b): pads an image with zeros; negative numbers crop it.
-- @function nn.SpatialZeroPadding
-- @within nn sampling
-- @as layer
-- @return a module; forward: B x C x H x W or one image -> H + top + bottom, W + left + right
-- @usage nn.SpatialZeroPadding(1, 0, 0, 0):forward(torch.Tensor{{{5, 6}}}) --> [0 5 6]

local C = require 'dpt.ffi'.C
local padding = require 'dpt.nn.padding'

return padding.define('nn.SpatialZeroPadding', C.DPT_PAD_ZERO)
