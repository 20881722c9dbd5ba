--- dpt.parallel.params.forward_writes: repeats on all replicas what a forward writes to rows of
-- parameters.
--
-- Invariant: a module whose forward writes to rows of a parameter calls record(). After a pass
-- replica 1 repeats the other replicas' writes, so that its parameters equal those on one device.
-- With several processes, each repeats the others' writes in the order of ranks. Such writes must
-- be idempotent and commutative.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local random = require 'dpt.parallel.dispatch.random'

local forwardWrites = {}

local recorded = {} -- by replica of this Lua state: the effects of its last pass, and that pass
local own = {} -- effects of this process in a pass of several processes

--- Effects by name: function(parameter, indices, ...).
forwardWrites.kinds = {}

--- Records that a module has called forwardWrites.kinds[kind](parameter, indices, ...).
-- @param indices tensor on the parameter's device; the arguments after it are numbers
function forwardWrites.record(kind, parameter, indices, ...)
   local i, pass = random.running()
   if not i then
      if random.isShared() then own[#own + 1] = {kind, parameter, indices:clone(), ...} end
      return
   end
   if not recorded[i] or recorded[i].pass ~= pass then recorded[i] = {pass = pass} end
   table.insert(recorded[i], {kind, parameter, indices:clone(), ...})
end

-- Returns the number of the parameter that a tensor is; nil: none.
local function find(parameters, t)
   for k, parameter in ipairs(parameters) do
      if parameter:isSetTo(t) then return k end
   end
end

-- Replaces tensors in a list of effects by their numbers among a module's parameters.
local function numberParameters(list, module)
   local kept, parameters = {}, module:workingParameters()
   for _, effect in ipairs(list) do
      effect[2] = find(parameters, effect[2])
      if effect[2] then kept[#kept + 1] = effect end
   end
   return kept
end

--- Returns the recorded effects of a replica, with numbers of parameters (run by a dispatcher).
function forwardWrites.take(replica, i)
   local list = recorded[i] or {}
   recorded[i] = nil
   return numberParameters(list, replica)
end

--- Applies a list of effects to a module's parameters, on its device.
function forwardWrites.apply(module, list)
   local parameters = module:workingParameters()
   for _, effect in ipairs(list) do
      local kind, k, indices = unpack(effect, 1, 3)
      local here = indices
      if comm.device(indices) ~= comm.device(parameters[k]) then
         here = torch.getmetatable(torch.type(indices)).new():resize(indices:size())
         comm.broadcastInto({indices}, {here})
      end
      forwardWrites.kinds[kind](parameters[k], here, unpack(effect, 4))
   end
end

--- Returns the effects of this process in the last pass over a batch of several processes, with
-- numbers of parameters, and with indices in host memory.
-- @param module owner of the parameters, which other processes have in the same order
function forwardWrites.takeOwn(module)
   if own.numbered == nil and #own == 0 then return own end
   local list, kept = own.numbered or numberParameters(own, module), {}
   own = {}
   for _, effect in ipairs(list) do
      effect[3] = effect[3]:long()
      if effect[3]:nElement() > 0 then kept[#kept + 1] = effect end
   end
   return kept
end

--- Applies to replica 1 the effects of the others in a pass, if it had effects itself.
-- @param module replica 1
-- @param device its device
-- @return true if replica 1 had effects
function forwardWrites.replay(module, device, dispatcher)
   if not recorded[1] then return false end
   local lists = dispatcher:run(forwardWrites.take)
   if random.isShared() then
      own.numbered = {}
      for _, list in ipairs(lists) do
         for _, effect in ipairs(list) do table.insert(own.numbered, effect) end
      end
   end
   for i = 2, #lists do cutorch.withDevice(device, forwardWrites.apply, module, lists[i]) end
   return true
end

return forwardWrites
