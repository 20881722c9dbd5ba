--- dpt.parallel.params.effects: what modules do to rows of parameters in a forward.
--
-- Invariant: a module whose forward writes to rows of a parameter says so by note(); after a pass
-- replica 1 does to its own what the others did to theirs, so that its parameters are those that
-- one device would have. That holds for what does no harm when it is done twice, in any order.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local random = require 'dpt.parallel.dispatch.random'
local fail = require('dpt.ffi').fail

local effects = {}

local noted = {} -- by replica of this Lua state: what its last pass did, and which pass that was

--- By name: function(parameter, indices, ...) that does it.
effects.kinds = {}

--- A module has called effects.kinds[kind](parameter, indices, ...).
-- @param indices tensor of the parameter's device; what follows are numbers
function effects.note(kind, parameter, indices, ...)
   if random.isShared() then
      fail('a forward changes rows of a parameter (%s), which nn.DistributedDataParallel does not'
         .. ' send to other ranks: do it to all rows after the step', kind)
   end
   local i, pass = random.running()
   if not i then return end
   if not noted[i] or noted[i].pass ~= pass then noted[i] = {pass = pass} end
   table.insert(noted[i], {kind, parameter, indices:clone(), ...})
end

-- Which parameter a tensor is; nil: none.
local function find(parameters, t)
   for k, parameter in ipairs(parameters) do
      if parameter:isSetTo(t) then return k end
   end
end

--- What was noted for a replica, with the numbers of parameters (run by a dispatcher).
function effects.take(replica, i)
   local list, kept, parameters = noted[i] or {}, {}, replica:parameters()
   noted[i] = nil
   for _, effect in ipairs(list) do
      effect[2] = find(parameters, effect[2])
      if effect[2] then kept[#kept + 1] = effect end
   end
   return kept
end

--- Lets replica 1 do what the others did in a pass, if it did something itself.
-- @param module replica 1
-- @param device where it is
-- @return whether it has
function effects.join(module, device, dispatcher)
   if not noted[1] then return false end
   local parameters, lists = module:parameters(), dispatcher:run(effects.take)
   cutorch.withDevice(device, function()
      for i = 2, #lists do
         for _, effect in ipairs(lists[i]) do
            local kind, k, indices = unpack(effect, 1, 3)
            local here = torch.getmetatable(torch.type(indices)).new():resize(indices:size())
            comm.broadcastInto({indices}, {here})
            effects.kinds[kind](parameters[k], here, unpack(effect, 4))
         end
      end
   end)
   return true
end

return effects
