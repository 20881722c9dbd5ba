--- dpt.nn.MixedPrecision.places: records the modules in an nn.MixedPrecision and the addresses of
-- the parameters, and detects that a script or another nn.MixedPrecision has changed them.
local fail = require('dpt.ffi').fail
local layout = require 'dpt.parallel.params.layout'

local M = {}

-- Last wrapper that has recorded a module, by module with parameters.
local owners = setmetatable({}, {__mode = 'kv'})

-- Appends the lists of children of a module and of the modules inside it, each with its contents.
local function addStructure(list, module)
   local modules = module.modules
   if not modules then return end
   list[#list + 1] = {modules = modules, contents = {unpack(modules)}}
   for _, inner in ipairs(modules) do addStructure(list, inner) end
end

--- Records the modules and the addresses of all parameters and gradients.
function M.record(self)
   local structure = {}
   addStructure(structure, self)
   for _, module in ipairs(self:listModules()) do
      if not module.modules and next(module:parameters() or {}) then owners[module] = self end
   end
   self.places_ = {structure = structure,
      masters = layout.recordPlaces(layout.join(self.tensors, self.tensorGradients)),
      working = layout.recordPlaces(layout.describe(self.modules[1]))}
end

--- Returns true if modules were added, removed or replaced since the record.
function M.hasNewModules(self)
   for _, entry in ipairs(self.places_.structure) do
      local modules, known = entry.modules, entry.contents
      if #modules ~= #known then return true end
      for i = 1, #known do
         if not rawequal(modules[i], known[i]) then return true end
      end
   end
   return false
end

--- Returns true if modules, parameters or gradients were replaced or moved since the record.
function M.haveChanged(self)
   local places = self.places_
   return M.hasNewModules(self) or layout.isOther(places.working, self.modules[1])
      or layout.hasMoved(places.working) or layout.hasMoved(places.masters)
end

--- Raises if another wrapper has recorded a module since the record.
function M.checkOwners(self)
   local known = {}
   for _, entry in ipairs(self.places_ and self.places_.structure or {}) do
      for _, module in ipairs(entry.contents) do known[module] = true end
   end
   for _, module in ipairs(self:listModules()) do
      local owner = known[module] and owners[module]
      if owner and owner ~= self then
         fail('nn.MixedPrecision: %s is also in another nn.MixedPrecision, which has separate'
            .. ' weights for it now: put one nn.MixedPrecision around both networks',
            tostring(module))
      end
   end
end

return M
