--- nn.HardTanh(min, max, ip): limits x to the range min..max (-1..1). ip computes in place.
-- Invariant: the gradient is 0 at the bounds and outside.
-- @function nn.HardTanh
-- @within nn transfer
-- @as layer
-- @param min the lower bound (-1)
-- @param max the upper bound (1)
-- @return a module; forward: any tensor -> the same size
-- @usage nn.HardTanh():forward(torch.Tensor{-3, 0.5}) --> [-1 0.5]

local torch = require 'dpt.tensor'
local pointwise = require 'dpt.nn.pointwise'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local HardTanh, parent = torch.class('nn.HardTanh', 'nn.Module')

function HardTanh:__init(minValue, maxValue, inplace)
   parent.__init(self)
   self.min_val = minValue or -1
   self.max_val = maxValue or 1
   if type(self.min_val) ~= 'number' or type(self.max_val) ~= 'number'
      or self.max_val <= self.min_val then
      fail('%s: wanted min < max, got %s and %s', torch.type(self),
         tostring(self.min_val), tostring(self.max_val))
   end
   self.inplace = inplace or false
end

pointwise.define(HardTanh, {
   forward = 'hardtanh', backward = 'hardtanh_backward', of = 'input', p = 'min_val', q = 'max_val',
})

return HardTanh
