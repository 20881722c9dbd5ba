--- nn.SpatialSubSampling(nInputPlane, kW, kH, dW, dH): sums every window, multiplies by a learned
-- weight and adds a learned bias; each plane has one weight and one bias.
-- Invariant: input is (N)xCxHxW. Strides default to 1.
-- @function nn.SpatialSubSampling
-- @within nn convolution
-- @as layer
-- @return a module; forward: B x nInputPlane x H x W or one image -> B x nInputPlane x oH x oW
-- @usage nn.SpatialSubSampling(2, 2, 2, 2, 2):forward(torch.ones(2, 6, 6)):size() --> 2x3x3

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local window = require 'dpt.nn.window'
local dptffi = require 'dpt.ffi'
local fail, lib = dptffi.fail, dptffi.lib

local SpatialSubSampling, parent = torch.class('nn.SpatialSubSampling', 'nn.Module')

function SpatialSubSampling:__init(nInputPlane, kW, kH, dW, dH)
   parent.__init(self)
   self.nInputPlane = nInputPlane
   self.kW, self.kH = kW, kH
   self.dW, self.dH = dW or 1, dH or 1
   self.weight = torch.Tensor(nInputPlane)
   self.bias = torch.Tensor(nInputPlane)
   self.gradWeight = torch.Tensor(nInputPlane):zero()
   self.gradBias = torch.Tensor(nInputPlane):zero()
   self:reset()
end

function SpatialSubSampling:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.kW * self.kH)
   self.weight:uniform(-stdv, stdv)
   self.bias:uniform(-stdv, stdv)
end

-- Returns a parameter with one element for each plane, expanded to t's sizes, (N)xCxHxW.
local function spread(parameter, t)
   if t:dim() == 3 then return parameter:view(-1, 1, 1):expandAs(t) end
   return parameter:view(1, -1, 1, 1):expandAs(t)
end

-- Adds scale times the sums over all dimensions except planes to a gradient.
local function addSums(gradient, t, scale)
   lib.plane_sum(gradient, t:dim() == 3 and nn.utils.addSingletonDimension(t) or t, scale)
end

local function means(self, input)
   self._means = self._means or input.new()
   lib.avgpool_forward(self._means, input, window.of(self))
   return self._means
end

function SpatialSubSampling:updateOutput(input)
   if input:size(math.max(input:dim() - 2, 1)) ~= self.nInputPlane then
      fail('nn.SpatialSubSampling: input of size %s, wanted %d planes',
         table.concat(input:size():totable(), 'x'), self.nInputPlane)
   end
   means(self, input)
   self.output:resizeAs(self._means):mul(self._means, self.kW * self.kH)
   self.output:cmul(spread(self.weight, self.output)):add(1, spread(self.bias, self.output))
   return self.output
end

function SpatialSubSampling:updateGradInput(input, gradOutput)
   local weighted = torch.cmul(gradOutput, spread(self.weight, gradOutput))
   weighted:mul(self.kW * self.kH)
   lib.avgpool_backward(self.gradInput, weighted, input, window.of(self))
   return self.gradInput
end

function SpatialSubSampling:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   addSums(self.gradWeight, torch.cmul(self._means or means(self, input), gradOutput),
      scale * self.kW * self.kH)
   addSums(self.gradBias, gradOutput, scale)
end

function SpatialSubSampling:clearState()
   self._means = nil
   return parent.clearState(self)
end

return SpatialSubSampling
