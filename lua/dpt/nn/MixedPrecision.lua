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
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local flatten = require 'dpt.flatten'
local updates = require 'dpt.updates'
local Masters = require 'dpt.masters'
local layout = require 'dpt.parallel.params.layout'
local cast = require 'dpt.nn.MixedPrecision.cast'
local precision = require 'dpt.nn.MixedPrecision.precision'
local child = require 'dpt.nn.child'
local rnnWeights = require 'dpt.rnn.weights'
local transient = require 'dpt.transient'
local dptffi = require 'dpt.ffi'
local C, type = dptffi.C, dptffi.type

local MixedPrecision, parent = torch.class('nn.MixedPrecision', 'nn.Decorator')
MixedPrecision.leavesGradients = true

--- Fields of a pass, and recorded places, which depend on the process.
MixedPrecision.transient = {'buffers_', 'given_', 'input_', 'result_', 'places_'}

local NAME = 'nn.MixedPrecision'

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

-- Names of types: the 16-bit type by the name of its method and the float type.
local reducedTypes = {}
for kind, element in pairs(core.elements) do
   if element.isReduced then
      local onDevice = kind + core.ON_DEVICE
      reducedTypes[core.methodNames[kind]] = {
         [core.tensorNames[core.FLOAT]] = core.tensorNames[kind],
         [core.tensorNames[core.FLOAT + core.ON_DEVICE]] = core.tensorNames[onDevice],
      }
   end
end

function MixedPrecision:__init(module, name, options)
   if not reducedTypes[name] then
      fail("argument 'type' is %s, wanted 'bfloat16' or 'half'",
         type(name) == 'string' and "'" .. name .. "'" or torch.type(name))
   end
   parent.__init(self, module)
   self.reduced, self.precision = name, precision.check(options)
   self:resetTransient()
   self:_adopt()
end

--- Creates the buffers of passes; a copy registers its masters. A copy in another Lua state is a
-- replica.
function MixedPrecision:resetTransient()
   self.buffers_ = {}
   if self.masters and getmetatable(self.masters) ~= Masters then
      self:dropMasters()
   elseif self.masters then
      self.masters:register()
      self:_recordPlaces()
   end
end

-- Returns the type of the network's floats. Raises unless all parameters and gradients have it.
local function floatTypeOf(module, name)
   local tensors, gradients = module:parameters()
   tensors, gradients = tensors or {}, gradients or {}
   local float = tensors[1] and tensors[1]:type() or module:type()
   for i, t in ipairs(tensors) do
      local g = gradients[i]
      if not g then fail('parameter %d has no gradient', i) end
      for _, one in ipairs{t, g} do
         if not reducedTypes[name][one:type()] or one:type() ~= float then
            fail('%s %d is a %s, wanted %s: call float() or cuda() of the network first',
               one == t and 'parameter' or 'gradient', i, one:type(),
               reducedTypes[name][float] and 'a ' .. float
                  or 'a torch.FloatTensor or torch.CudaTensor')
         end
      end
   end
   if not reducedTypes[name][float] then
      fail('the network has the type %s, wanted torch.FloatTensor or torch.CudaTensor: call float()'
         .. ' or cuda() of it first', float)
   end
   return float
end

-- Returns the names of the float and of the 16-bit type.
local function typesOf(self) return {self._type, reducedTypes[self.reduced][self._type]} end

-- Returns the kinds of floats and of 16-bit tensors.
local function kindsOf(self)
   local float = self._type
   return core.kinds[float], core.kinds[reducedTypes[self.reduced][float]]
end

-- Returns true if the runs of elements of two sorted lists overlap.
local function overlap(a, b)
   for _, one in ipairs(a) do
      local first, last = core.extent(one)
      for _, other in ipairs(b) do
         if one.storage_ == other.storage_ and one.storage_ ~= nil then
            local low, high = core.extent(other)
            if low <= last and high >= first then return true end
         end
      end
   end
   return false
end

-- Sorts the network's parameters into those with 16-bit copies and those that stay in float, after
-- inserting conversions around modules that stay in float.
-- @return the list of parameters with 16-bit copies, that of parameters that stay in float, and the
-- set of all tensors that stay in float
local function sort(self)
   local stays, isReduced, isShared = {}, {}, false
   precision.wrap(self, typesOf(self), self.precision, true, function(module, how)
      if how == 'reduced' then
         for _, t in ipairs(not module.modules and module:parameters() or {}) do
            isReduced[t] = true
         end
         return
      end
      for _, inner in ipairs(module:listModules()) do
         -- the method of the class: a script may freeze a module by a method of its own
         local tensors, gradients = getmetatable(inner).parameters(inner)
         for _, list in ipairs{tensors or {}, gradients or {}, inner:runningStatistics()} do
            for _, t in ipairs(list) do stays[t] = true end
         end
      end
   end)
   local reduced, kept, seen = {}, {}, {}
   for _, t in ipairs(self.modules[1]:parameters() or {}) do
      if not seen[t] then table.insert(stays[t] and kept or reduced, t) end
      seen[t] = true
   end
   for t in pairs(stays) do isShared = isShared or isReduced[t] end
   if isShared or overlap(kept, reduced) then
      fail('a parameter is shared by a module that works in 16 bits and one that stays in float;'
         .. ' the option precision can give both modules one precision')
   end
   return reduced, kept, stays
end

-- Returns the view of a flat tensor that has the place of t in another flat tensor.
local function viewOf(t, from, to)
   local view = to.new()
   if t:nElement() == 0 then return t:dim() > 0 and view:resize(t:size()) or view end
   return view:set(to:storage(), to:storageOffset() + t:storageOffset() - from:storageOffset(),
      t:size(), t:stride())
end

-- Raises if a recurrent network's weight has another layout in 16 bits.
local function checkLayouts(module, views)
   for _, inner in ipairs(module:listModules()) do
      local view = torch.isTypeOf(inner, 'nn.RNN') and views[inner.weight]
      if view and not rnnWeights.hasSameLayout(inner, inner.weight, view) then
         fail("%s: the weight's layout in 16 bits differs from that in float, which is not"
            .. " supported; use the option precision = {['%s'] = 'float'}", torch.type(inner),
            torch.type(inner))
      end
   end
end

local function writesOf(t) return tonumber(C.dpt_storage_writes(t.storage_)) end

-- Records the other tensors of modules that a conversion to 16 bits has replaced, such as weights
-- of frozen layers: their floats are used when the network becomes one of floats again.
local function recordOthers(self, before)
   local list = {}
   for object, fields in pairs(before) do
      for key, t in pairs(fields) do
         local now = object[key]
         if not self.views[now] and torch.isTensor(now) and now:type() ~= t:type() then
            list[#list + 1] = {now, t, writesOf(now)}
         end
      end
   end
   return list
end

-- Returns the float tensors in fields of modules that passes do not overwrite.
local function otherTensors(module, excluded)
   local before = {}
   for _, inner in ipairs(module:listModules()) do
      local skip, fields = transient.fieldsOf(inner), {}
      for key, value in next, inner do
         if torch.isTensor(value) and not excluded[value] and not skip[key] and key ~= 'output'
            and key ~= 'gradInput' and value:nElement() > 0 then fields[key] = value end
      end
      before[inner] = fields
   end
   return before
end

--- Makes a network of floats one of 16 bits, with masters.
function MixedPrecision:_adopt()
   if self.masters then self:_release() end
   self.failed = true -- until the end: after an error, the next call adopts the network
   local module, name = self.modules[1], self.reduced
   local float = floatTypeOf(module, name)
   self._type = float
   local ok, message = pcall(function()
      local reduced, kept, stays = sort(self)
      local like = reduced[1] or kept[1] or torch.getmetatable(float).new()
      cutorch.withDeviceOf(like, self._convert, self, reduced, kept, stays, like)
   end)
   if not ok then
      precision.unwrap(self)
      error(message, 0)
   end
   self.failed = nil
end

-- Returns the positions of the elements of views of a flat tensor, as a LongTensor, and by tensor
-- the index of its first element in it.
local function positionsOf(list, flat)
   local laid, first, before = flatten.layout(list), {}, 0
   local positions = torch.LongTensor(laid.total)
   for _, segment in ipairs(laid.segments) do
      local start, count = segment:storageOffset() - flat:storageOffset(), segment:nElement()
      positions:narrow(1, before + 1, count):range(start + 1, start + count)
      before = before + count
   end
   for i, t in ipairs(list) do first[t] = laid.offsets[i] end
   return positions, first
end

-- Makes a module's float parameter a view of the float copy; its elements in the masters get a new
-- tensor.
local function keep(self, t, first)
   local master = t.new():set(t)
   if t:nElement() > 0 then t:set(self.masters.kept:storage(), first, t:size(), t:stride()) end
   self.views[t] = {master = master, place = t.new():set(t)}
   return master
end

-- Implements _adopt on the device of the parameters.
function MixedPrecision:_convert(reduced, kept, stays, like)
   local module, typename = self.modules[1], typesOf(self)[2]
   local tensors, gradients = module:parameters()
   local flat, flatGradient = like.new(), like.new()
   if #(tensors or {}) > 0 then
      flat, flatGradient = flatten.flattenPair(tensors, gradients, NAME)
   end
   local positions, first = positionsOf(kept, flat)
   self.masters = Masters.new(flat, typename, positions)
   self.gradients, self.views = flatGradient, {}
   local cache, views, masters = {}, {}, {}
   for t in pairs(stays) do cache[t] = t end
   for _, t in ipairs(gradients or {}) do cache[t] = t end
   for _, t in ipairs(reduced) do
      local view = viewOf(t, flat, self.masters.copy)
      cache[t], views[t] = view, view
      self.views[view] = {master = t, place = view.new():set(view)}
   end
   checkLayouts(module, views)
   for i, t in ipairs(tensors or {}) do
      masters[i] = stays[t] and (self.views[t] and self.views[t].master or keep(self, t, first[t]))
         or t
   end
   self.tensors, self.tensorGradients = masters, gradients or {}
   local others = otherTensors(module, cache)
   module:type(typename, cache)
   self.masters.others = recordOthers(self, others) -- nn.DataParallelTable must not watch them
   self.keepsInput = precision.keepsInput(self.modules[1])
   self:_recordPlaces()
end

-- Returns a view of the masters for a tensor in the memory of the copies; nil: it is elsewhere.
local function masterOf(self, t)
   local flat, copy, kept = self.masters.flat, self.masters.copy, self.masters.kept
   if t.storage_ == nil then return nil end
   if t.storage_ == copy.storage_ then return viewOf(t, copy, flat) end
   if t.storage_ ~= kept.storage_ then return nil end
   local first = self.masters.indices[t:storageOffset() - kept:storageOffset() + 1]
   return flat.new():set(flat:storage(), flat:storageOffset() + first - 1, t:size(), t:stride())
end

-- Appends the lists of children of a module and of the modules inside it, with their contents.
local function addStructure(lists, contents, module)
   local modules = module.modules
   if not modules then return end
   lists[#lists + 1], contents[#contents + 1] = modules, {unpack(modules)}
   for _, inner in ipairs(modules) do addStructure(lists, contents, inner) end
end

-- Returns true if modules were added, removed or replaced.
local function hasNewModules(places)
   for i, modules in ipairs(places.lists) do
      local known = places.contents[i]
      if #modules ~= #known then return true end
      for k = 1, #known do
         if not rawequal(modules[k], known[k]) then return true end
      end
   end
   return false
end

--- Records the modules and the addresses of all parameters and gradients.
function MixedPrecision:_recordPlaces()
   local masters = {n = #self.tensors}
   for i, t in ipairs(self.tensors) do
      masters[i], masters[masters.n + i] = t, self.tensorGradients[i]
   end
   local places = {lists = {}, contents = {}, masters = layout.recordPlaces(masters),
      working = layout.recordPlaces(layout.describe(self.modules[1]))}
   addStructure(places.lists, places.contents, self)
   self.places_ = places
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
   if self.failed then self:_adopt() end
   if not self.masters then return end
   local places = self.places_
   if hasNewModules(places) or layout.isOther(places.working, self.modules[1])
      or layout.hasMoved(places.working) or layout.hasMoved(places.masters) then
      self:_adopt()
   end
   self.masters:refresh()
end

-- Makes a network of 16 bits one of floats whose parameters are the masters. A parameter that a
-- script has set to other memory has no master; a parameter that a script has frozen gets a copy.
-- @param holder has the network in its list modules
-- @return the network
local function toFloats(self, holder)
   local types, cache = typesOf(self), {}
   local function restore(t, isFrozen)
      local entry = self.views[t]
      local master = entry and t:isSetTo(entry.place) and entry.master or masterOf(self, t)
      if master and isFrozen then master = cutorch.withDeviceOf(master, master.clone, master) end
      if master and torch.type(t) == types[1] then
         t:set(master)
      else
         cache[t] = master
      end
   end
   local trained = {}
   for _, t in ipairs(holder.modules[1]:parameters() or {}) do
      trained[t] = true
      restore(t)
   end
   for _, module in ipairs(holder.modules[1]:listModules()) do
      for _, t in next, module do
         if torch.isTensor(t) and not trained[t] then restore(t, true) end
      end
   end
   for _, entry in ipairs(self.masters.others) do
      local now, before, writes = unpack(entry)
      if writesOf(now) == writes then cache[now] = before end
   end
   precision.unwrap(holder)
   return holder.modules[1]:type(types[1], cache)
end

--- Makes the network one of floats, whose parameters are the masters.
function MixedPrecision:_release()
   self.masters:refresh()
   toFloats(self, self)
   self.masters, self.gradients, self.views = nil, nil, nil
   self.tensors, self.tensorGradients, self.places_ = nil, nil, nil
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
   local seen, masters = {level = 0}, self.masters
   for _, t in ipairs{masters.flat, masters.copy, masters.kept, self.gradients} do
      if t:nElement() > 0 then seen[comm.address(t)] = t:storage() end
   end
   for _, entry in ipairs(masters.others) do seen[entry[1]] = entry[1] end
   for _, module in ipairs(self.modules[1]:listModules()) do
      for _, t in ipairs(module:runningStatistics()) do seen[t] = t end
   end
   return toFloats(self, {modules = {copyTree(self.modules[1], seen)}})
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
   self.masters, self.views = nil, nil
   self.tensors, self.tensorGradients, self.gradients, self.places_ = nil, nil, nil, nil
end

-- Returns a copy of a list.
local function listOf(list) return {unpack(list)} end

--- Returns the float parameters and gradients; on a replica, the 16-bit parameters.
function MixedPrecision:parameters()
   self:refresh()
   if not self.masters then return parent.parameters(self) end
   return listOf(self.tensors), listOf(self.tensorGradients)
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

-- Returns a value in 16 bits, except what the first modules take in other types.
local function inward(self, key, value, keeps)
   if keeps == true then return value end
   local float, reduced = kindsOf(self)
   if not keeps or torch.type(value) ~= 'table' then
      return cast.to(self.buffers_, key, value, float, reduced)
   end
   local list = {}
   for k, v in pairs(value) do list[k] = inward(self, key .. tostring(k), v, keeps[k]) end
   return list
end

-- Adds parameters that a pass has made by copies of modules that share their weights.
local function addShared(self)
   local tensors, gradients = self.modules[1]:parameters()
   local list = {}
   for i, t in ipairs(tensors) do
      local entry = self.views[t]
      local master = entry and entry.master or masterOf(self, t)
      if master and not entry then
         self.views[t] = {master = master, place = t.new():set(t)}
      end
      list[i] = master or t
   end
   self.tensors, self.tensorGradients = list, gradients
end

-- Ends a pass: modules may have written to weights (maxNorm of nn.LookupTable), or added copies of
-- themselves (nn.MapTable).
local function endPass(self)
   if not self.masters then return end
   self.masters:refresh()
   if hasNewModules(self.places_) then
      addShared(self)
      self:_recordPlaces()
   end
end

-- Returns the converted input of the last forward, or converts the given one to other
-- memory: in threads it is another object, and modules compare the input with that of forward.
local function given(self, input)
   if not self.result_ then fail('backward before forward') end
   if self.masters then self.masters:refresh() end -- a script may have updated them
   if not rawequal(input, self.input_) then
      self.given_, self.input_ = inward(self, 'again', input, self.keepsInput), input
   end
   return self.given_
end

function MixedPrecision:updateOutput(input)
   self:refresh()
   self.given_, self.input_ = inward(self, 'input', input, self.keepsInput), input
   self.result_ = self.modules[1]:updateOutput(self.given_)
   endPass(self)
   local float, reduced = kindsOf(self)
   self.output = cast.to(self.buffers_, 'output', self.result_, reduced, float)
   return self.output
end

-- Converts a value to the types of its counterparts.
local function like(self, key, value, other)
   return cast.like(self.buffers_, key, value, other, kindsOf(self))
end

function MixedPrecision:updateGradInput(input, gradOutput)
   local gradInput = self.modules[1]:updateGradInput(given(self, input),
      like(self, 'gradOutput', gradOutput, self.result_))
   self.gradInput = like(self, 'gradInput', gradInput, input)
   return self.gradInput
end

function MixedPrecision:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(given(self, input),
      like(self, 'gradOutput', gradOutput, self.result_), scale)
end

function MixedPrecision:backward(input, gradOutput, scale)
   local gradInput = self.modules[1]:backward(given(self, input),
      like(self, 'gradOutput', gradOutput, self.result_), scale)
   self.gradInput = like(self, 'gradInput', gradInput, input)
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
   if not reducedTypes[self.reduced][typename] then
      fail('type wants torch.FloatTensor or torch.CudaTensor, got %s: the masters are floats',
         tostring(typename))
   end
   if self.masters then self:_release() end
   parent.type(self, typename, tensorCache)
   self:_adopt()
   return self
end

--- Draws new initial values in float.
function MixedPrecision:reset(stdv)
   self:_release()
   self.modules[1]:reset(stdv)
   self:_adopt()
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

--- Returns the split of the inner module.
function MixedPrecision:inputSplit(input) return self.modules[1]:inputSplit(input) end
function MixedPrecision:outputSplit(split) return self.modules[1]:outputSplit(split) end

function MixedPrecision:__tostring__()
   return ('%s(%s) @ %s'):format(torch.type(self), self.reduced, tostring(self.modules[1]))
end

return MixedPrecision
