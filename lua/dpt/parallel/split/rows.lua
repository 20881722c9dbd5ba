--- dpt.parallel.split.rows: how many rows a batch has, by what says how it is cut.
--
-- Invariant: counted is what scatter cuts: a tensor along its own dimension, the entries of a list,
-- the parts that a user's function makes; nothing of what every replica gets. The entry with the
-- most rows says how many the batch has.
local torch = require 'dpt.tensor'
local splitSpec = require 'dpt.parallel.split.split_spec'
local type = require('dpt.ffi').type

-- The rows of a value that a function has made a part.
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
-- @param how its split spec, or nil
-- @param dimension along which an entry is cut that has none
-- @param devices what functions in the split spec get
-- @param name what to call the value in an error
return function(value, how, dimension, devices, name)
   return count(value, how, dimension, devices, name)
end
