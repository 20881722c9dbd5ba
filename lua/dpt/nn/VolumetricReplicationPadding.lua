--- nn.VolumetricReplicationPadding(left, right, top, bottom, front, back): pads a volume by
-- repeating its border voxels.
-- Invariant: all sizes default to the first. Input is (N)xCxTxHxW.
-- @function nn.VolumetricReplicationPadding
-- @within nn sampling
-- @as layer
-- @return a module; forward: B x C x T x H x W or one volume -> larger T, H and W
-- @usage nn.VolumetricReplicationPadding(1, 1, 1, 1, 1, 1)
--       :forward(torch.ones(1, 2, 2, 2)) :size() --> 1x4x4x4

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local C, lib = dptffi.C, dptffi.lib
local window = require 'dpt.nn.window'

local mode = C.DPT_PAD_REPLICATE

local VolumetricReplicationPadding, parent =
   torch.class('nn.VolumetricReplicationPadding', 'nn.Module')

function VolumetricReplicationPadding:__init(left, right, top, bottom, front, back)
   parent.__init(self)
   self.pleft, self.pright = left, right or left
   self.ptop, self.pbottom = top or left, bottom or left
   self.pfront, self.pback = front or left, back or left
end

function VolumetricReplicationPadding:updateOutput(input)
   lib.pad_forward(self.output, input, mode, 3, window.sizes(self.pfront, self.ptop, self.pleft),
      window.sizes(self.pback, self.pbottom, self.pright))
   return self.output
end

function VolumetricReplicationPadding:updateGradInput(input, gradOutput)
   lib.pad_backward(self.gradInput, gradOutput, input, mode, 3,
      window.sizes(self.pfront, self.ptop, self.pleft),
      window.sizes(self.pback, self.pbottom, self.pright))
   return self.gradInput
end

function VolumetricReplicationPadding:__tostring__()
   return ('%s(left=%d, right=%d, top=%d, bottom=%d, front=%d, back=%d)'):format(torch.type(self),
      self.pleft, self.pright, self.ptop, self.pbottom, self.pfront, self.pback)
end

return VolumetricReplicationPadding
