-- optim.ConfusionMatrix: counts, rates, pictures.
local bad = require 'spec.support.raises'

describe('optim.ConfusionMatrix', function()
   local function filled(classes)
      local m = optim.ConfusionMatrix(classes)
      for _, pair in ipairs{{1, 1}, {1, 2}, {2, 2}, {3, 3}, {3, 3}, {1, 3}, {2, 2}} do
         m:add(pair[1], pair[2])
      end
      return m
   end

   it('counts at mat[target][prediction]', function()
      assert.same({{1, 0, 0}, {1, 2, 0}, {1, 0, 2}}, filled(3).mat:totable())
   end)

   it('accepts classes, scores and one-hot vectors, alone or in batches, of every type', function()
      local types = {'torch.DoubleTensor', 'torch.FloatTensor', cutorch and 'torch.CudaTensor'}
      for _, typename in ipairs(types) do
         local function T(list) return torch.DoubleTensor(list):type(typename) end
         local m = optim.ConfusionMatrix(2)
         m:add(T{0.1, 0.9}, 1)
         m:add(T{0.8, 0.2}, T{0, 1})
         assert.same({{0, 1}, {1, 0}}, m.mat:totable())
         m:batchAdd(T{{0.1, 0.9}, {0.3, 0.2}}, T{2, 1})
         m:batchAdd(T{1, 2, 1}, T{1, 2, 0})
         m:batchAdd(T{{0.1, 0.9}}, T{{0, 1}})
         assert.same({{2, 1}, {1, 3}}, m.mat:totable(), typename)
      end
   end)

   it('computes its rates', function()
      local m = filled(3)
      m:updateValids()
      local function near(a, b) assert.is_true(math.abs(a - b) < 1e-6) end
      for i, v in ipairs{1, 2 / 3, 2 / 3} do near(m.valids[i], v) end
      for i, v in ipairs{1 / 3, 2 / 3, 2 / 3} do near(m.unionvalids[i], v) end
      near(m.totalValid, 5 / 7)
      near(m.averageValid, 7 / 9)
      near(m.averageUnionValid, 5 / 9)
      local missed, taken = m:farFrr()
      for i, v in ipairs{0, 1 / 3, 1 / 3} do near(missed[i], v) end
      for i, v in ipairs{2 / 6, 0, 0} do near(taken[i], v) end
      m:zero()
      assert.equal(0, m.mat:sum())
      assert.equal(0, m.totalValid)
   end)

   it('leaves classes without targets out of means and rates', function()
      local m = optim.ConfusionMatrix(3)
      m:batchAdd(torch.Tensor{{1}, {2}, {3}, {1}}, torch.Tensor{{1}, {1}, {1}, {2}})
      assert.same({{1, 1, 1}, {1, 0, 0}, {0, 0, 0}}, m.mat:totable())
      m:updateValids()
      assert.is_true(math.abs(m.averageValid - 1 / 6) < 1e-6)
      assert.is_true(math.abs(m.averageUnionValid - 1 / 8) < 1e-6)
      local missed, taken, seenMissed, seenTaken = m:farFrr()
      assert.same({1 - 1 / 3, 1, -1}, missed:totable())
      assert.same({1, 1 / 3, -1}, taken:totable())
      assert.same({2, 2}, {seenMissed:size(1), seenTaken:size(1)})
   end)

   it('draws itself as an image', function()
      local m = filled(3)
      local picture = m:render('score', false, 4, 10)
      assert.same({3, 12, 22}, picture:size():totable())
      assert.equal(1, picture[1][1][1]) -- class 1 is always right
      assert.equal(0, picture[2][1][5])
      assert.is_true(math.abs(picture[1][5][13] - 1) < 1e-12) -- has the most targets
      assert.same({3, 75, 275}, m:render():size():totable())
      bad("optim.ConfusionMatrix: render sorts by 'score' or 'occurrence', got best",
         function() m:render 'best' end)
   end)

   it('prints names and rates', function()
      local text = tostring(filled{'cat', 'dog', 'bird'})
      assert.truthy(text:find('100.000% \t[class: cat]', 1, true))
      assert.truthy(text:find(' + global correct: 71.4', 1, true))
   end)

   it('raises for wrong calls at their line', function()
      bad('optim.ConfusionMatrix: wants a number of classes or a list of names, got a nil',
         function() optim.ConfusionMatrix() end)
      bad('optim.ConfusionMatrix: wants a number of classes or a list of names, got 0',
         function() optim.ConfusionMatrix(0) end)
      local m = optim.ConfusionMatrix(2)
      bad('optim.ConfusionMatrix: prediction 3 and target 1, wanted 1..2',
         function() m:add(3, 1) end)
      bad('optim.ConfusionMatrix: prediction 1 and target 3, wanted 1..2',
         function() m:batchAdd(torch.Tensor{1}, torch.Tensor{3}) end)
      bad('optim.ConfusionMatrix: prediction 1 and target nan, wanted 1..2',
         function() m:batchAdd(torch.Tensor{1}, torch.Tensor{0 / 0}) end)
      bad('optim.ConfusionMatrix: prediction nan and target 1, wanted 1..2',
         function() m:batchAdd(torch.Tensor{0 / 0}, torch.Tensor{1}) end)
      bad('optim.ConfusionMatrix: prediction 1 and target inf, wanted 1..2',
         function() m:add(1, 1 / 0) end)
      bad('optim.ConfusionMatrix: 2 predictions and 1 targets',
         function() m:batchAdd(torch.Tensor{1, 2}, torch.Tensor{1}) end)
      bad('optim.ConfusionMatrix: add wants classes or vectors, got a nil and a number',
         function() m:add(nil, 1) end)
      bad('optim.ConfusionMatrix: batchAdd wants two tensors, got table and nil',
         function() m:batchAdd({1}) end)
      assert.equal(0, m.mat:sum())
   end)
end)
