--- dpt.parallel.split.rows: counts the rows of a batch, given its split spec.
--
-- Invariant: it counts what scatter splits: the size of a tensor along the dimension of its split
-- spec, the entries of a list, the parts that a user's function makes. Replicated values do not
-- count. The entry with the most rows determines the result.
local torch = require 'dpt.tensor'
local splitSpec = require 'dpt.parallel.split.split_spec'
local type = require('dpt.ffi').type

-- Returns the number of rows of a part that a user's function made.
local function ofPart(value, dimension)
   if torch.isTensor(value) then return value:dim() >= dimension and value:size(dimension) or 0 end
   for _, inner in pairs(torch.type(value) == 'table' and value or {}) do
      local rows = ofPart(inner, dimension)
      if rows > 0 then return rows end
   end
   return 0
end

local function count(value, how, dimension, devices, name)
   local isTensor, isTable = torch.isTensor(value), torch.type(value) == 'table'
   if how == nil then how = dimension end
   local rows = 0
   if type(how) == 'function' then
      for _, part in pairs(splitSpec.parts(how, value, devices, name)) do
         rows = rows + ofPart(part, dimension)
      end
   elseif how == 'list' then
      rows = isTensor and value:nElement() or isTable and #value or 0
   elseif isTable and how ~= 'replicate' then
      for key, inner in pairs(value) do
         rows = math.max(rows, count(inner, splitSpec.at(how, key), dimension, devices, name))
      end
   elseif isTensor and type(how) == 'number' and value:dim() >= how then
      rows = value:size(how)
   end
   return rows
end

--- Returns the number of rows of a batch.
-- @param value a tensor, or tables of tensors in any nesting
-- @param how split spec of value, or nil
-- @param dimension along which entries without a split spec are split
-- @param devices passed to the functions of the split spec
-- @param name name of the value in errors
return function(value, how, dimension, devices, name)
   return count(value, how, dimension, devices, name)
end
