--- nn.TemporalConvolution(inputFrameSize, outputFrameSize, kW, dW): applies a 1-D convolution over
-- the frames of a sequence.
-- Invariant: input is (N)xTxF. weight is outputFrameSize x (kW inputFrameSize); the frames of a
-- window are consecutive.
-- @function nn.TemporalConvolution
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x T x inputFrameSize or one sequence -> B x ((T - kW) / dW + 1)
--    x outputFrameSize
-- @usage nn.TemporalConvolution(4, 6, 3):forward(torch.ones(2, 10, 4)):size() --> 2x8x6

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local TemporalConvolution, parent = torch.class('nn.TemporalConvolution', 'nn.Module')

function TemporalConvolution:__init(inputFrameSize, outputFrameSize, kW, dW)
   parent.__init(self)
   self.inputFrameSize, self.outputFrameSize = inputFrameSize, outputFrameSize
   self.kW = kW
   self.dW = dW or 1
   self.weight = torch.Tensor(outputFrameSize, inputFrameSize * kW)
   self.bias = torch.Tensor(outputFrameSize)
   self.gradWeight = torch.Tensor(outputFrameSize, inputFrameSize * kW):zero()
   self.gradBias = torch.Tensor(outputFrameSize):zero()
   self:reset()
end

--- Returns the number of frames in a window and the stride of windows.
-- @function nn.TemporalConvolution:window
-- @as author
-- @return two numbers
-- @usage nn.TemporalConvolution(2, 3, 5):window() --> 5, 1
function TemporalConvolution:window() return self.kW, self.dW end

function TemporalConvolution:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self:window() * self.inputFrameSize)
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv)
end

--- Returns the windows as rows, (N T') x (kW F), and the numbers N and T'.
-- @function nn.TemporalConvolution:rows
-- @as author
-- @param input tensor: (N x) T x inputFrameSize
-- @return a matrix; two numbers
-- @usage nn.TemporalConvolution(2, 3, 2):rows(torch.ones(4, 2)):size() --> 3x4
function TemporalConvolution:rows(input)
   local dims, width, step = input:dim(), self:window()
   if dims ~= 2 and dims ~= 3 or input:size(dims) ~= self.inputFrameSize
      or input:size(dims - 1) < width then
      fail('nn.TemporalConvolution: input of size %s, wanted (N)xTx%d with T at least %d',
         table.concat(input:size():totable(), 'x'), self.inputFrameSize, width)
   end
   local n = dims == 3 and input:size(1) or 1
   local x = input:contiguous():view(n, input:size(dims - 1), self.inputFrameSize)
   local windows = x:unfold(2, width, step):transpose(3, 4)
   local frames = windows:size(2)
   self._rows = self._rows or input.new()
   self._rows:resize(n, frames, width, self.inputFrameSize):copy(windows)
   return self._rows:view(n * frames, width * self.inputFrameSize), n, frames
end

function TemporalConvolution:updateOutput(input)
   local rows, n, frames = self:rows(input)
   lib.linear_forward(self.output, rows, self.weight, self.bias)
   if input:dim() == 3 then self.output:resize(n, frames, self.outputFrameSize) end
   return self.output
end

function TemporalConvolution:updateGradInput(input, gradOutput)
   if not self.gradInput then return end
   local g = gradOutput:contiguous():view(-1, self.outputFrameSize)
   local n, width, step = input:dim() == 3 and input:size(1) or 1, self:window()
   self._cells = self._cells or input.new()
   lib.linear_backward_data(self._cells, g, self.weight)
   local cells = self._cells:view(n, gradOutput:size(gradOutput:dim() - 1), width,
      self.inputFrameSize)
   self.gradInput:resizeAs(input):zero()
   local windows = self.gradInput:view(n, -1, self.inputFrameSize):unfold(2, width, step)
   for k = 1, width do windows:select(4, k):add(1, cells:select(3, k)) end
   return self.gradInput
end

function TemporalConvolution:accGradParameters(input, gradOutput, scale)
   local g = gradOutput:contiguous():view(-1, self.outputFrameSize)
   lib.linear_backward_weight(self.gradWeight, self.gradBias, (self:rows(input)), g, scale or 1)
end

TemporalConvolution.sharedAccUpdateGradParameters = parent.defaultAccUpdateGradParameters

function TemporalConvolution:clearState()
   self._rows, self._cells = nil, nil
   return parent.clearState(self)
end

return TemporalConvolution
