--- dpt.parallel.ranks.digest: whether all ranks train the same network.
--
-- Invariant: every rank compares the same lists, so that either all go on or all raise the same
-- error message, which names the first rank and entry that differ from rank 0's. No element of a
-- network has travelled before.
local torch = require 'dpt.tensor'
local distributed = require 'dpt.distributed'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local digest = {}

-- Where the tensors of a module's fields stand, by tensor (cdata that are one object).
local function name(module, path, names, seen)
   if seen[module] then return end
   seen[module] = true
   local keys = {}
   for key, value in next, module do
      if type(key) == 'string' and torch.isTensor(value) then keys[#keys + 1] = key end
   end
   table.sort(keys)
   for _, key in ipairs(keys) do
      names[module[key]] = names[module[key]] or path .. key
   end
   for i, child in ipairs(module.modules or {}) do
      name(child, ('%smodules[%d].'):format(path, i), names, seen)
   end
end

--- Where each tensor of a network stands, as 'modules[2].weight', by tensor.
function digest.names(module)
   local names = {}
   name(module, '', names, {})
   return names
end

local function line(what, i, t, names, note)
   return ('%s %d (%s): %s of %s%s'):format(what, i, names[t] or 'without a name', t:type(),
      t:dim() > 0 and table.concat(t:size():totable(), 'x') or 'no elements', note)
end

--- What has to be equal on all ranks, as a list of texts.
-- @param options list of texts
function digest.of(module, buffers, options)
   local list, names = {}, digest.names(module)
   for _, text in ipairs(options) do list[#list + 1] = text end
   for i, inner in ipairs(module:listModules()) do
      list[#list + 1] = ('module %d: %s'):format(i, torch.type(inner))
   end
   local tensors, gradients = module:parameters()
   for i, t in ipairs(tensors or {}) do
      list[#list + 1] = line('parameter', i, t, names,
         gradients and gradients[i] and '' or ', ignored: it has no gradient')
   end
   for i, t in ipairs(buffers) do list[#list + 1] = line('buffer', i, t, names, '') end
   return list
end

--- Raises unless all ranks have the same list.
-- @param owner the class's name
function digest.compare(owner, list)
   local all = distributed.allGatherValue(list)
   for i = 1, math.huge do
      local some = false
      for r = 1, #all do
         some = some or all[r][i] ~= nil
         if all[r][i] ~= all[1][i] then
            fail('%s: ranks differ: rank %d has %s, rank 0 has %s', owner, r - 1,
               all[r][i] or 'nothing more', all[1][i] or 'nothing more')
         end
      end
      if not some then return end
   end
end

return digest
