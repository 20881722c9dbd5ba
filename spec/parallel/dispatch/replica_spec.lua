-- dpt.parallel.dispatch.replica: the operations of a dispatcher on one replica.
local dpt = require 'dpt'
local nn, cutorch = dpt.nn, dpt.cutorch
local random = require 'dpt.parallel.dispatch.random'
local replica = require 'dpt.parallel.dispatch.replica'

describe('dpt.parallel.dispatch.replica', function()
   local module
   before_each(function()
      module = nn.Identity()
      function module:method(...) self.given = {...} return 'result', random.running() end
   end)

   it('calls a method with its arguments, in a pass if one is given', function()
      local result, running = replica.call(module, 2, nil, 'method', 1, 2, 3)
      assert.equal('result', result)
      assert.is_nil(running)
      assert.same({1, 2, 3}, module.given)
      local pass = random.passes(cutorch.getDevice(), {0, 4, 7}, 2)[2]
      result, running = replica.call(module, 2, pass, 'method', 1)
      assert.same({'result', 2}, {result, running})
      assert.is_nil(random.running())
   end)

   it('calls a method quietly and returns nothing', function()
      assert.equal(0, select('#', replica.callQuietly(module, 1, 'method', 'a')))
      assert.same({'a'}, module.given)
   end)

   it('applies a function to the module and its number', function()
      assert.same({module, 3}, replica.apply(module, 3, function(m, i) return {m, i} end))
   end)

   it('collects unreachable memory', function()
      local weak = setmetatable({{}}, {__mode = 'v'})
      replica.collect()
      assert.is_nil(weak[1])
   end)
end)
