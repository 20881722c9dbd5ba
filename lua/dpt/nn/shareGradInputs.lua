--- dpt.nn.shareGradInputs: makes the gradInputs of a network share a few storages.
--
-- Invariant: during backward, no module writes its gradInput into a storage that is still to be
-- read. A slot is such a storage. A module that is not known to write its own gradInput (classes of
-- scripts, views, modules used twice in the network) keeps it, and counts as a view of its
-- gradOutput.
local torch = require 'dpt.tensor'
local expect = require 'dpt.class.expect'

-- Classes of nn, and those of cudnn with the same names, that write their own gradInput once and
-- completely, unless they work in place.
local own = {}
for name in ([[
   Linear SpatialConvolution SpatialConvolutionMM SpatialDilatedConvolution SpatialFullConvolution
   SpatialDepthWiseConvolution VolumetricConvolution VolumetricDilatedConvolution
   VolumetricFullConvolution BatchNormalization SpatialBatchNormalization
   VolumetricBatchNormalization LayerNormalization LayerNorm RMSNorm GroupNorm InstanceNorm
   SpatialMaxPooling SpatialAveragePooling SpatialDilatedMaxPooling SpatialAdaptiveMaxPooling
   SpatialAdaptiveAveragePooling VolumetricMaxPooling VolumetricAveragePooling SpatialCrossMapLRN
   SpatialZeroPadding SpatialReflectionPadding SpatialReplicationPadding Threshold ReLU ReLU6
   LeakyReLU ELU GELU SiLU HardTanh Clamp Sigmoid Tanh LogSigmoid SoftPlus SoftSign SoftMax
   LogSoftMax Dropout SpatialDropout Recompute MultiheadAttention PositionEmbedding RotaryEmbedding
]]):gmatch '%w+' do own['nn.' .. name], own['cudnn.' .. name] = true, true end

local function union(...)
   local set = {}
   for _, other in ipairs{...} do
      for slot in pairs(other) do set[slot] = true end
   end
   return set
end

-- Returns the first unused slot.
local function firstFreeSlot(used)
   local slot = 1
   while used[slot] do slot = slot + 1 end
   return slot
end

local function assignSlot(walk, module, slot)
   local key = torch.typename(module.gradInput) .. slot
   walk.slots[key] = walk.slots[key] or module.gradInput.new(1)
   module.gradInput = module.gradInput.new(walk.slots[key]:storage(), 1, 0)
   return {[slot] = true}
end

-- Functions that assign slots within a container, by class. Each receives the slots of the
-- gradOutput and those whose content must outlive the call, and returns the gradInput's slots.
local assigners = {}

local function share(walk, module, gradOutput, held)
   if walk.count[module] > 1 then return gradOutput end
   local class = torch.typename(module)
   if assigners[class] then return assigners[class](walk, module, gradOutput, held) end
   if own[class] and torch.isTensor(module.gradInput) and not module.inplace then
      return assignSlot(walk, module, firstFreeSlot(union(gradOutput, held)))
   end
   return gradOutput
end

assigners['nn.Sequential'] = function(walk, module, gradOutput, held)
   for i = #module.modules, 1, -1 do
      gradOutput = share(walk, module.modules[i], gradOutput, held)
   end
   return gradOutput
end

-- The sum of the branches is initialized with a copy of the first branch's gradInput.
assigners['nn.ConcatTable'] = function(walk, module, gradOutput, held)
   local used, sum = union(gradOutput, held), {}
   if torch.isTensor(module.gradInput) then sum = assignSlot(walk, module, firstFreeSlot(used)) end
   for _, branch in ipairs(module.modules) do
      share(walk, branch, gradOutput, union(used, sum))
   end
   return sum
end
assigners['nn.Concat'] = assigners['nn.ConcatTable']
assigners['nn.DepthConcat'] = assigners['nn.ConcatTable']

assigners['nn.ParallelTable'] = function(walk, module, gradOutput, held)
   local all = gradOutput
   for _, branch in ipairs(module.modules) do
      all = union(all, share(walk, branch, gradOutput, union(held, all)))
   end
   return all
end

--- Makes the modules of a network share a few storages for their gradInputs. A storage is reused as
-- soon as backward no longer reads it, so a training step needs memory for the outputs, the
-- parameters and only two to four of the largest gradInputs. After backward, only the network's own
-- gradInput is valid; do not call accGradParameters separately. clearState ends the sharing. Call
-- this function after the network is moved (:cuda()), and again after modules are added.
-- @function nn.utils.shareGradInputs
-- @within nn containers
-- @param net module: the containers Sequential, ConcatTable, Concat and ParallelTable are traversed
-- @return the network
-- @raise if net is not a module
-- @usage nn.utils.shareGradInputs(nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(
--       nn.Linear(4, 2))):size() --> 3
-- @follows fb.resnet.torch's shareGradInput, for any order of modules
return function(net)
   if not torch.isTypeOf(net, 'nn.Module') then
      expect('nn.utils.shareGradInputs', 'net', net, 'module')
   end
   local walk = {slots = {}, count = {}}
   net:apply(function(module) walk.count[module] = (walk.count[module] or 0) + 1 end)
   share(walk, net, {}, {})
   return net
end
