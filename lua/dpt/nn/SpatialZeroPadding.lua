--- nn.SpatialZeroPadding(l, r, t, b): zeros around an image; negative numbers cut off.

local C = require 'dpt.ffi'.C
local padding = require 'dpt.nn.padding'

return padding.define('nn.SpatialZeroPadding', C.DPT_PAD_ZERO)
