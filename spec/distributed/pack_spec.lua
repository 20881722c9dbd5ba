-- Lists of tensors packed into flat tensors.
local pack = require 'dpt.distributed.pack'

describe('dpt.distributed.pack', function()
   it('leaves a contiguous tensor as it is', function()
      local t = torch.FloatTensor(2, 3)
      local packs = pack.open('f', t, 1)
      assert.equal(1, #packs)
      assert.equal(t:data(), packs[1].flat:data())
   end)

   it('makes one flat tensor for each type and device, in order of appearance', function()
      local a, b = torch.FloatTensor{1, 2}, torch.LongTensor{3}
      local c = torch.FloatTensor{{4, 5}, {6, 7}}:t()
      local packs = pack.open('f', {a, b, c}, 1)
      assert.equal(2, #packs)
      packs[1]:load()
      packs[2]:load()
      assert.same({1, 2, 4, 6, 5, 7}, packs[1].flat:totable())
      assert.same({3}, packs[2].flat:totable())
      packs[1].flat:mul(10)
      packs[1]:store()
      assert.same({10, 20}, a:totable())
      assert.same({{40, 60}, {50, 70}}, c:totable())
   end)

   it('concatenates the parts of all tensors', function()
      local a, b = torch.FloatTensor{1, 2}, torch.FloatTensor{3, 4, 5, 6}
      local one = pack.open('f', {a, b}, 2)[1]
      one:load()
      assert.same({1, 3, 4, 2, 5, 6}, one.flat:totable())
      assert.error_matches(function() pack.open('f', {torch.FloatTensor(3)}, 2) end,
         'f: got 3 elements, wanted a part for each of 2 ranks')
   end)

   it('accepts tensors without elements', function()
      local one = pack.open('f', {torch.FloatTensor(), torch.FloatTensor{1}}, 1)[1]
      one:load()
      assert.same({1}, one.flat:totable())
   end)
end)
