--- nn.SpatialFullConvolution(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, adjW, adjH):
-- applies a transposed 2-D convolution. The output size is (in - 1) d - 2 pad + k + adj.
-- Invariant: weight is nInputPlane x nOutputPlane x kH x kW. For a table {input, other}, adj is
-- chosen so that the output has the height and width of `other`; the gradient of `other` is a
-- single zero, expanded to the size of `other`.
-- @function nn.SpatialFullConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x nInputPlane x H x W -> B x nOutputPlane x ((H - 1) dH - 2 padH
--    + kH + adjH) x ((W - 1) dW - 2 padW + kW + adjW)
-- @usage nn.SpatialFullConvolution(2, 1, 4, 4, 2, 2, 1, 1)
--       :forward(torch.ones(1, 2, 5, 5)) :size() --> 1x1x10x10

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local dptffi = require 'dpt.ffi'
local fail, type, lib = dptffi.fail, dptffi.type, dptffi.lib

local SpatialFullConvolution, parent =
   torch.class('nn.SpatialFullConvolution', 'nn.SpatialConvolution')

function SpatialFullConvolution:__init(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH, adjW,
   adjH)
   self.adjW, self.adjH = adjW or 0, adjH or 0
   parent.__init(self, nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
   self.padH = padH or 0
   if self.adjW > self.dW - 1 or self.adjH > self.dH - 1 then
      fail('nn.SpatialFullConvolution: adj %d,%d must be smaller than the stride %d,%d',
         self.adjW, self.adjH, self.dW, self.dH)
   end
end

function SpatialFullConvolution:weightSize()
   return torch.LongStorage{self.nInputPlane, self.nOutputPlane, self.kH, self.kW}
end

-- Returns the window. If `other` is given, adj is chosen so that the output has the size of
-- `other`.
local function slide(self, input, other)
   local w = window.of(self, true)
   for i = 0, other and w.ndim - 1 or -1 do
      local d = input:dim() - w.ndim + 1 + i
      local target = other:size(other:dim() - w.ndim + 1 + i)
      w.adjust[i] = target + 2 * w.pad[i] - w.kernel[i] - (input:size(d) - 1) * w.stride[i]
   end
   return w
end

local function parts(input)
   if type(input) == 'table' then return input[1], input[2] end
   return input
end

function SpatialFullConvolution:updateOutput(input)
   local x, other = parts(input)
   lib.conv_forward(self.output, x, self.weight, self.bias, slide(self, x, other))
   return self.output
end

function SpatialFullConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then return end
   local x, other = parts(input)
   if other and (type(self.gradInput) ~= 'table' or not self.gradInput[1]) then
      self.gradInput = {x.new()} -- also after clearState
   elseif not other and type(self.gradInput) == 'table' then
      self.gradInput = self.gradInput[1] or x.new()
   end
   lib.conv_backward_data(other and self.gradInput[1] or self.gradInput, gradOutput, x, self.weight,
      slide(self, x, other))
   if other then
      local ones = {}
      for d = 1, other:dim() do ones[d] = 1 end
      self.gradInput[2] = other.new(torch.LongStorage(ones)):zero():expandAs(other)
   end
   return self.gradInput
end

function SpatialFullConvolution:accGradParameters(input, gradOutput, scale)
   local x, other = parts(input)
   lib.conv_backward_weight(self.gradWeight, self.bias and self.gradBias, x, gradOutput,
      slide(self, x, other), scale or 1)
end

function SpatialFullConvolution:__tostring__()
   return torch.type(self) .. '(' .. window.text(self) .. (self.bias and ')' or ') without bias')
end

return SpatialFullConvolution
