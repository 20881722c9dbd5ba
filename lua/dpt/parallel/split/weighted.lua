--- dpt.parallel.split.weighted: parts of a batch for devices of different speed.
--
-- Invariant: with as many rows as parts or more every part gets one at least, and the rest in
-- proportion to the weights; with fewer the first parts get one each. So the parts without rows are
-- always the last ones. Together, in order, the parts are the batch.
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

--- How a batch is cut.
-- @param weights list of numbers above 0, one for each part; nil: balanced
-- @param parts how many there are
-- @param name of the owner's class
-- @return nil, or function(rows, part) that returns the rows of a part
return function(weights, parts, name)
   if weights == nil then return nil end
   if #weights ~= parts then
      fail('%s: weights has %d numbers, wanted one for each of %d devices', name, #weights, parts)
   end
   return cutter(weights, parts)
end
