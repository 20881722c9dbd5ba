--- dpt.parallel.scatter: cuts a tensor, or a tree of tables of tensors, into one part per replica.
--
-- What must stay true: parts lie in tensors that are kept from one call to the next, so that a step
-- allocates nothing; a tensor of a device keeps its element type, a floating one of the host
-- becomes the type of the network, an integer one the device's type of the same integers; what is
-- no tensor goes to every replica as it is. Host tensors have been read on return.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local fail = require('dpt.ffi').fail
local slice = require 'dpt.parallel.slice'

local floating = {
   ['torch.FloatTensor'] = true, ['torch.DoubleTensor'] = true, ['torch.HalfTensor'] = true,
}

-- The replicas' parts of one tensor, in lists that are made anew only when the type changes.
local function scatterTensor(kept, tensor, plan, path)
   local parts, dimension = #plan.devices, plan.dimension
   local name = tensor:type()
   local typename = floating[name] and plan.type or comm.deviceType(name)
   if type(kept) ~= 'table' or kept.typename ~= typename or #kept ~= parts then
      kept = {typename = typename, rows = {}}
      local new = torch.getmetatable(typename).new
      for i = 1, parts do kept[i] = new() end
   end
   local rows = 0
   if tensor:dim() > 0 then
      if tensor:dim() < dimension then
         fail('%s is a %s of %d dimension(s), it cannot be split along dimension %d', path,
            tensor:type(), tensor:dim(), dimension)
      end
      rows = tensor:size(dimension)
      plan.rows = math.max(plan.rows, rows)
   end
   for i = 1, parts do
      local count = plan.cut and plan.cut(rows, i) or select(2, slice(rows, i, parts))
      kept.rows[i] = count
      if count > 0 and i > plan.used then plan.used = i end
   end
   comm.scatterInto(kept, tensor, dimension, kept.rows, plan.devices)
   return kept
end

-- kept mirrors the tree of value: where value has a tensor, kept has the list of its parts.
local function walk(kept, value, plan, path, results, key)
   if torch.isTensor(value) then
      kept = scatterTensor(kept, value, plan, path)
      for i, result in ipairs(results) do result[key] = kept[i] end
   elseif torch.type(value) == 'table' then
      if type(kept) ~= 'table' or kept.typename then kept = {} end
      local tables = {}
      for i, result in ipairs(results) do
         -- the same tables every time: a module may keep its input
         if type(kept[i]) ~= 'table' then kept[i] = {} end
         tables[i] = kept[i]
         result[key] = tables[i]
         for k in pairs(tables[i]) do
            if value[k] == nil then tables[i][k] = nil end
         end
      end
      kept.parts = kept.parts or {}
      for k in pairs(kept.parts) do
         if value[k] == nil then kept.parts[k] = nil end
      end
      for k, v in pairs(value) do
         kept.parts[k] = walk(kept.parts[k], v, plan, path .. '[' .. tostring(k) .. ']', tables, k)
      end
   else
      kept = nil
      for _, result in ipairs(results) do result[key] = value end
   end
   return kept
end

--- Cuts value into the parts of the replicas.
-- @param state table that belongs to the caller and keeps the parts between calls
-- @param parts list that gets the part of every replica
-- @param value a tensor, or tables of tensors in any nesting
-- @param plan {devices = list, dimension = along which, type = the network's tensor type, cut =
-- nothing for balanced parts or function(rows, part) that gives the rows of a part}
-- @param name what to call the value in an error
-- @return how many replicas, from the first, got rows; the rows of the batch
return function(state, parts, value, plan, name)
   plan.used, plan.rows = 0, 0
   local results = {}
   for i = 1, #plan.devices do results[i] = {} end
   state.kept = walk(state.kept, value, plan, name, results, 1)
   for i = 1, #plan.devices do parts[i] = results[i][1] end
   return plan.used, plan.rows
end
