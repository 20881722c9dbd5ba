--- nn.SpatialAveragePooling(kW, kH, dW, dH, padW, padH): averages over every window of an image.
-- Invariant: input is (N)xCxHxW. Strides default to 1. The divisor includes padding unless
-- setCountExcludePad is called. If the field divide is false, output is sums.
-- @function nn.SpatialAveragePooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: as nn.SpatialMaxPooling
-- @usage nn.SpatialAveragePooling(2, 2, 2, 2):forward(torch.Tensor{{{1, 2}, {3, 4}}}) --> [2.5]

local torch = require 'dpt.tensor'
local lib = require('dpt.ffi').lib
local window = require 'dpt.nn.window'

local SpatialAveragePooling, parent = torch.class('nn.SpatialAveragePooling', 'nn.Module')

function SpatialAveragePooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self)
   self.kW, self.kH = kW, kH
   self.dW, self.dH = dW or 1, dH or 1
   self.padW, self.padH = padW or 0, padH or 0
   self.ceil_mode = false
   self.count_include_pad = true
   self.divide = true
end

window.pooling(SpatialAveragePooling)

--- Includes padding in the divisor, which is the default.
-- @function nn.SpatialAveragePooling:setCountIncludePad
-- @as method
-- @within nn pooling
-- @return the module
-- @usage nn.SpatialAveragePooling(2, 2, 2, 2, 1, 1)
--       :setCountIncludePad() :forward(torch.ones(1, 2, 2)) --> [0.25 0.25 0.25 0.25]
function SpatialAveragePooling:setCountIncludePad()
   self.count_include_pad = true
   return self
end

--- Excludes padding from the divisor.
-- @function nn.SpatialAveragePooling:setCountExcludePad
-- @as method
-- @within nn pooling
-- @return the module
-- @usage nn.SpatialAveragePooling(2, 2, 2, 2, 1, 1)
--       :setCountExcludePad() :forward(torch.ones(1, 2, 2)) --> [1 1 1 1]
function SpatialAveragePooling:setCountExcludePad()
   self.count_include_pad = false
   return self
end

function SpatialAveragePooling:updateOutput(input)
   lib.avgpool_forward(self.output, input, window.of(self))
   if self.divide == false then self.output:mul(self.kW * self.kH) end
   return self.output
end

function SpatialAveragePooling:updateGradInput(input, gradOutput)
   if self.gradInput then
      lib.avgpool_backward(self.gradInput, gradOutput, input, window.of(self))
      if self.divide == false then self.gradInput:mul(self.kW * self.kH) end
      return self.gradInput
   end
end

return SpatialAveragePooling
