--- dpt.parallel.params.effects: what modules do to rows of parameters in a forward.
--
-- Invariant: a module whose forward writes to rows of a parameter says so by note(); after a pass
-- replica 1 does to its own what the others did to theirs, so that its parameters are those that
-- one device would have; in several processes each does what the others did, in the order of
-- ranks. That holds for what does no harm when it is done twice, in any order.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local random = require 'dpt.parallel.dispatch.random'

local effects = {}

local noted = {} -- by replica of this Lua state: what its last pass did, and which pass that was
local own = {} -- what this process did in a pass of several processes

--- By name: function(parameter, indices, ...) that does it.
effects.kinds = {}

--- A module has called effects.kinds[kind](parameter, indices, ...).
-- @param indices tensor of the parameter's device; what follows are numbers
function effects.note(kind, parameter, indices, ...)
   local i, pass = random.running()
   if not i then
      if random.isShared() then own[#own + 1] = {kind, parameter, indices:clone(), ...} end
      return
   end
   if not noted[i] or noted[i].pass ~= pass then noted[i] = {pass = pass} end
   table.insert(noted[i], {kind, parameter, indices:clone(), ...})
end

-- Which parameter a tensor is; nil: none.
local function find(parameters, t)
   for k, parameter in ipairs(parameters) do
      if parameter:isSetTo(t) then return k end
   end
end

-- The effects of a list on a module's parameters, with their numbers.
local function numbered(list, module)
   local kept, parameters = {}, module:parameters()
   for _, effect in ipairs(list) do
      effect[2] = find(parameters, effect[2])
      if effect[2] then kept[#kept + 1] = effect end
   end
   return kept
end

--- What was noted for a replica, with the numbers of parameters (run by a dispatcher).
function effects.take(replica, i)
   local list = noted[i] or {}
   noted[i] = nil
   return numbered(list, replica)
end

--- Does to a module's parameters what a list says, on its device.
function effects.apply(module, list)
   local parameters = module:parameters()
   for _, effect in ipairs(list) do
      local kind, k, indices = unpack(effect, 1, 3)
      local here = indices
      if comm.device(indices) ~= comm.device(parameters[k]) then
         here = torch.getmetatable(torch.type(indices)).new():resize(indices:size())
         comm.broadcastInto({indices}, {here})
      end
      effects.kinds[kind](parameters[k], here, unpack(effect, 4))
   end
end

--- What this process did in the last pass, of a batch of several processes, with the numbers of
-- parameters and indices in host memory.
-- @param module on whose parameters, which other processes have alike
function effects.takeOwn(module)
   if own.numbered == nil and #own == 0 then return own end
   local list, kept = own.numbered or numbered(own, module), {}
   own = {}
   for _, effect in ipairs(list) do
      effect[3] = effect[3]:long()
      if effect[3]:nElement() > 0 then kept[#kept + 1] = effect end
   end
   return kept
end

--- Applies to replica 1 the effects of the others in a pass, if it had effects itself.
-- @param module replica 1
-- @param device where it is
-- @return true if it had
function effects.join(module, device, dispatcher)
   if not noted[1] then return false end
   local lists = dispatcher:run(effects.take)
   if random.isShared() then
      own.numbered = {}
      for _, list in ipairs(lists) do
         for _, effect in ipairs(list) do table.insert(own.numbered, effect) end
      end
   end
   for i = 2, #lists do cutorch.withDevice(device, effects.apply, module, lists[i]) end
   return true
end

return effects
