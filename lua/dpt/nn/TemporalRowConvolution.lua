--- nn.TemporalRowConvolution(inputFrameSize, kW, dW, featFirst): applies a 1-D convolution to every
-- feature of a sequence separately.
-- Invariant: input is (N)xTxF, or (N)xFxT with featFirst. weight is F x 1 x kW.
-- @function nn.TemporalRowConvolution
-- @within nn convolution
-- @as layer
-- @param featFirst true: a sequence has features in dimension 1 and time in dimension 2
-- @return a module; forward: B x T x inputFrameSize or one sequence -> B x (T - kW + 1) x
--    inputFrameSize
-- @usage nn.TemporalRowConvolution(4, 3):forward(torch.ones(2, 10, 4)):size() --> 2x8x4

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local fail = require('dpt.ffi').fail

local TemporalRowConvolution, parent = torch.class('nn.TemporalRowConvolution', 'nn.Module')

function TemporalRowConvolution:__init(inputFrameSize, kW, dW, featFirst)
   parent.__init(self)
   self.inputFrameSize = inputFrameSize
   self.kW = kW
   self.dW = dW or 1
   self.weight = torch.Tensor(inputFrameSize, 1, kW)
   self.bias = torch.Tensor(inputFrameSize)
   self.gradWeight = torch.Tensor(inputFrameSize, 1, kW):zero()
   self.gradBias = torch.Tensor(inputFrameSize):zero()
   self.featFirst = featFirst or false
   self:reset()
end

function TemporalRowConvolution:noBias()
   self.bias = nil
   self.gradBias = nil
   return self
end

function TemporalRowConvolution:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.kW * self.inputFrameSize)
   self.weight:uniform(-stdv, stdv)
   if self.bias then self.bias:uniform(-stdv, stdv) end
end

local function slide(self)
   local w = ffi.new('dpt_window')
   w.ndim, w.groups = 1, self.inputFrameSize
   w.kernel[0], w.stride[0] = self.kW, self.dW
   return w
end

--- Returns a tensor in the order of the C library, (N)xFxT.
-- @function nn.TemporalRowConvolution:turned
-- @as author
-- @param t tensor: (N x) T x F
-- @return (N x) F x T
-- @usage nn.TemporalRowConvolution(2, 1):turned(torch.ones(4, 2)):size() --> 2x4
function TemporalRowConvolution:turned(t)
   if t:dim() ~= 2 and t:dim() ~= 3 then
      fail('nn.TemporalRowConvolution: input has %d dimensions, wanted 2 or 3', t:dim())
   end
   return self.featFirst and t or t:transpose(t:dim() - 1, t:dim())
end

-- Calls f with a result tensor in the C library's order and returns it in the module's order.
local function result(self, final, f)
   if self.featFirst then
      f(final)
   else
      self._turned = self._turned or final.new()
      f(self._turned)
      local back = self:turned(self._turned)
      final:resize(back:size()):copy(back)
   end
   return final
end

function TemporalRowConvolution:updateOutput(input)
   return result(self, self.output, function(out)
      lib.conv_forward(out, self:turned(input), self.weight, self.bias, slide(self))
   end)
end

function TemporalRowConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then return end
   return result(self, self.gradInput, function(out)
      lib.conv_backward_data(out, self:turned(gradOutput), self:turned(input), self.weight,
         slide(self))
   end)
end

function TemporalRowConvolution:accGradParameters(input, gradOutput, scale)
   lib.conv_backward_weight(self.gradWeight, self.bias and self.gradBias, self:turned(input),
      self:turned(gradOutput), slide(self), scale or 1)
end

function TemporalRowConvolution:clearState()
   self._turned = nil
   return parent.clearState(self)
end

function TemporalRowConvolution:__tostring__()
   local s = ('%s(%d, %d'):format(torch.type(self), self.inputFrameSize, self.kW)
   if self.dW ~= 1 then s = s .. (', %d'):format(self.dW) end
   return s .. (self.bias and ')' or ') without bias')
end

return TemporalRowConvolution
