--- dpt.parallel.params.owners: who may write to which gradients of a network during a backward
-- pass.
--
-- Invariant: a gradient is known by where it lies. A module writes to its own; a container
-- also to those of the modules in it, unless its classes say that their methods leave them alone
-- (leavesGradients). A method that a script has put on an object says nothing, so it may.
local comm = require 'dpt.comm'

local owners = {}

--- Returns a key for the memory of a gradient.
function owners.keyOf(t) return comm.address(t) .. ':' .. t:storageOffset() end

local PASSES = {'backward', 'updateGradInput', 'accGradParameters'}

--- Returns true if a container writes to no gradient of the modules in it: its methods are those of
-- classes that say so (leavesGradients).
function owners.leavesInner(module)
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
      if t then keys[owners.keyOf(t)] = true end
   end
   return keys
end

--- The gradients that a module may write to outside of calls of the modules in it, by key.
function owners.gradientsOf(module)
   local keys, inner, own = keysOf(module), {}, false
   local children = module.modules or {}
   if #children > 0 and not owners.leavesInner(module) then return keys end
   for _, child in ipairs(children) do
      for key in pairs(keysOf(child)) do inner[key] = true end
   end
   for key in pairs(keys) do own = own or not inner[key] end
   return own and keys or {}
end

return owners
