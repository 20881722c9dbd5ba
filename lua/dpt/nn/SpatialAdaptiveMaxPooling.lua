--- nn.SpatialAdaptiveMaxPooling(W, H): takes the maximum of W x H windows that tile the image.
-- Invariant: input is (N)xCxHxW. The first argument is the number of columns of the output, the
-- second the number of rows. indices is as in nn.SpatialMaxPooling.
-- @function nn.SpatialAdaptiveMaxPooling
-- @within nn pooling
-- @as layer
-- @param W columns of the output
-- @param H rows of the output
-- @return a module; forward: B x C x any height x any width -> B x C x H x W
-- @usage nn.SpatialAdaptiveMaxPooling(3, 2):forward(torch.ones(1, 7, 9)):size() --> 1x2x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local lib = require('dpt.ffi').lib
local window = require 'dpt.nn.window'

local SpatialAdaptiveMaxPooling, parent = torch.class('nn.SpatialAdaptiveMaxPooling', 'nn.Module')

function SpatialAdaptiveMaxPooling:__init(W, H)
   parent.__init(self)
   self.W = W
   self.H = H
end

function SpatialAdaptiveMaxPooling:updateOutput(input)
   self.indices = nn.utils.indexTensor(self.indices, input)
   lib.adaptive_maxpool_forward(self.output, self.indices, input, 2,
      window.sizes(self.H, self.W))
   return self.output
end

function SpatialAdaptiveMaxPooling:updateGradInput(input, gradOutput)
   lib.maxpool_backward(self.gradInput, gradOutput, input, self.indices, 2)
   return self.gradInput
end

function SpatialAdaptiveMaxPooling:clearState()
   nn.utils.clear(self, 'indices')
   return parent.clearState(self)
end

SpatialAdaptiveMaxPooling.empty = SpatialAdaptiveMaxPooling.clearState -- its old name

return SpatialAdaptiveMaxPooling
