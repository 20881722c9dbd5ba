--- cudnn.TemporalConvolution(inputFrameSize, outputFrameSize, kH, dH, padH): nn.TemporalConvolution
-- with padH zero frames before and after every sequence.
-- Invariant: gradInput has as many frames as the input. The fields are those of cudnn.torch, which
-- treats frames as the rows of an image: a window has kH frames, and kW is inputFrameSize.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local C, lib = dptffi.C, dptffi.lib
local algorithms = require 'dpt.cudnn.algorithms'
local window = require 'dpt.nn.window'

local TemporalConvolution, parent =
   torch.class('cudnn.TemporalConvolution', 'nn.TemporalConvolution')

TemporalConvolution.transient = {'padded_'}

function TemporalConvolution:__init(inputFrameSize, outputFrameSize, kH, dH, padH)
   parent.__init(self, inputFrameSize, outputFrameSize, kH, dH)
   self.nInputPlane, self.nOutputPlane, self.groups = 1, outputFrameSize, 1
   self.kW, self.dW, self.padW = inputFrameSize, 1, 0
   self.kH, self.dH, self.padH = kH, dH or 1, padH or 0
end

-- Files of dpt 1.0.0 store the window in kW and dW, as nn.TemporalConvolution does.
function TemporalConvolution:window()
   if not self.kH then return parent.window(self) end
   return self.kH, self.dH
end

algorithms.add(TemporalConvolution)

-- Returns the padded input.
local function padded(self, input)
   local pad = self.padH or 0
   if pad == 0 then return input end
   if torch.type(self.padded_) ~= torch.type(input) then self.padded_ = input.new() end
   lib.pad_forward(self.padded_, input, C.DPT_PAD_ZERO, 2, window.sizes(pad, 0),
      window.sizes(pad, 0))
   return self.padded_
end

function TemporalConvolution:updateOutput(input)
   return parent.updateOutput(self, padded(self, input))
end

function TemporalConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then return end
   parent.updateGradInput(self, padded(self, input), gradOutput)
   local pad = self.padH or 0
   if pad > 0 then
      local time = input:dim() - 1
      self.gradInput = self.gradInput:narrow(time, pad + 1, input:size(time)):contiguous()
   end
   return self.gradInput
end

function TemporalConvolution:accGradParameters(input, gradOutput, scale)
   parent.accGradParameters(self, padded(self, input), gradOutput, scale)
end

--- Applies a 1-D convolution to sequences, with zero frames before and after each.
-- @function cudnn.TemporalConvolution
-- @as cudnn
-- @return a module; forward: (N x) T x inputFrameSize -> (N x) T' x outputFrameSize
-- @usage cudnn.TemporalConvolution(3, 5, 3, 1, 1)
--       :cuda() :forward(torch.CudaTensor(2, 4, 3):fill(1)):size() --> 2x4x5

return TemporalConvolution
