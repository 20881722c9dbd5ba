--- nn.SpatialAdaptiveAveragePooling(W, H): averages over W x H windows that tile the image.
-- Invariant: input is (N)xCxHxW.
-- @function nn.SpatialAdaptiveAveragePooling
-- @within nn pooling
-- @as layer
-- @param W columns of the output
-- @param H rows of the output
-- @return a module; forward: B x C x any height x any width -> B x C x H x W
-- @usage nn.SpatialAdaptiveAveragePooling(1, 1):forward(torch.Tensor{{{1, 2}, {3, 4}}})
--    --> [2.5]

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local window = require 'dpt.nn.window'

local SpatialAdaptiveAveragePooling, parent =
   torch.class('nn.SpatialAdaptiveAveragePooling', 'nn.Module')

function SpatialAdaptiveAveragePooling:__init(W, H)
   parent.__init(self)
   self.W = W
   self.H = H
end

function SpatialAdaptiveAveragePooling:updateOutput(input)
   lib.adaptive_avgpool_forward(self.output, input, 2, window.sizes(self.H, self.W))
   return self.output
end

function SpatialAdaptiveAveragePooling:updateGradInput(input, gradOutput)
   lib.adaptive_avgpool_backward(self.gradInput, gradOutput, input, 2)
   return self.gradInput
end

SpatialAdaptiveAveragePooling.empty = parent.clearState -- its old name

return SpatialAdaptiveAveragePooling
