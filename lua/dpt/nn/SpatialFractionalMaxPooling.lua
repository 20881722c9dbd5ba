--- nn.SpatialFractionalMaxPooling(poolW, poolH, outW, outH): applies fractional max pooling:
-- windows at random positions reduce the input to a given size or (numbers below 1) to a fraction
-- of its size.
-- Invariant: each forward draws two numbers for every plane of every sample, unless
-- fixPoolingRegions keeps the last draw. While it is kept, the field newRandomPool is true, as in
-- Torch7.
-- @function nn.SpatialFractionalMaxPooling
-- @within nn pooling
-- @as layer
-- @param poolSizeW columns of a window
-- @param poolSizeH rows of a window
-- @param outW columns of the output, or their ratio to the input's columns
-- @param outH rows of the output, or their ratio to the input's rows
-- @return a module; forward: B x C x H x W -> B x C x outH x outW (ratios below 1: of H and W)
-- @usage nn.SpatialFractionalMaxPooling(2, 2, 3, 3):forward(torch.ones(1, 1, 6, 6)):size()
--    --> 1x1x3x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local ffi = require 'dpt.ffi'.ffi
local dptffi = require 'dpt.ffi'
local raise, type, lib = dptffi.raise, dptffi.type, dptffi.lib

local SpatialFractionalMaxPooling, parent =
   torch.class('nn.SpatialFractionalMaxPooling', 'nn.Module')

local function checkTargets(self, targets)
   local shares = 0
   for _, n in ipairs(targets) do
      if type(n) ~= 'number' or n <= 0 then shares = -1 break end
      if n < 1 then shares = shares + 1 end
   end
   if shares ~= 0 and shares ~= #targets then
      raise(torch.type(self) .. ': wanted output sizes of 1 or more, or ratios that are all'
         .. ' below 1')
   end
   return shares > 0
end

function SpatialFractionalMaxPooling:__init(poolSizeW, poolSizeH, arg1, arg2)
   parent.__init(self)
   self.poolSizeW, self.poolSizeH = poolSizeW, poolSizeH
   if checkTargets(self, {arg1 or 0, arg2 or 0}) then
      self.ratioW, self.ratioH = arg1, arg2
   else
      self.outW, self.outH = arg1, arg2
   end
   self.newRandomPool = false
   self.indices = torch.LongTensor()
end

--- Keeps the window positions of the next forward for all later ones, or draws them in each
-- forward.
-- @function nn.SpatialFractionalMaxPooling:fixPoolingRegions
-- @as method
-- @within nn pooling
-- @param val? boolean: true keeps the positions (true); false draws them
-- @return the module
-- @usage local m, x = nn.SpatialFractionalMaxPooling(2, 2, 2, 2), torch.rand(1, 9, 9)
--    local y = m:fixPoolingRegions():forward(x):clone()
--    return m:forward(x) - y --> [0 0 0 0]
function SpatialFractionalMaxPooling:fixPoolingRegions(val)
   self.newRandomPool = val == nil and true or val
   return self
end

--- Returns the sizes of the output and of the window, outermost dimension first.
-- @function nn.SpatialFractionalMaxPooling:shapes
-- @as author
-- @param input tensor: (N x) C x H x W
-- @return two lists of numbers
-- @usage nn.SpatialFractionalMaxPooling(2, 2, 0.5, 0.5):shapes(torch.ones(1, 4, 6))
--    --> {2 3}, {2 2}
function SpatialFractionalMaxPooling:shapes(input)
   local n = input:dim()
   local outH = self.outH or math.floor(input:size(n - 1) * self.ratioH)
   local outW = self.outW or math.floor(input:size(n) * self.ratioW)
   return {outH, outW}, {self.poolSizeH, self.poolSizeW}
end

--- Draws the random numbers for an input into randomSamples, unless they are kept. The name is
-- Torch7's.
-- @function nn.SpatialFractionalMaxPooling:initSampleBuffer_
-- @as author
-- @param input tensor: (N x) C x H x W
-- @return nothing
-- @usage local m = nn.SpatialFractionalMaxPooling(2, 2, 2, 2)
--    m:initSampleBuffer_(torch.ones(3, 4, 4))
--    return m.randomSamples:size() --> 1x3x2
function SpatialFractionalMaxPooling:initSampleBuffer_(input)
   local out = self:shapes(input)
   local batched = input:dim() == #out + 2
   local size = {batched and input:size(1) or 1, input:size(batched and 2 or 1), #out}
   local samples = self.randomSamples
   if not (samples and self.newRandomPool and samples:size(1) == size[1]
      and samples:size(2) == size[2]) then
      self.randomSamples = self.randomSamples or input.new()
      self.randomSamples:resize(size[1], size[2], size[3]):uniform()
   end
end

function SpatialFractionalMaxPooling:updateOutput(input)
   self:initSampleBuffer_(input)
   local out, pool = self:shapes(input)
   self.indices = nn.utils.indexTensor(self.indices, input)
   local w = ffi.new('dpt_window')
   w.ndim = #out
   for i, k in ipairs(pool) do w.kernel[i - 1] = k end
   lib.fractional_maxpool_forward(self.output, self.indices, input, self.randomSamples, w,
      ffi.new('int64_t[?]', #out, out))
   return self.output
end

function SpatialFractionalMaxPooling:updateGradInput(input, gradOutput)
   lib.maxpool_backward(self.gradInput, gradOutput, input, self.indices, #(self:shapes(input)))
   return self.gradInput
end

function SpatialFractionalMaxPooling:clearState()
   self.indices, self.randomSamples = nil, nil
   return parent.clearState(self)
end
SpatialFractionalMaxPooling.empty = SpatialFractionalMaxPooling.clearState -- its old name

function SpatialFractionalMaxPooling:__tostring__()
   return ('%s(%dx%d, %d,%d)'):format(torch.type(self), self.outW or self.ratioW,
      self.outH or self.ratioH, self.poolSizeW, self.poolSizeH)
end

return SpatialFractionalMaxPooling
