--- nn.SpatialMaxPooling(kW, kH, dW, dH, padW, padH): takes the maximum of every window of an image.
-- Invariant: input is (N)xCxHxW. Strides default to the window's size. indices holds the position,
-- from 1, of each maximum in its plane. ceil() rounds output sizes up, floor() down (the default).
-- @function nn.SpatialMaxPooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: B x C x H x W or one image -> B x C x ((H + 2 padH - kH) / dH + 1)
--    x ..., rounded down, or up after :ceil()
-- @usage nn.SpatialMaxPooling(2, 2, 2, 2):forward(torch.Tensor{{{1, 2}, {3, 4}}}) --> [4]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local lib = require('dpt.ffi').lib
local window = require 'dpt.nn.window'

local SpatialMaxPooling, parent = torch.class('nn.SpatialMaxPooling', 'nn.Module')

function SpatialMaxPooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   self.kW, self.kH = kW, kH
   self.dW, self.dH = dW or kW, dH or kH
   self.padW, self.padH = padW or 0, padH or 0
   self.ceil_mode = false
   self.indices = torch.LongTensor()
end

window.pooling(SpatialMaxPooling)

function SpatialMaxPooling:updateOutput(input)
   self.indices = nn.utils.indexTensor(self.indices, input)
   self.inputSize = input:size() -- for nn.SpatialMaxUnpooling
   lib.maxpool_forward(self.output, self.indices, input, window.of(self))
   return self.output
end

function SpatialMaxPooling:updateGradInput(input, gradOutput)
   lib.maxpool_backward(self.gradInput, gradOutput, input, self.indices, 2)
   return self.gradInput
end

function SpatialMaxPooling:clearState()
   if self.indices then self.indices:set() end
   return parent.clearState(self)
end

--- Clears the state of a pooling module: old name of clearState.
-- @function nn.SpatialMaxPooling:empty
-- @as method
-- @within nn pooling
-- @also nn.SpatialMaxUnpooling:empty()
-- @also nn.SpatialAdaptiveMaxPooling:empty()
-- @also nn.SpatialAdaptiveAveragePooling:empty()
-- @also nn.SpatialFractionalMaxPooling:empty()
-- @also nn.TemporalMaxPooling:empty()
-- @also nn.VolumetricMaxUnpooling:empty()
-- @also nn.VolumetricAveragePooling:empty()
-- @return the module
-- @usage local m = nn.SpatialMaxPooling(2, 2)
--    m:forward(torch.ones(1, 2, 2))
--    return m:empty().output:nElement() --> 0
SpatialMaxPooling.empty = SpatialMaxPooling.clearState -- its old name

return SpatialMaxPooling
