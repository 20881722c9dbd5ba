--- nn.utils.shareGradInputs: gradInputs of a network in a few storages, in turn.
--
-- Invariant: no module's gradInput lies in a storage whose content is still to be read when the
-- module writes it, in a call of backward. A slot is such a storage. What is not known to write
-- a gradInput of its own (classes of scripts, views, modules that stand in the network twice) keeps
-- what it has, and counts as a view of its gradOutput.
local torch = require 'dpt.tensor'
local want = require 'dpt.class.want'

-- Classes of nn, and those of cudnn by the same names, whose gradInput is a tensor of their own
-- that they write once, whole, unless they work in place.
local own = {}
for name in ([[
   Linear SpatialConvolution SpatialConvolutionMM SpatialDilatedConvolution SpatialFullConvolution
   SpatialDepthWiseConvolution VolumetricConvolution VolumetricDilatedConvolution
   VolumetricFullConvolution BatchNormalization SpatialBatchNormalization
   VolumetricBatchNormalization LayerNormalization SpatialMaxPooling SpatialAveragePooling
   SpatialDilatedMaxPooling SpatialAdaptiveMaxPooling SpatialAdaptiveAveragePooling
   VolumetricMaxPooling VolumetricAveragePooling SpatialCrossMapLRN SpatialZeroPadding
   SpatialReflectionPadding SpatialReplicationPadding Threshold ReLU ReLU6 LeakyReLU ELU HardTanh
   Clamp Sigmoid Tanh LogSigmoid SoftPlus SoftSign SoftMax LogSoftMax Dropout SpatialDropout
]]):gmatch '%w+' do own['nn.' .. name], own['cudnn.' .. name] = true, true end

local function union(...)
   local set = {}
   for _, other in ipairs{...} do
      for slot in pairs(other) do set[slot] = true end
   end
   return set
end

-- The first slot that is not in use.
local function free(used)
   local slot = 1
   while used[slot] do slot = slot + 1 end
   return slot
end

local function place(walk, module, slot)
   local key = torch.typename(module.gradInput) .. slot
   walk.slots[key] = walk.slots[key] or module.gradInput.new(1)
   module.gradInput = module.gradInput.new(walk.slots[key]:storage(), 1, 0)
   return {[slot] = true}
end

-- How a container's backward goes, by class: each gets the slots of the gradOutput and those whose
-- content must outlive the call, and returns the slots of the gradInput.
local ways = {}

local function share(walk, module, gradOutput, held)
   if walk.count[module] > 1 then return gradOutput end
   local class = torch.typename(module)
   if ways[class] then return ways[class](walk, module, gradOutput, held) end
   if own[class] and torch.isTensor(module.gradInput) and not module.inplace then
      return place(walk, module, free(union(gradOutput, held)))
   end
   return gradOutput
end

ways['nn.Sequential'] = function(walk, module, gradOutput, held)
   for i = #module.modules, 1, -1 do
      gradOutput = share(walk, module.modules[i], gradOutput, held)
   end
   return gradOutput
end

-- The sum of the branches begins as a copy of the first branch's gradInput.
ways['nn.ConcatTable'] = function(walk, module, gradOutput, held)
   local used, sum = union(gradOutput, held), {}
   if torch.isTensor(module.gradInput) then sum = place(walk, module, free(used)) end
   for _, branch in ipairs(module.modules) do
      share(walk, branch, gradOutput, union(used, sum))
   end
   return sum
end
ways['nn.Concat'], ways['nn.DepthConcat'] = ways['nn.ConcatTable'], ways['nn.ConcatTable']

ways['nn.ParallelTable'] = function(walk, module, gradOutput, held)
   local all = gradOutput
   for _, branch in ipairs(module.modules) do
      all = union(all, share(walk, branch, gradOutput, union(held, all)))
   end
   return all
end

--- Lets the modules of a network keep their gradInputs in a few storages that take turns, as long
-- as backward still reads them: then a training step takes the memory of the outputs, the
-- parameters and of two to four of the largest gradInputs. Only the network's own gradInput is
-- right after backward; accGradParameters is not to be called by itself. clearState ends it. Call
-- it where the network is to stay (after :cuda()), and again after modules were added.
-- @function nn.utils.shareGradInputs
-- @within nn containers
-- @param net module: Sequential, ConcatTable, Concat and ParallelTable are followed
-- @return the network
-- @raise if net is not a module
-- @usage nn.utils.shareGradInputs(nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(
--       nn.Linear(4, 2))):size() --> 3
-- @follows fb.resnet.torch's shareGradInput, for any order of modules
return function(net)
   if not torch.isTypeOf(net, 'nn.Module') then
      want('nn.utils.shareGradInputs', 'net', net, 'module')
   end
   local walk = {slots = {}, count = {}}
   net:apply(function(module) walk.count[module] = (walk.count[module] or 0) + 1 end)
   share(walk, net, {}, {})
   return net
end
