--- dpt.parallel.params.layout: the layout of replica 1's parameters and gradients, and how the
-- other replicas reproduce it.
--
-- Invariant: a network's n parameters and their gradients are one list of 2n entries. A parameter
-- without a gradient (`gradWeight = nil`, for inference) has false as its gradient and takes part
-- in broadcasts only. On replicas 2..n parameters and gradients are views of one flat buffer each
-- per element type, with the segments of replica 1 one after the other. A replica that already has
-- this layout (a copy of a flat network, or one laid out before) is left unchanged: nothing is
-- allocated.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local flatten = require 'dpt.flatten'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail

local layout = {}

local structs, pointers = ffi.typeof 'dpt_tensor[?]', ffi.typeof 'const dpt_tensor *[?]'

--- Returns parameters and gradients, which may be nil, as one list of 2n, with the field n.
function layout.join(tensors, gradients)
   local list = {n = tensors and #tensors or 0}
   for i = 1, list.n do
      list[i], list[list.n + i] = tensors[i], gradients and gradients[i] or false
   end
   return list
end

--- Returns the parameters and gradients of a replica as such a list. The parameters are those with
-- which modules work: 16-bit copies in nn.MixedPrecision.
function layout.describe(module) return layout.join(module:workingParameters()) end

--- Records the addresses, sizes and strides of the tensors of a list.
function layout.recordPlaces(list)
   local count = 2 * list.n
   list.recorded, list.pointers = structs(math.max(count, 1)), pointers(math.max(count, 1))
   for i = 1, count do
      if list[i] then
         ffi.copy(list.recorded + (i - 1), list[i], ffi.sizeof 'dpt_tensor')
         list.pointers[i - 1] = list[i] -- the list keeps it alive
      end
   end
   core.keepAlive(list)
   return list
end

--- Returns true if a tensor of a recorded list has another address, other sizes or strides.
function layout.hasMoved(list)
   return C.dpt_are_set_to(2 * list.n, list.pointers, list.recorded) == 0
end

--- Returns true if a network has other parameters or gradients than those of a list.
function layout.isOther(list, module)
   local tensors, gradients = module:workingParameters()
   local n = tensors and #tensors or 0
   if list.n ~= n then return true end
   for i = 1, n do
      if not rawequal(list[i], tensors[i])
         or not rawequal(list[n + i], gradients and gradients[i] or false) then return true end
   end
   return false
end

--- Raises unless the tensors of a list are on a device.
function layout.checkDevice(list, wanted)
   for i = 1, 2 * list.n do
      local t = list[i]
      local device = t and comm.device(t)
      if t and t:nElement() > 0 and device ~= wanted then
         fail('%s %d of the network is a %s %s, wanted it %s: %s',
            i > list.n and 'gradient' or 'parameter', (i - 1) % list.n + 1, t:type(),
            device == 0 and 'in host memory' or 'on device ' .. device,
            wanted == 0 and 'in host memory, as those before'
               or ('on device %d, the first of the list'):format(wanted),
            (wanted == 0 and 'network:float()'
               or device == 0 and 'cutorch.withDevice(%d, function() network:cuda() end)'
               or 'nn.utils.moveTo(network, %d)'):format(wanted))
      end
   end
end

-- Returns the type of a parameter's gradient: the parameter's own, or the type in which a 16-bit
-- one is computed.
local function gradientType(i, t, gradient)
   if not gradient or gradient.kind_ == t.kind_ or gradient.kind_ == core.computeKind(t.kind_) then
      return torch.type(gradient or t)
   end
   fail('parameter %d is a %s and its gradient a %s, wanted one type for both', i, torch.type(t),
      torch.type(gradient))
end

--- Returns the groups of a list: for each type the parameters, then gradients. A gradient is in the
-- first group with parameters or gradients of its type.
-- @return list of {type, indices in the list, tensors}
function layout.groups(list)
   local groups, ofParameters, ofGradients = {}, {}, {}
   local function add(group, i)
      table.insert(group.indices, i)
      table.insert(group.tensors, list[i])
   end
   for i = 1, list.n do
      local name, gradient = torch.type(list[i]), gradientType(i, list[i], list[list.n + i])
      if not ofParameters[name] then
         ofParameters[name] = {type = name, indices = {}, tensors = {}}
         groups[#groups + 1] = ofParameters[name]
         groups[#groups + 1] = {type = gradient, indices = {}, tensors = {}}
         ofGradients[gradient] = ofGradients[gradient] or groups[#groups]
      end
      add(ofParameters[name], i)
   end
   for i = list.n + 1, 2 * list.n do
      if list[i] then add(ofGradients[torch.type(list[i])], i) end
   end
   return groups
end

-- Returns the parameters of a list for which neither the parameter nor its gradient shares a flat
-- tensor with another network.
local function ownOf(list)
   local tensors, own, gradients = {}, {n = 0}, {}
   for i = 1, 2 * list.n do tensors[#tensors + 1] = list[i] or nil end
   local common = flatten.findShared(tensors)
   for i = 1, list.n do
      local gradient = list[list.n + i]
      if not common[list[i]] and not common[gradient] then
         own.n = own.n + 1
         own[own.n], gradients[own.n] = list[i], gradient
      end
   end
   for i, gradient in ipairs(gradients) do own[own.n + i] = gradient end
   return own
end

--- Makes the tensors of a list views of flat tensors, one per group.
-- @param whole true: all tensors. Otherwise those that share a flat tensor with another network
-- stay in it, so that two networks with a common part do not move it away from each other
function layout.flatten(list, name, whole)
   if not whole then list = ownOf(list) end
   local groups = layout.groups(list)
   for h = 1, #groups, 2 do
      local tensors, gradients = groups[h].tensors, groups[h + 1].tensors
      if #tensors == #gradients then
         flatten.flattenPair(tensors, gradients, name)
      else
         flatten.flatten(tensors, name)
         flatten.flatten(gradients, name)
      end
   end
end

-- Returns the layout (as of dpt.flatten) of views of a flat tensor.
local function within(flat, tensors)
   local laid = {segments = {flat}, offsets = {}, strides = {}, total = flat:nElement()}
   for i, t in ipairs(tensors) do
      laid.offsets[i] = t:storageOffset() - flat:storageOffset() + 1
      laid.strides[i] = t:stride()
   end
   return laid
end

--- Returns the plan by which a replica lays out its tensors: a list of groups, each with its type,
-- its number of elements and, for every tensor that has elements, its index in the replica's list
-- and its offset in the flat tensor.
-- @param whole nil, or the flat tensor of which all parameters of its type are views: it is their
--    only segment, even if they do not cover it
-- @return the plan; for each group the segments of replica 1
function layout.plan(list, whole)
   local plan, segments = {}, {}
   for h, group in ipairs(layout.groups(list)) do
      local isWhole = whole and h % 2 == 1 and group.type == torch.type(whole)
      local laid = isWhole and within(whole, group.tensors) or flatten.layout(group.tensors)
      plan[h], segments[h] = {type = group.type, total = laid.total}, laid.segments
      for k, index in ipairs(group.indices) do
         if list[index]:nElement() > 0 then
            table.insert(plan[h], {index = index, first = laid.offsets[k],
               size = list[index]:size(), stride = laid.strides[k]})
         end
      end
   end
   return plan, segments
end

local function isSame(storage, list)
   for d = 1, #storage do
      if storage[d] ~= list[d] then return false end
   end
   return #storage == #list
end

-- Returns the flat tensor that consists of exactly a group's tensors; nil if there is none.
local function flatOf(tensors, group)
   local one = group[1] and tensors[group[1].index]
   if not one or one.storage_ == nil or #one:storage() ~= group.total then return nil end
   for _, entry in ipairs(group) do
      local t = tensors[entry.index]
      if not t or t.storage_ ~= one.storage_ or t:storageOffset() ~= entry.first
         or not isSame(t:size(), entry.size) or not isSame(t:stride(), entry.stride) then
         return nil
      end
   end
   return one.new():set(one:storage(), 1, group.total, 1)
end

--- Returns the flat tensors of a replica that was laid out (run by a dispatcher); false for a group
-- whose tensors are no longer views of one.
function layout.flats(replica, _, plan)
   local tensors, flat = layout.describe(replica), {}
   for h, group in ipairs(plan) do flat[h] = group.total == 0 or flatOf(tensors, group) or false end
   return flat
end

--- Lays out the parameters and gradients of a replica (run by a dispatcher).
-- @return list of flat tensors, parameters and gradients in turn; gradients are zero
function layout.flattenReplica(replica, i, plan)
   if i == 1 then return nil end
   if replica.dropMasters then replica:dropMasters() end
   local tensors, flat = layout.describe(replica), {}
   for h, group in ipairs(plan) do
      flat[h] = flatOf(tensors, group)
      if not flat[h] then
         flat[h] = torch.getmetatable(group.type).new(group.total)
         for _, t in ipairs(group) do
            tensors[t.index]:set(flat[h]:storage(), t.first, t.size, t.stride)
         end
      end
      if h % 2 == 0 and group.total > 0 then flat[h]:zero() end
   end
   return flat
end

return layout
