--- dpt.distributed.mesh: the ranks of the world as a grid of named dimensions.
--
-- Invariant: ranks are numbered in row-major order: the next rank is the next one along the last
-- dimension. All ranks make all groups in the same order. Each keeps the groups that it is a member
-- of: one for each dimension, with the ranks whose coordinates differ from its own in that
-- dimension only.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local groups = require 'dpt.distributed.group'
local options = require 'dpt.distributed.options'
local fail, type = dptffi.fail, dptffi.type

local NAME = 'distributed.mesh'

-- Returns the dimensions as a list of {name, size}.
local function listOf(given)
   if type(given) ~= 'table' or next(given) == nil then
      fail("%s: argument 'dimensions' is %s, wanted sizes by name, as {replicate = 2, shard = 2}",
         NAME, type(given) == 'table' and 'empty' or 'a ' .. torch.type(given))
   end
   local list, seen = {}, {}
   for key, value in pairs(given) do
      local pair = type(key) == 'number' and value or {key, value}
      if type(pair) ~= 'table' or type(pair[1]) ~= 'string' or not options.isCount(pair[2]) then
         fail("%s: argument 'dimensions', entry %s is %s, wanted name = size or a list of"
            .. ' {name, size}', NAME, tostring(key),
            type(value) == 'table' and 'another table' or tostring(value))
      end
      if seen[pair[1]] then
         fail("%s: argument 'dimensions' has the name '%s' twice", NAME, pair[1])
      end
      seen[pair[1]] = true
      list[#list + 1] = {name = pair[1], size = pair[2],
         order = type(key) == 'number' and key or math.huge}
   end
   table.sort(list, function(a, b)
      if a.order ~= b.order then return a.order < b.order end
      return a.name < b.name
   end)
   return list
end

-- Raises unless the product of the dimensions is the number of ranks.
local function checkProduct(list, ranks)
   local product, texts = 1, {}
   for i, dimension in ipairs(list) do
      product = product * dimension.size
      texts[i] = ('%s = %d'):format(dimension.name, dimension.size)
   end
   if product ~= ranks then
      fail("%s: argument 'dimensions' (%s) has %d places, wanted one for each of %d ranks", NAME,
         table.concat(texts, ', '), product, ranks)
   end
end

--- Makes the groups of a grid.
-- @param given sizes by name, in alphabetical order of the names; or a list of {name, size}
-- @return groups by name
return function(given)
   local list, ranks = listOf(given), groups.world:size()
   checkProduct(list, ranks)
   local mesh, stride = {}, ranks
   for _, dimension in ipairs(list) do
      local size, outer = dimension.size, stride
      stride = stride / size -- distance between neighbours along the dimension
      for first = 0, ranks - 1 do
         if first % outer < stride then
            local members = {}
            for i = 1, size do members[i] = first + (i - 1) * stride end
            local group = groups.group(members)
            if group:rank() then mesh[dimension.name] = group else group:free() end
         end
      end
   end
   return mesh
end
