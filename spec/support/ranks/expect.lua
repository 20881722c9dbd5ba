-- Assertions for programs of several ranks.
local distributed = require 'dpt.distributed'
local expect = {}

-- Asserts that f(...) raises a message that contains that text.
function expect.raises(message, f, ...)
   local ok, why = pcall(f, ...)
   assert(not ok, 'no error, wanted ' .. message)
   assert(why:find(message, 1, true), why)
end

-- Asserts that f() begins no collective on this rank.
function expect.silently(f)
   local kept = {}
   for name, operation in pairs(distributed) do
      kept[name] = operation
      if name ~= 'rank' and name ~= 'size' and name ~= 'during' then
         distributed[name] = function() error('something was sent: ' .. name) end
      end
   end
   f()
   for name, operation in pairs(kept) do distributed[name] = operation end
end

return expect
