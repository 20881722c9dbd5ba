--- dpt.parallel.split.weighted: splits a batch in proportion to the speeds of devices.
--
-- Invariant: with at least as many rows as parts, every part gets one row, and the remaining rows
-- are distributed in proportion to the weights. With fewer rows, the first parts get one row each.
-- So empty parts are always the last ones. The parts in order are the batch.
local fail = require('dpt.ffi').fail

local function cutter(weights, parts)
   local sums = {[0] = 0}
   for i, weight in ipairs(weights) do sums[i] = sums[i - 1] + weight end
   return function(rows, part)
      if rows <= parts then return part <= rows and 1 or 0 end
      local function upTo(i) return math.ceil((rows - parts) * (sums[i] / sums[parts])) end
      return 1 + upTo(part) - upTo(part - 1)
   end
end

--- Returns the function that splits a batch.
-- @param weights list of positive numbers, one per part; nil: balanced
-- @param parts number of parts
-- @param name class name of the owner
-- @return nil, or function(rows, part) that returns the number of rows of a part
return function(weights, parts, name)
   if weights == nil then return nil end
   if #weights ~= parts then
      fail('%s: weights has %d numbers, wanted one for each of %d devices', name, #weights, parts)
   end
   return cutter(weights, parts)
end
