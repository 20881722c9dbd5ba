--- nn.VolumetricMaxUnpooling(pooling): inverts max pooling: puts every voxel back at the position
-- of its maximum and sets all others to zero.
-- Invariant: output has the size of the pooling module's last input.
-- @function nn.VolumetricMaxUnpooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: the pooling's output size -> the pooling's input size
-- @usage local pool = nn.VolumetricMaxPooling(2, 2, 2)
--    local small = pool:forward(torch.ones(1, 4, 4, 4))
--    return nn.VolumetricMaxUnpooling(pool):forward(small):size() --> 1x4x4x4

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local dptffi = require 'dpt.ffi'
local raise, lib = dptffi.raise, dptffi.lib

local VolumetricMaxUnpooling, parent = torch.class('nn.VolumetricMaxUnpooling', 'nn.Module')

function VolumetricMaxUnpooling:__init(poolingModule)
   parent.__init(self)
   if not torch.isTypeOf(poolingModule, 'nn.VolumetricMaxPooling') then
      raise("nn.VolumetricMaxUnpooling: argument 'pooling' is of type " .. torch.type(poolingModule)
         .. ', wanted an nn.VolumetricMaxPooling')
   end
   self.pooling = poolingModule
end

function VolumetricMaxUnpooling:updateOutput(input)
   if not self.pooling.inputSize then
      raise('nn.VolumetricMaxUnpooling: the pooling module has no indices; call its forward first')
   end
   local size = self.pooling.inputSize:totable()
   local n = #size
   self.indices = self.pooling.indices
   lib.maxunpool_forward(self.output, input, self.indices, 3,
      window.sizes(size[n - 2], size[n - 1], size[n]))
   return self.output
end

function VolumetricMaxUnpooling:updateGradInput(_, gradOutput)
   lib.maxunpool_backward(self.gradInput, gradOutput, self.indices, 3)
   return self.gradInput
end

-- Drops the reference to the indices, which belong to the pooling module.
function VolumetricMaxUnpooling:clearState()
   self.indices = nil
   return parent.clearState(self)
end

function VolumetricMaxUnpooling:__tostring__()
   return torch.type(self) .. ' associated to ' .. tostring(self.pooling)
end

VolumetricMaxUnpooling.empty = VolumetricMaxUnpooling.clearState -- its old name

return VolumetricMaxUnpooling
