--- Weighted means of the neighbourhood of every pixel, over all planes: what the subtractive and
-- the divisive normalization share.
-- Invariant: the kernel is normalized so that the mean of ones is 1 away from the borders; a 1-D
-- kernel stands for the product of itself in both directions.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local fail = require('dpt.ffi').fail

local M = {}

--- Sets nInputPlane, kernel and filter (1 x planes x kH x kW).
function M.init(self, nInputPlane, kernel, name)
   self.nInputPlane = nInputPlane or 1
   kernel = (kernel or torch.Tensor(9, 9):fill(1)):clone()
   if kernel:dim() > 2 then
      fail('%s: the kernel has %d dimensions, wanted 1 or 2', name, kernel:dim())
   end
   for d = 1, kernel:dim() do
      if kernel:size(d) % 2 == 0 then
         fail('%s: the kernel has size %s, wanted odd sizes',
            name, table.concat(kernel:size():totable(), 'x'))
      end
   end
   kernel:div(kernel:sum() * self.nInputPlane)
   self.kernel = kernel
   local plane = kernel:dim() == 2 and kernel or torch.ger(kernel, kernel)
   local size = torch.LongStorage{1, self.nInputPlane, plane:size(1), plane:size(2)}
   self.filter = torch.Tensor(size)
   self.filter:copy(plane:contiguous():view(1, 1, plane:size(1), plane:size(2)):expand(size))
end

local function slide(self)
   local w = ffi.new('dpt_window')
   w.ndim = 2
   for d = 0, 1 do
      w.kernel[d] = self.filter:size(3 + d)
      w.stride[d] = 1
      w.pad[d] = (self.filter:size(3 + d) - 1) / 2
   end
   return w
end

--- The mean around every pixel, (N)x1xHxW.
function M.mean(self, x)
   local out = x.new()
   lib.conv_forward(out, x, self.filter, nil, slide(self))
   return out
end

--- The gradient for x of M.mean(x), whose own gradient is g.
function M.meanBackward(self, g, x)
   local out = x.new()
   lib.conv_backward_data(out, g, x, self.filter, slide(self))
   return out
end

--- The mean of ones: what is lost at the borders, (N)x1xHxW.
function M.coefficients(self, x)
   return M.mean(self, x.new():resizeAs(x):fill(1))
end

return M
