--- nn.MixedPrecision(module, type, options): trains a network of floats with 16-bit weights and
-- activations, and float master parameters, as PyTorch's FSDP with its MixedPrecision policy does.
--
--    net = nn.MixedPrecision(net:float(), 'bfloat16')     -- or net:cuda()
--    x, g = net:getParameters()                           -- floats, both
--
-- getParameters and parameters return the floats that an optimizer updates (the masters) and their
-- gradients, which are floats as well; the modules inside work on 16-bit copies of the masters.
-- optim.sgd, adam and adamw write a master and its copy in one pass; after any other write, the
-- next forward converts all masters by one operation. A value that a script writes to a 16-bit
-- weight is copied to its master. Inputs and gradOutput are converted to 16 bits, outputs and
-- gradInput to floats. Parameters and statistics of normalization stay in float, as do modules
-- whose class is not in the list below; the option precision changes this. Gradients of half need
-- optim.LossScaler.
--
-- Copies by torch.save are the network itself with its masters, without this wrapper and its 16-bit
-- tensors. nn.DataParallelTable and nn.DistributedDataParallel are put around the wrapper:
-- nn.DataParallelTable then sends 16-bit parameters.
--
-- Classes that work in 16 bits (`reduced`): containers, convolutions, nn.Linear, nn.LookupTable,
-- recurrent networks, attention, pooling, upsampling, padding, nn.Dropout, activations other than
-- exponentials, and modules that rearrange or combine tensors element by element. Classes with
-- 16-bit activations beside float parameters (`parameters`): nn.BatchNormalization, nn.LayerNorm,
-- nn.RMSNorm, nn.GroupNorm, and their subclasses. All other classes stay in `float`: soft-max and
-- its relatives, exponentials, logarithms, sums, means, distances, losses, and classes of scripts.
-- Invariant: outside of calls, every 16-bit weight is its master, rounded to nearest even, unless a
-- script has written to one of them.
-- @function nn.MixedPrecision
-- @within nn containers
-- @as layer
-- @follows PyTorch's torch.autocast, and FSDP's MixedPrecision
-- @param type 'bfloat16' or 'half'
-- @param options {precision = table from names of classes, or modules, to 'reduced', 'parameters'
--    or 'float'}
-- @raise if the network is not of floats, has parameters without gradients, or contains
--    nn.DataParallelTable, nn.DistributedDataParallel or nn.GPU
-- @return a module; forward: the module's input, in floats or indices -> its output, in floats
-- @usage local net = nn.MixedPrecision(nn.Linear(3, 2):float(), 'bfloat16')
--    local y = net:forward(torch.FloatTensor(4, 3):fill(1))
--    return y:type(), net:get(1).weight:type(), net:getParameters():type()
--    --> torch.FloatTensor, torch.BFloat16Tensor, torch.FloatTensor

local torch = require 'dpt.tensor'
local copyTree = require 'dpt.clone'
local updates = require 'dpt.updates'
local Masters = require 'dpt.masters'
local conversion = require 'dpt.nn.MixedPrecision.conversion'
local passes = require 'dpt.nn.MixedPrecision.passes'
local places = require 'dpt.nn.MixedPrecision.places'
local precision = require 'dpt.nn.MixedPrecision.precision'
local child = require 'dpt.nn.child'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local MixedPrecision, parent = torch.class('nn.MixedPrecision', 'nn.Decorator')
MixedPrecision.leavesGradients = true

--- Fields of a pass, and recorded places, which depend on the process.
MixedPrecision.transient = {'buffers_', 'given_', 'input_', 'result_', 'places_'}

for name, method in pairs(passes) do MixedPrecision[name] = method end

local function fail(format, ...) return dptffi.fail('nn.MixedPrecision: ' .. format, ...) end

function MixedPrecision:__init(module, name, options)
   if not conversion.types[name] then
      fail("argument 'type' is %s, wanted 'bfloat16' or 'half'",
         type(name) == 'string' and "'" .. name .. "'" or torch.type(name))
   end
   parent.__init(self, module)
   self.reduced, self.precision = name, precision.check(options)
   self:resetTransient()
   conversion.adopt(self)
end

--- Creates the buffers of passes; a copy registers its masters. A copy in another Lua state is a
-- replica.
function MixedPrecision:resetTransient()
   passes.resetTransient(self)
   if self.masters and getmetatable(self.masters) ~= Masters then
      self:dropMasters()
   elseif self.masters then
      self.masters:register()
      places.record(self)
   end
end

--- Adapts to changes of the network by a script, and makes masters and 16-bit weights equal. All
-- methods call it. Replicas of nn.DataParallelTable have no masters.
-- @function nn.MixedPrecision:refresh
-- @as author
-- @return nothing
-- @usage local net = nn.MixedPrecision(nn.Add(1):float(), 'half')
--    net:get(1).bias:fill(0.5)
--    net:refresh()
--    return (net:getParameters()) --> [0.5]
function MixedPrecision:refresh()
   if self.failed then conversion.adopt(self) end
   if not self.masters then return end
   if places.haveChanged(self) then conversion.adopt(self) end
   self.masters:refresh()
end

--- Returns a network of floats that shares the masters. torch.save writes it.
-- @function nn.MixedPrecision:floats
-- @as method
-- @within nn containers
-- @follows dpt's own
-- @return a module: a copy of the network without conversions that shares running statistics, and
--    whose parameters and gradients are views of those that getParameters returns
-- @usage local net = nn.MixedPrecision(nn.Linear(3, 2):float(), 'half')
--    return net:get(1).weight:type(), net:floats().weight:type()
--    --> torch.HalfTensor, torch.FloatTensor
function MixedPrecision:floats()
   self:refresh()
   return conversion.floats(self)
end

MixedPrecision.__saved = MixedPrecision.floats

--- Copies the module after making masters and 16-bit weights equal.
function MixedPrecision:__clone(plain)
   self:refresh()
   return plain()
end

--- Frees the masters: nn.DataParallelTable calls this for its replicas, which receive 16-bit
-- parameters.
-- @function nn.MixedPrecision:dropMasters
-- @as author
-- @return nothing
-- @usage local net = nn.MixedPrecision(nn.Linear(3, 2):float(), 'half')
--    net:dropMasters()
--    return net:parameters()[1]:type() --> torch.HalfTensor
function MixedPrecision:dropMasters()
   self.masters, self.gradients, self.views = nil, nil, nil
   self.tensors, self.tensorGradients, self.places_ = nil, nil, nil
end

--- Returns the float parameters and gradients; on a replica, the 16-bit parameters.
function MixedPrecision:parameters()
   self:refresh()
   if not self.masters then return parent.parameters(self) end
   return {unpack(self.tensors)}, {unpack(self.tensorGradients)}
end

--- Returns the parameters that modules work with, and the gradients.
function MixedPrecision:workingParameters()
   self:refresh()
   return parent.parameters(self)
end

--- Returns the flat float parameters and gradients, in the order of the network's own.
function MixedPrecision:getParameters()
   self:refresh()
   if not self.masters then return parent.getParameters(self) end
   return updates.registerFlat(self.masters.flat), updates.registerFlat(self.gradients)
end

function MixedPrecision:zeroGradParameters()
   self:refresh()
   if not self.masters then return parent.zeroGradParameters(self) end
   self.gradients:zero()
end

function MixedPrecision:updateParameters(learningRate)
   self:refresh()
   if not self.masters then return parent.updateParameters(self, learningRate) end
   local rate = tonumber(learningRate) or fail("updateParameters: argument 'learningRate' is %s,"
      .. ' wanted a number', child.describe(learningRate))
   self.masters.flat:add(-rate, self.gradients)
   self.masters:refresh()
end

-- Ends a pass: modules may have written to weights (maxNorm of nn.LookupTable), or added copies of
-- themselves (nn.MapTable).
local function endPass(self)
   if not self.masters then return end
   self.masters:refresh()
   if places.hasNewModules(self) then conversion.addShared(self) end
end

-- Begins a backward pass: a script may have updated the masters since the forward.
local function beginBackward(self)
   if not self.result_ then fail('backward before forward') end
   if self.masters then self.masters:refresh() end
end

function MixedPrecision:updateOutput(input)
   self:refresh()
   passes.updateOutput(self, input)
   endPass(self)
   return self.output
end

function MixedPrecision:updateGradInput(input, gradOutput)
   beginBackward(self)
   return passes.updateGradInput(self, input, gradOutput)
end

function MixedPrecision:accGradParameters(input, gradOutput, scale)
   beginBackward(self)
   passes.accGradParameters(self, input, gradOutput, scale)
end

function MixedPrecision:backward(input, gradOutput, scale)
   beginBackward(self)
   passes.backward(self, input, gradOutput, scale)
   endPass(self)
   return self.gradInput
end

function MixedPrecision:accUpdateGradParameters()
   fail('accUpdateGradParameters would update 16-bit weights; call backward and then'
      .. ' updateParameters(learningRate)')
end
MixedPrecision.sharedAccUpdateGradParameters = MixedPrecision.accUpdateGradParameters

--- Returns the type of the masters; with a name, moves the network: torch.FloatTensor or
-- torch.CudaTensor.
function MixedPrecision:type(typename, tensorCache)
   if not typename then return self._type end
   if not conversion.types[self.reduced][typename] then
      fail('type wants torch.FloatTensor or torch.CudaTensor, got %s: the masters are floats',
         tostring(typename))
   end
   if self.masters then conversion.release(self) end
   parent.type(self, typename, tensorCache)
   conversion.adopt(self)
   return self
end

--- Draws new initial values in float.
function MixedPrecision:reset(stdv)
   self:refresh()
   conversion.release(self)
   self.modules[1]:reset(stdv)
   conversion.adopt(self)
end

function MixedPrecision:clone(...)
   if select('#', ...) > 0 then
      fail('clone cannot share %s with another network: share before the network is wrapped',
         tostring((...)))
   end
   return copyTree(self)
end

function MixedPrecision:add()
   fail('add: the wrapper has one network: add modules to it, such as net:get(1):add(module)')
end

function MixedPrecision:share()
   fail('share would separate 16-bit weights from the masters: share before the network is wrapped')
end

function MixedPrecision:clearState()
   self:refresh()
   return parent.clearState(self)
end

function MixedPrecision:__tostring__()
   return ('%s(%s) @ %s'):format(torch.type(self), self.reduced, tostring(self.modules[1]))
end

return MixedPrecision
