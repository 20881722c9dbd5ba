--- nn.SpatialReflectionPadding(l, r, t, b): the image mirrored at its borders.

local C = require 'dpt.ffi'.C
local padding = require 'dpt.nn.padding'

return padding.define('nn.SpatialReflectionPadding', C.DPT_PAD_REFLECT)
