--- A random source that depends only on its seed, not on the numbers that the code under test
-- draws.
local bit = require 'bit'

--- @param seed an integer
-- @return random(n): an integer from 1 to n; random(list): an entry; random(): true or false
return function(seed)
   local state = bit.tobit(seed * 2654435 + 88675123)
   if state == 0 then state = 1 end
   local function draw(n)
      state = bit.bxor(state, bit.lshift(state, 13))
      state = bit.bxor(state, bit.rshift(state, 17))
      state = bit.bxor(state, bit.lshift(state, 5))
      return bit.band(state, 0x7fffffff) % n + 1
   end
   for _ = 1, 10 do draw(2) end
   return function(what)
      if what == nil then return draw(2) == 1 end
      if type(what) == 'table' then return what[draw(#what)] end
      return draw(what)
   end
end
