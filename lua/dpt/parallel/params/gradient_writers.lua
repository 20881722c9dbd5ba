--- dpt.parallel.params.gradient_writers: finds the modules that may write to each gradient in
-- a backward pass.
--
-- Invariant: a gradient is identified by its address. A module writes to its own gradients. A
-- container may also write to those of its inner modules, unless its classes declare that their
-- methods do not (leavesGradients). This declaration does not cover a method that a script has set
-- on an object.
local comm = require 'dpt.comm'

local writers = {}

--- Returns a key for the memory of a gradient.
function writers.keyOf(t) return comm.address(t) .. ':' .. t:storageOffset() end

local PASSES = {'backward', 'updateGradInput', 'accGradParameters'}

--- Returns true if a container does not write to the gradients of its inner modules: the classes
-- that define its methods declare so (leavesGradients).
function writers.leavesInnerGradients(module)
   for _, name in ipairs(PASSES) do
      if rawget(module, name) ~= nil then return false end
      local methods = getmetatable(module)
      while methods and rawget(methods, name) == nil do methods = getmetatable(methods) end
      if not methods or not rawget(methods, 'leavesGradients') then return false end
   end
   return true
end

local function keysOf(module)
   local tensors, gradients = module:parameters()
   local keys = {}
   for i = 1, tensors and #tensors or 0 do
      local t = gradients and gradients[i]
      if t then keys[writers.keyOf(t)] = true end
   end
   return keys
end

--- Returns the gradients, by key, that a module may write to outside of calls of its inner modules.
function writers.gradientsWrittenBy(module)
   local keys, inner, own = keysOf(module), {}, false
   local children = module.modules or {}
   if #children > 0 and not writers.leavesInnerGradients(module) then return keys end
   for _, child in ipairs(children) do
      for key in pairs(keysOf(child)) do inner[key] = true end
   end
   for key in pairs(keys) do own = own or not inner[key] end
   return own and keys or {}
end

return writers
