local deep = require 'dpt.deep'

describe('dpt.deep', function()
   local function sum(n, level)
      if n == 0 then return 0 end
      return n + deep(level, sum, n - 1, level + 1)
   end

   it("recurses deeper than Lua's stack allows, also from a deep call and in a coroutine",
      function()
      assert.equal(5e4 * 50001 / 2, sum(50000, 1))
      local function inside(n)
         if n > 0 then return (inside(n - 1)) end
         return sum(50000, 1)
      end
      assert.equal(5e4 * 50001 / 2, inside(5000))
      assert.equal(5e4 * 50001 / 2, coroutine.wrap(sum)(50000, 1))
   end)

   it('hands errors on, with the line of a script', function()
      local fail = require('dpt.ffi').fail
      local function down(n, level, raise)
         if n == 0 then raise() end
         return deep(level, down, n - 1, level + 1, raise)
      end
      local function message(raise, n)
         local _, text = pcall(function() return (down(n, 1, raise)) end)
         return text
      end
      for _, n in ipairs{3, 3000} do
         assert.matches('^.*deep_spec.lua:%d+: x is 3$', message(function() fail('x is %d', 3) end,
            n))
         assert.matches('^.*deep_spec.lua:%d+: mine$', message(function() error 'mine' end, n))
         assert.equal(deep, message(function() error(deep) end, n))
      end
   end)
end)
