--- nn.GroupNorm(numGroups, numChannels, eps, affine): divides the planes (channels) of each sample
-- into numGroups groups, and normalizes each group by itself: y = (x - mean) / sqrt(var + eps).
-- With affine (the default), each plane is multiplied by its weight, and its bias is added.
-- Invariant: the variance is the biased one, of all elements of a group.
-- @function nn.GroupNorm
-- @within nn normalization
-- @as layer
-- @follows PyTorch's GroupNorm
-- @param numGroups number of groups, a divisor of numChannels
-- @param numChannels planes of input and output
-- @return a module; forward: B x numChannels x any sizes -> the same size
-- @raise if numGroups does not divide numChannels, or the input has other planes
-- @usage nn.GroupNorm(2, 4):forward(torch.Tensor{{1, 3, 10, 30}}) --> [-1 1 -1 1]

local torch = require 'dpt.tensor'
local normalization = require 'dpt.nn.normalization'
local fail = require('dpt.ffi').fail

local GroupNorm, parent = torch.class('nn.GroupNorm', 'nn.Module')

function GroupNorm:__init(numGroups, numChannels, eps, affine)
   parent.__init(self)
   if numGroups < 1 or numGroups % 1 ~= 0 or numChannels < 1 or numChannels % numGroups ~= 0 then
      fail("%s: argument 'numGroups' is %s, wanted a divisor of the %s planes", torch.type(self),
         numGroups, numChannels)
   end
   self.numGroups, self.numChannels = numGroups, numChannels
   self.eps = eps or 1e-5
   if affine ~= false then normalization.allocate(self, {numChannels}, true) end
end

normalization.define(GroupNorm, parent, function(self, input)
   return normalization.splitPlanes(self, input, 2)
end, 0)

function GroupNorm:__tostring__()
   return ('%s(%d, %d)'):format(torch.type(self), self.numGroups, self.numChannels)
end

return GroupNorm
