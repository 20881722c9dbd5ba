--- dpt.nn.sharing: copies modules so that the copies share parameters.
--
-- Invariant: parameters and gradients of a copy are the original's objects, not views of them. A
-- change of a parameter or of its storage changes both modules.

local torch = require 'dpt.tensor'
local deepcopy = require 'dpt.clone'
local rejectDistributed = require('dpt.nn.child').rejectDistributed
local fail = require('dpt.ffi').fail

local M = {}

local steps = 0

-- Lists the modules to copy. A copy for another step excludes recurrent modules.
local function copied(module, list)
   if steps > 0 and (torch.isTypeOf(module, 'nn.AbstractRecurrent')
      or torch.isTypeOf(module, 'nn.RecurrentStep')) then
      return list
   end
   list[#list + 1] = module
   for _, child in ipairs(module.modules or {}) do copied(child, list) end
   return list
end

--- Returns a copy of a module that shares its parameters (method sharedClone).
function M.clone(module)
   local own, taken, parameters, gradients = {}, {}, module:parameters()
   for i, t in ipairs(parameters or {}) do own[t], own[gradients[i]] = true, true end
   local modules = copied(module, {})
   for i, inner in ipairs(modules) do
      if torch.isTypeOf(inner, 'nn.MixedPrecision') then
         fail('%s: the parameters of nn.MixedPrecision cannot be shared with a copy: put'
            .. ' nn.MixedPrecision around the whole network', torch.type(module))
      end
      taken[i] = {}
      for key, value in pairs(inner) do
         if torch.isTensor(value) and own[value] then taken[i][key] = value end
      end
   end
   local function each(list, f)
      for i, fields in ipairs(taken) do
         for key, value in pairs(fields) do list[i][key] = f(value) end
      end
   end
   each(modules, function() return nil end) -- so that their memory is not copied
   local ok, copy = pcall(deepcopy, module)
   each(modules, function(value) return value end)
   if not ok then error(copy, 0) end
   each(copied(copy, {}), function(value) return value end)
   return copy
end

--- Returns true while a copy for another step of a sequence is made.
function M.cloningSteps()
   return steps > 0
end

--- Returns a copy for another step of a sequence, with the same recurrent modules (method
-- stepClone).
function M.step(module)
   rejectDistributed(torch.type(module), 'stepClone', module, 'network')
   steps = steps + 1
   local ok, copy = pcall(M.clone, module)
   steps = steps - 1
   if not ok then error(copy, 0) end
   return copy
end

return M
