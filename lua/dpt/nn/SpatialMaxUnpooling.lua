--- nn.SpatialMaxUnpooling(pooling): inverts max pooling: puts every element back at the position of
-- its maximum and sets all others to zero.
-- Invariant: output has the size of the pooling module's last input.
-- @function nn.SpatialMaxUnpooling
-- @within nn pooling
-- @as layer
-- @return a module; forward: the pooling's output size -> the pooling's input size
-- @usage local pool = nn.SpatialMaxPooling(2, 2, 2, 2)
--    local small = pool:forward(torch.ones(1, 4, 4))
--    return nn.SpatialMaxUnpooling(pool):forward(small):size() --> 1x4x4

local torch = require 'dpt.tensor'
local window = require 'dpt.nn.window'
local dptffi = require 'dpt.ffi'
local raise, lib = dptffi.raise, dptffi.lib

local SpatialMaxUnpooling, parent = torch.class('nn.SpatialMaxUnpooling', 'nn.Module')

function SpatialMaxUnpooling:__init(poolingModule)
   parent.__init(self)
   if not torch.isTypeOf(poolingModule, 'nn.SpatialMaxPooling') then
      raise("nn.SpatialMaxUnpooling: argument 'pooling' is of type " .. torch.type(poolingModule)
         .. ', wanted an nn.SpatialMaxPooling')
   end
   self.pooling = poolingModule
end

function SpatialMaxUnpooling:updateOutput(input)
   if not self.pooling.inputSize then
      raise('nn.SpatialMaxUnpooling: the pooling module has no indices; call its forward first')
   end
   local size = self.pooling.inputSize:totable()
   local n = #size
   self.indices = self.pooling.indices
   lib.maxunpool_forward(self.output, input, self.indices, 2,
      window.sizes(size[n - 1], size[n]))
   return self.output
end

function SpatialMaxUnpooling:updateGradInput(_, gradOutput)
   lib.maxunpool_backward(self.gradInput, gradOutput, self.indices, 2)
   return self.gradInput
end

-- Drops the reference to the indices, which belong to the pooling module.
function SpatialMaxUnpooling:clearState()
   self.indices = nil
   return parent.clearState(self)
end

function SpatialMaxUnpooling:__tostring__()
   return torch.type(self) .. ' associated to ' .. tostring(self.pooling)
end

SpatialMaxUnpooling.empty = SpatialMaxUnpooling.clearState -- its old name

return SpatialMaxUnpooling
