--- cudnn.VolumetricSoftMax(): nn.SoftMax over the planes of a volume, for every voxel.
-- Invariant: input is (N)xCxTxHxW; the module in the field ssm receives it as an image of T H rows.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local fail = require('dpt.ffi').fail

local VolumetricSoftMax, parent = torch.class('cudnn.VolumetricSoftMax', 'nn.Module')

VolumetricSoftMax.inner = 'SpatialSoftMax'

function VolumetricSoftMax:__init()
   parent.__init(self)
   self.ssm = nn[self.inner]()
end

-- Returns a view of the volume as an image.
local function image(self, t)
   local n = t:dim()
   if n ~= 4 and n ~= 5 then
      fail('%s: input has %d dimensions, wanted 4 or 5', torch.type(self), n)
   end
   local size = t:size():totable()
   size[n - 2] = size[n - 2] * table.remove(size, n - 1)
   return t:contiguous():view(torch.LongStorage(size))
end

function VolumetricSoftMax:updateOutput(input)
   self.output = self.ssm:updateOutput(image(self, input)):viewAs(input)
   return self.output
end

function VolumetricSoftMax:updateGradInput(input, gradOutput)
   local gradInput = self.ssm:updateGradInput(image(self, input), image(self, gradOutput))
   self.gradInput = gradInput:viewAs(input)
   return self.gradInput
end

function VolumetricSoftMax:clearState()
   self.ssm:clearState()
   return parent.clearState(self)
end

--- Applies softmax over the planes of a volume, for every voxel; the field inner names the class
-- that computes it.
-- @function cudnn.VolumetricSoftMax
-- @as cudnn
-- @also cudnn.VolumetricSoftMax.inner
-- @return a module; forward: N x C x T x H x W -> the same size
-- @usage cudnn.VolumetricSoftMax():cuda():forward(torch.CudaTensor(1, 2, 1, 1, 1):fill(1))
--    --> [0.5 0.5]

return VolumetricSoftMax
