--- nn.SpatialReflectionPadding(l, r, t, b): pads an image with its reflection at the borders.
-- @function nn.SpatialReflectionPadding
-- @within nn sampling
-- @as layer
-- @return a module; forward: B x C x H x W or one image -> H + top + bottom, W + left + right
-- @usage nn.SpatialReflectionPadding(1, 1, 0, 0):forward(torch.Tensor{{{5, 6}}}) --> [6 5 6 5]

local C = require 'dpt.ffi'.C
local padding = require 'dpt.nn.padding'

return padding.define('nn.SpatialReflectionPadding', C.DPT_PAD_REFLECT)
