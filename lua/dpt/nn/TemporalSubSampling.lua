--- nn.TemporalSubSampling(inputFrameSize, kW, dW): sums every window of kW frames, multiplies by a
-- learned weight and adds a learned bias; each feature has one weight and one bias.
-- Invariant: input is TxF. dW defaults to 1.
-- @function nn.TemporalSubSampling
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x T x inputFrameSize or one sequence -> B x ((T - kW) / dW + 1)
--    x inputFrameSize
-- @usage nn.TemporalSubSampling(4, 2, 2):forward(torch.ones(10, 4)):size() --> 5x4

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local TemporalSubSampling, parent = torch.class('nn.TemporalSubSampling', 'nn.Module')

function TemporalSubSampling:__init(inputFrameSize, kW, dW)
   parent.__init(self)
   self.inputFrameSize = inputFrameSize
   self.kW = kW
   self.dW = dW or 1
   self.weight = torch.Tensor(inputFrameSize)
   self.bias = torch.Tensor(inputFrameSize)
   self.gradWeight = torch.Tensor(inputFrameSize):zero()
   self.gradBias = torch.Tensor(inputFrameSize):zero()
   self:reset()
end

function TemporalSubSampling:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.kW)
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv)
end

-- Returns the sums of the windows, T' x F.
local function sums(self, input)
   if input:dim() ~= 2 or input:size(2) ~= self.inputFrameSize or input:size(1) < self.kW then
      fail('nn.TemporalSubSampling: input of size %s, wanted Tx%d with T at least %d',
         table.concat(input:size():totable(), 'x'), self.inputFrameSize, self.kW)
   end
   local windows = input:unfold(1, self.kW, self.dW):sum(3)
   return windows:view(windows:size(1), windows:size(2))
end

function TemporalSubSampling:updateOutput(input)
   local total = sums(self, input)
   self.output:resizeAs(total):copy(total)
   self.output:cmul(self.weight:view(1, -1):expandAs(total))
      :add(1, self.bias:view(1, -1):expandAs(total))
   return self.output
end

function TemporalSubSampling:updateGradInput(input, gradOutput)
   local weighted = torch.cmul(gradOutput, self.weight:view(1, -1):expandAs(gradOutput))
   self.gradInput:resizeAs(input):zero()
   local windows = self.gradInput:unfold(1, self.kW, self.dW)
   for k = 1, self.kW do windows:select(3, k):add(1, weighted) end
   return self.gradInput
end

function TemporalSubSampling:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   lib.plane_sum(self.gradWeight, torch.cmul(gradOutput, sums(self, input)), scale)
   lib.plane_sum(self.gradBias, gradOutput, scale)
end

return TemporalSubSampling
