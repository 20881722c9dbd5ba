--- dpt.nn.MixedPrecision.places: the modules in an nn.MixedPrecision, and where the parameters are,
-- to detect that a script has changed them.
local layout = require 'dpt.parallel.params.layout'

local M = {}

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

return M
