--- dpt.nn.MixedPrecision.conversion: converts the network in an nn.MixedPrecision from floats to 16
-- bits, with float masters, and back.
--
-- Invariant: the wrapper has these fields between adopt and release:
--    masters: the dpt.masters of all parameters
--    gradients: the flat gradient
--    tensors, tensorGradients: lists that parameters() returns; views of masters and gradients
--    views: {master, place} by the tensor that modules use instead of a parameter; place is a copy
--       of the tensor's header, to detect that a script has set the tensor to other memory
--    kinds_, keepsInput: fields of dpt.nn.MixedPrecision.passes
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local flatten = require 'dpt.flatten'
local Masters = require 'dpt.masters'
local places = require 'dpt.nn.MixedPrecision.places'
local precision = require 'dpt.nn.MixedPrecision.precision'
local rnnWeights = require 'dpt.rnn.weights'
local transient = require 'dpt.transient'
local dptffi = require 'dpt.ffi'

local M = {}

local NAME = 'nn.MixedPrecision'

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

--- Names of the 16-bit types, by method ('half') and float type ('torch.FloatTensor').
M.types = {}
for kind, element in pairs(core.elements) do
   if element.isReduced then
      local onDevice = kind + core.ON_DEVICE
      M.types[core.methodNames[kind]] = {
         [core.tensorNames[core.FLOAT]] = core.tensorNames[kind],
         [core.tensorNames[core.FLOAT + core.ON_DEVICE]] = core.tensorNames[onDevice],
      }
   end
end

-- Returns the type of the network's floats. Raises unless all parameters and gradients have this
-- type.
local function floatTypeOf(module, types)
   local tensors, gradients = module:parameters()
   tensors, gradients = tensors or {}, gradients or {}
   local float = tensors[1] and tensors[1]:type() or module:type()
   for i, t in ipairs(tensors) do
      local g = gradients[i]
      if not g then fail('parameter %d has no gradient', i) end
      for _, one in ipairs{t, g} do
         if not types[one:type()] or one:type() ~= float then
            fail('%s %d is a %s, wanted %s: call float() or cuda() of the network first',
               one == t and 'parameter' or 'gradient', i, one:type(),
               types[float] and 'a ' .. float or 'a torch.FloatTensor or torch.CudaTensor')
         end
      end
   end
   if not types[float] then
      fail('the network has the type %s, wanted torch.FloatTensor or torch.CudaTensor: call float()'
         .. ' or cuda() of it first', float)
   end
   return float
end

-- Returns true if tensors of two lists overlap.
local function overlap(a, b)
   for _, one in ipairs(a) do
      for _, other in ipairs(b) do
         if core.overlap(one, other) then return true end
      end
   end
   return false
end

-- Inserts conversions around modules that stay in float, and sorts the network's parameters.
-- @return list of the parameters with 16-bit copies; list of the parameters that stay in float; set
--    of all tensors that stay in float
local function sort(self)
   local reduced, kept, stays, ofReduced, seen = {}, {}, {}, {}, {}
   precision.wrap(self, self.kinds_, self.precision, true, function(module, how)
      if how == 'reduced' then
         for _, t in ipairs(not module.modules and module:parameters() or {}) do
            table.insert(ofReduced, t)
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
   for _, t in ipairs(self.modules[1]:parameters() or {}) do
      if not seen[t] then table.insert(stays[t] and kept or reduced, t) end
      seen[t] = true
   end
   if overlap(kept, ofReduced) or overlap(kept, reduced) then
      fail('a parameter is shared by a module that works in 16 bits and one that stays in float;'
         .. ' the option precision can give both modules one precision')
   end
   return reduced, kept, stays
end

-- Returns a view of the flat tensor `to`, at the offset that t has in the flat tensor `from`.
local function viewOf(t, from, to)
   local view = to.new()
   if t:nElement() == 0 then return t:dim() > 0 and view:resize(t:size()) or view end
   return view:set(to:storage(), to:storageOffset() + t:storageOffset() - from:storageOffset(),
      t:size(), t:stride())
end

-- Records that modules use t instead of a parameter.
local function addView(self, t, master)
   self.views[t] = {master = master, place = t.new():set(t)}
end

-- Makes float parameters views of the float copy, and creates tensors for their masters.
-- @param laid layout of the parameters (dpt.flatten)
local function keep(self, list, laid)
   local copy = self.masters.kept
   for i, t in ipairs(list) do
      local master = t.new():set(t)
      if t:nElement() > 0 then t:set(copy:storage(), laid.offsets[i], t:size(), t:stride()) end
      addView(self, t, master)
   end
end

-- Returns the positions of the segments of a layout in a flat tensor, as a LongTensor.
local function positionsOf(laid, flat)
   local positions, before = torch.LongTensor(laid.total), 0
   for _, segment in ipairs(laid.segments) do
      local start, count = segment:storageOffset() - flat:storageOffset(), segment:nElement()
      positions:narrow(1, before + 1, count):range(start + 1, start + count)
      before = before + count
   end
   return positions
end

-- Raises if a recurrent network's weight has another layout in 16 bits.
local function checkLayouts(module, cache)
   for _, inner in ipairs(module:listModules()) do
      local view = torch.isTypeOf(inner, 'nn.RNN') and cache[inner.weight]
      if view and not rnnWeights.hasSameLayout(inner, inner.weight, view) then
         fail("%s: the weight's layout in 16 bits differs from that in float, which is not"
            .. " supported; use the option precision = {['%s'] = 'float'}", torch.type(inner),
            torch.type(inner))
      end
   end
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

-- Converts the tensors of modules to 16 bits.
-- @param cache tensors that replace the network's parameters and gradients
-- @return list of the other tensors that were converted, such as weights of frozen layers: {tensor,
--    float tensor before the conversion, number of writes to the tensor}
local function convertTensors(module, typename, cache)
   local before, list = otherTensors(module, cache), {}
   module:type(typename, cache)
   for object, fields in pairs(before) do
      for key, t in pairs(fields) do
         local now = object[key]
         if torch.isTensor(now) and now:type() ~= t:type() then
            list[#list + 1] = {now, t, core.writes(now)}
         end
      end
   end
   return list
end

-- Implements adopt for a network of floats.
local function convert(self)
   local new = torch.getmetatable(self._type).new
   local reducedType = core.tensorNames[self.kinds_.reduced]
   local reduced, kept, stays = sort(self)
   local module = self.modules[1] -- after the insertion of conversions
   local tensors, gradients = module:parameters()
   tensors, gradients = tensors or {}, gradients or {}
   local flat, flatGradient = new(), new()
   if #tensors > 0 then flat, flatGradient = flatten.flattenPair(tensors, gradients, NAME) end
   local laid = flatten.layout(kept)
   self.masters = Masters.new(flat, reducedType, positionsOf(laid, flat))
   self.gradients, self.views = flatGradient, {}
   local cache, masters = {}, {}
   for t in pairs(stays) do cache[t] = t end
   for _, g in ipairs(gradients) do cache[g] = g end
   for _, t in ipairs(reduced) do
      cache[t] = viewOf(t, flat, self.masters.copy)
      addView(self, cache[t], t)
   end
   checkLayouts(module, cache)
   keep(self, kept, laid)
   for i, t in ipairs(tensors) do masters[i] = stays[t] and self.views[t].master or t end
   self.tensors, self.tensorGradients = masters, gradients
   -- not a field of the wrapper: nn.DataParallelTable must not watch these tensors
   self.masters.others = convertTensors(module, reducedType, cache)
   self.keepsInput = precision.keepsInput(module, self.precision)
   places.record(self)
end

--- Converts the network to 16 bits, with masters.
function M.adopt(self)
   if self.masters then M.release(self) end
   self.failed = true -- after an error, the next call adopts the network again
   local module, types = self.modules[1], M.types[self.reduced]
   self._type = floatTypeOf(module, types)
   local float, reduced = core.kinds[self._type], core.kinds[types[self._type]]
   self.kinds_ = {float = float, reduced = reduced, outer = float, inner = reduced}
   local first = (module:parameters() or {})[1] or torch.getmetatable(self._type).new()
   local ok, message = pcall(cutorch.withDeviceOf, first, convert, self)
   if not ok then
      precision.unwrap(self)
      error(message, 0)
   end
   self.failed = nil
end

-- Returns the master of a tensor that modules use; nil if a script has set the tensor to other
-- memory.
local function masterOf(self, t)
   local entry, masters = self.views[t], self.masters
   if entry and t:isSetTo(entry.place) then return entry.master end
   if t.storage_ == nil then return nil end
   if t.storage_ == masters.copy.storage_ then return viewOf(t, masters.copy, masters.flat) end
   if t.storage_ ~= masters.kept.storage_ then return nil end
   local first = masters.indices[t:storageOffset() - masters.kept:storageOffset() + 1]
   return masters.flat.new():set(masters.flat:storage(),
      masters.flat:storageOffset() + first - 1, t:size(), t:stride())
end

-- Converts a network to floats whose parameters are the masters. A parameter that a script has
-- frozen gets a copy of its master.
-- @param holder table whose field modules contains the network
-- @return the network
local function toFloats(self, holder)
   local cache, module = {}, holder.modules[1]
   local function restore(t, isFrozen)
      local master = masterOf(self, t)
      if master and isFrozen then master = cutorch.withDeviceOf(master, master.clone, master) end
      if master and torch.type(t) == self._type then
         t:set(master)
      else
         cache[t] = master
      end
   end
   local trained = {}
   for _, t in ipairs(module:parameters() or {}) do
      trained[t] = true
      restore(t)
   end
   for _, inner in ipairs(module:listModules()) do
      for _, t in next, inner do
         if torch.isTensor(t) and not trained[t] then restore(t, true) end
      end
   end
   for _, entry in ipairs(self.masters.others) do
      local now, before, writes = unpack(entry)
      if core.writes(now) == writes then cache[now] = before end
   end
   precision.unwrap(holder)
   return holder.modules[1]:type(self._type, cache)
end

--- Converts the network to floats, whose parameters are the masters.
function M.release(self)
   places.checkOwners(self)
   self.masters:refresh()
   toFloats(self, self)
   self:dropMasters()
end

--- Returns a copy of the network in float whose parameters are the masters.
function M.floats(self)
   local seen, masters, module = {level = 0}, self.masters, self.modules[1]
   for _, t in ipairs{masters.flat, masters.copy, masters.kept, self.gradients} do
      if t:nElement() > 0 then seen[comm.address(t)] = t:storage() end
   end
   for _, entry in ipairs(masters.others) do seen[entry[1]] = entry[1] end
   for _, inner in ipairs(module:listModules()) do
      for _, t in ipairs(inner:runningStatistics()) do seen[t] = t end
   end
   return toFloats(self, {modules = {copyTree(module, seen)}})
end

--- Records parameters of modules that a pass has created as copies with shared weights.
function M.addShared(self)
   local tensors, gradients = self.modules[1]:parameters()
   local list = {}
   for i, t in ipairs(tensors) do
      local master = self.views[t] and self.views[t].master or masterOf(self, t)
      if master and not self.views[t] then addView(self, t, master) end
      list[i] = master or t
   end
   self.tensors, self.tensorGradients = list, gradients
   places.record(self)
end

return M
