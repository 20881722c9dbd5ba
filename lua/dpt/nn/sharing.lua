--- Copies of modules that have the same parameters.
-- Invariant: parameters and gradients of a copy are the very objects of the original, not views of
-- their own: what is done to one is done to the other, also if they move.

local torch = require 'dpt.tensor'
local deepcopy = require 'dpt.clone'
local part = require 'dpt.nn.part'

local M = {}

local steps = 0

-- The modules that are copied: in a copy for another step recurrent ones are not.
local function copied(module, list)
   if steps > 0 and (torch.isTypeOf(module, 'nn.AbstractRecurrent')
      or torch.isTypeOf(module, 'nn.RecurrentStep')) then
      return list
   end
   list[#list + 1] = module
   for _, child in ipairs(module.modules or {}) do copied(child, list) end
   return list
end

--- A copy of a module (method sharedClone).
function M.clone(module)
   local own, taken, parameters, gradients = {}, {}, module:parameters()
   for i, t in ipairs(parameters or {}) do own[t], own[gradients[i]] = true, true end
   local modules = copied(module, {})
   for i, inner in ipairs(modules) do
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

--- Whether a copy is being made for another step of a sequence.
function M.cloningSteps()
   return steps > 0
end

--- A copy for another step of a sequence: recurrent modules in it are the same (method stepClone).
function M.step(module)
   part.wantBare(torch.type(module), 'stepClone', module, 'network')
   steps = steps + 1
   local ok, copy = pcall(M.clone, module)
   steps = steps - 1
   if not ok then error(copy, 0) end
   return copy
end

return M
