--- dpt.nn.neighbourhood: computes weighted means over the neighborhood of every pixel and all
-- planes, for the subtractive and the divisive normalization.
--
-- Invariant: a 2-D kernel is normalized so that the mean of ones is 1 away from the borders. A 1-D
-- kernel means its outer product with itself. The host's generator advances as with Torch7's
-- constructors, which create convolutions and then set their weights.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local fail = require('dpt.ffi').fail

local M = {}

-- Draws the random numbers that the constructors of convolutions for these kernels draw.
local function draw(planes, kernel)
   local height = kernel:size(1)
   if kernel:dim() == 2 then
      nn.SpatialConvolution(planes, 1, kernel:size(2), height)
   else
      nn.SpatialConvolutionMap(nn.tables.oneToOne(planes), height, 1)
      nn.SpatialConvolution(planes, 1, 1, height)
   end
end

--- Sets nInputPlane, kernel and filter (1 x planes x kH x kW).
-- @param share fraction of the kernel's sum that a plane has, if the kernel is 1-D
-- @param convolutions number of convolutions that Torch7's constructor creates
function M.init(self, nInputPlane, kernel, name, share, convolutions)
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
   kernel:div(kernel:sum() * (kernel:dim() == 1 and share or self.nInputPlane))
   for _ = 1, convolutions do draw(self.nInputPlane, kernel) end
   self.kernel = kernel
   local plane = kernel:dim() == 2 and kernel or torch.ger(kernel, kernel)
   local size = torch.LongStorage{1, self.nInputPlane, plane:size(1), plane:size(2)}
   self.filter = torch.Tensor(size)
   self.filter:copy(plane:contiguous():view(1, 1, plane:size(1), plane:size(2)):expand(size))
end

--- Sets the filter of a normalization from a file of Torch7, which has modules instead of a filter.
function M.fromModules(self)
   local estimator = self.stdestimator or self.meanestimator
   if not estimator then return end
   local first, last
   for _, module in ipairs(estimator.modules) do
      if module.weight then first, last = first or module, module end
   end
   if first == last then
      self.filter = last.weight:view(1, self.nInputPlane, last.kH, last.kW)
   else -- first: along rows, plane by plane; last: along columns
      self.filter = last.weight.new(1, self.nInputPlane, last.kH, first.kW)
      for i = 1, self.nInputPlane do
         self.filter[1][i]:ger(last.weight:view(self.nInputPlane, -1)[i], first.weight[i]:view(-1))
      end
   end
   for _, name in ipairs{'meanestimator', 'stdestimator', 'subtractor', 'divider', 'normalizer',
      'thresholder', 'coef', '_coef', 'ones'} do
      self[name] = nil
   end
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

--- Returns the mean around every pixel, (N)x1xHxW.
function M.mean(self, x)
   local out = x.new()
   lib.conv_forward(out, x, self.filter, nil, slide(self))
   return out
end

--- Returns the gradient of x, given the gradient g of M.mean(x).
function M.meanBackward(self, g, x)
   local out = x.new()
   lib.conv_backward_data(out, g, x, self.filter, slide(self))
   return out
end

--- Returns the mean of ones, which is below 1 near the borders, (N)x1xHxW.
function M.coefficients(self, x)
   return M.mean(self, x.new():resizeAs(x):fill(1))
end

return M
