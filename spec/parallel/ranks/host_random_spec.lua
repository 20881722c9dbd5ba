-- dpt.parallel.ranks.host_random: what host tensors draw in passes of ranks.
local torch = require('dpt').torch
local hostRandom = require 'dpt.parallel.ranks.host_random'

describe('dpt.parallel.ranks.host_random', function()
   local function draws(pass, rank)
      return hostRandom(pass, rank, function(n) return torch.rand(n):totable() end, 4)
   end

   it('draws by the pass and the rank, and leaves the default generator as it was', function()
      torch.manualSeed(3)
      local expected = torch.rand(3):totable()
      torch.manualSeed(3)
      local a, b, c = draws(1, 0), draws(1, 1), draws(2, 0)
      assert.not_same(a, b)
      assert.not_same(a, c)
      assert.not_same(b, c)
      assert.same(a, draws(1, 0))
      assert.same(expected, torch.rand(3):totable())
   end)

   it('does so if the pass raises', function()
      torch.manualSeed(3)
      local expected = torch.rand(3):totable()
      torch.manualSeed(3)
      assert.error_matches(function() hostRandom(1, 1, error, 'inside', 0) end, 'inside')
      assert.same(expected, torch.rand(3):totable())
   end)
end)
