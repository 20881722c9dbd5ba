--- nn.SpatialConvolutionLocal(nInputPlane, nOutputPlane, iW, iH, kW, kH, dW, dH, padW, padH):
-- applies a 2-D convolution with unshared weights: every output pixel has its own kernel.
-- Invariant: input is (N)xCx(iH)x(iW). weight is oH x oW x nOutputPlane x nInputPlane x kH x kW,
-- and bias is nOutputPlane x oH x oW.
-- @function nn.SpatialConvolutionLocal
-- @within nn convolution
-- @as layer
-- @param iW columns of an input
-- @param iH rows of an input
-- @return a module; forward: B x nInputPlane x iH x iW or one image -> B x nOutputPlane x oH x
--    oW
-- @usage nn.SpatialConvolutionLocal(1, 2, 6, 6, 3, 3):forward(torch.ones(1, 6, 6)):size()
--    --> 2x4x4

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local fail, raise = dptffi.fail, dptffi.raise

local SpatialConvolutionLocal, parent = torch.class('nn.SpatialConvolutionLocal', 'nn.Module')

function SpatialConvolutionLocal:__init(nInputPlane, nOutputPlane, iW, iH, kW, kH, dW, dH, padW,
   padH)
   parent.__init(self)
   self.nInputPlane, self.nOutputPlane = nInputPlane, nOutputPlane
   self.kW, self.kH = kW, kH
   self.iW, self.iH = iW, iH
   self.dW, self.dH = dW or 1, dH or 1
   self.padW = padW or 0
   self.padH = padH or self.padW
   self.oW = math.floor((self.padW * 2 + iW - kW) / self.dW) + 1
   self.oH = math.floor((self.padH * 2 + iH - kH) / self.dH) + 1
   if self.oW < 1 or self.oH < 1 then
      raise('nn.SpatialConvolutionLocal: the kernel is larger than the padded image')
   end
   self.weight = torch.Tensor(self.oH, self.oW, nOutputPlane, nInputPlane, kH, kW)
   self.bias = torch.Tensor(nOutputPlane, self.oH, self.oW)
   self.gradWeight = torch.Tensor():resizeAs(self.weight):zero()
   self.gradBias = torch.Tensor():resizeAs(self.bias):zero()
   self:reset()
end

function SpatialConvolutionLocal:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.kW * self.kH * self.nInputPlane)
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv)
end

-- Returns zeros of the padded input's size, and a view of the part that the input fills.
local function padded(self, like, n)
   local whole = like.new():resize(n, self.nInputPlane, self.iH + 2 * self.padH,
      self.iW + 2 * self.padW):zero()
   return whole, whole:narrow(3, self.padH + 1, self.iH):narrow(4, self.padW + 1, self.iW)
end

local function batch(self, input)
   local dims = input:dim()
   if dims ~= 3 and dims ~= 4 or input:size(dims - 2) ~= self.nInputPlane
      or input:size(dims - 1) ~= self.iH or input:size(dims) ~= self.iW then
      fail('nn.SpatialConvolutionLocal: input of size %s, wanted (N)x%dx%dx%d',
         table.concat(input:size():totable(), 'x'), self.nInputPlane, self.iH, self.iW)
   end
   return nn.utils.contiguousView(nil, input, -1, self.nInputPlane, self.iH, self.iW)
end

-- Returns the patches under the kernels, oH oW x N x (nInputPlane kH kW).
local function patches(self, x)
   local n = x:size(1)
   local whole, part = padded(self, x, n)
   part:copy(x)
   local windows = whole:unfold(3, self.kH, self.dH):unfold(4, self.kW, self.dW)
      :permute(3, 4, 1, 2, 5, 6)
   return windows:contiguous():view(self.oH * self.oW, n, -1)
end

local function matrices(self, t)
   return t:view(self.oH * self.oW, self.nOutputPlane, -1)
end

function SpatialConvolutionLocal:updateOutput(input)
   local x = batch(self, input)
   local n = x:size(1)
   local products = torch.bmm(patches(self, x), matrices(self, self.weight):transpose(2, 3))
   local out = products:view(self.oH, self.oW, n, self.nOutputPlane):permute(3, 4, 1, 2)
   self.output:resize(n, self.nOutputPlane, self.oH, self.oW):copy(out)
   self.output:add(1, self.bias:view(1, self.nOutputPlane, self.oH, self.oW)
      :expandAs(self.output))
   if input:dim() == 3 then self.output:resize(self.nOutputPlane, self.oH, self.oW) end
   return self.output
end

-- Returns gradOutput as oH oW x N x nOutputPlane.
local function outer(self, gradOutput)
   local g = nn.utils.contiguousView(nil, gradOutput, -1, self.nOutputPlane, self.oH, self.oW)
   return g:permute(3, 4, 1, 2):contiguous():view(self.oH * self.oW, g:size(1), self.nOutputPlane)
end

function SpatialConvolutionLocal:updateGradInput(input, gradOutput)
   local g = outer(self, gradOutput)
   local n = g:size(2)
   local cells = torch.bmm(g, matrices(self, self.weight))
      :view(self.oH, self.oW, n, self.nInputPlane, self.kH, self.kW):permute(3, 4, 1, 2, 5, 6)
   local whole, part = padded(self, input, n)
   local windows = whole:unfold(3, self.kH, self.dH):unfold(4, self.kW, self.dW)
   for i = 1, self.kH do -- one kernel element at a time: its pixels are distinct
      for j = 1, self.kW do
         windows:select(6, j):select(5, i):add(1, cells:select(6, j):select(5, i))
      end
   end
   self.gradInput:resizeAs(input):copy(part)
   return self.gradInput
end

function SpatialConvolutionLocal:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   local g = outer(self, gradOutput)
   local gradient = torch.bmm(g:transpose(2, 3), patches(self, batch(self, input)))
   self.gradWeight:add(scale, gradient:viewAs(self.gradWeight))
   local rows = nn.utils.contiguousView(nil, gradOutput, -1, self.nOutputPlane, self.oH, self.oW)
   self.gradBias:add(scale, rows:sum(1))
end

function SpatialConvolutionLocal:__tostring__()
   local s = ('%s(%d -> %d, %dx%d, %dx%d'):format(torch.type(self), self.nInputPlane,
      self.nOutputPlane, self.iW, self.iH, self.kW, self.kH)
   if self.dW ~= 1 or self.dH ~= 1 or self.padW ~= 0 or self.padH ~= 0 then
      s = s .. (', %d,%d'):format(self.dW, self.dH)
   end
   if self.padW ~= 0 or self.padH ~= 0 then
      s = s .. (', %d,%d'):format(self.padW, self.padH)
   end
   return s .. ')'
end

return SpatialConvolutionLocal
