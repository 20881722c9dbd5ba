-- dpt.parallel.ranks.exchange in a world of one; spec/distributed/training_spec.lua has several.
local world = require('dpt.distributed.group').world
local exchange = require 'dpt.parallel.ranks.exchange'

describe('dpt.parallel.ranks.exchange', function()
   it('returns the numbers of every rank', function()
      assert.same({{3, -1.5}}, exchange(world, {3, -1.5}))
      assert.same({{2 ^ 52}}, exchange(world, {2 ^ 52}))
      assert.same({{1, 2}}, exchange(world, {1, 2}))
   end)
end)
