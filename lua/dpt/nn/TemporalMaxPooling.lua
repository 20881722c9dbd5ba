--- nn.TemporalMaxPooling(kW, dW): takes the maximum of every window of kW frames, for each feature.
-- Invariant: input is (N)xTxF; dW defaults to kW.
-- @function nn.TemporalMaxPooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: B x T x features or one sequence -> B x ((T - kW) / dW + 1) x
--    features
-- @usage nn.TemporalMaxPooling(2):forward(torch.Tensor{{1}, {5}, {2}, {3}}) --> [5 3]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib
local fail = require('dpt.ffi').fail

local TemporalMaxPooling, parent = torch.class('nn.TemporalMaxPooling', 'nn.Module')

function TemporalMaxPooling:__init(kW, dW)
   parent.__init(self)
   self.kW = kW
   self.dW = dW or kW
end

-- Transposes frames and features: the C library pools the last dimension.
local function turned(t)
   return t:transpose(t:dim() - 1, t:dim())
end

function TemporalMaxPooling:updateOutput(input)
   if input:dim() ~= 2 and input:dim() ~= 3 then
      fail('nn.TemporalMaxPooling: input has %d dimensions, wanted 2 or 3', input:dim())
   end
   local w = ffi.new('dpt_window')
   w.ndim, w.kernel[0], w.stride[0] = 1, self.kW, self.dW
   self._pooled = self._pooled or input.new()
   self.indices = nn.utils.indexTensor(self.indices, input)
   lib.maxpool_forward(self._pooled, self.indices, turned(input), w)
   local frames = turned(self._pooled)
   self.output:resize(frames:size()):copy(frames)
   return self.output
end

function TemporalMaxPooling:updateGradInput(input, gradOutput)
   self._gradient = self._gradient or input.new()
   lib.maxpool_backward(self._gradient, turned(gradOutput), turned(input), self.indices, 1)
   self.gradInput:resizeAs(input):copy(turned(self._gradient))
   return self.gradInput
end

function TemporalMaxPooling:clearState()
   nn.utils.clear(self, 'indices', '_pooled', '_gradient')
   return parent.clearState(self)
end

TemporalMaxPooling.empty = TemporalMaxPooling.clearState -- its old name

return TemporalMaxPooling
