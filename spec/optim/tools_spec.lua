--- ConfusionMatrix, Logger and checkgrad.
local function bad(sentence, f)
   local line = debug.getinfo(f, 'S').linedefined
   local ok, why = pcall(f)
   assert.is_false(ok)
   assert.equal(sentence, (why:gsub('^.-:%d+: ', '')))
   assert.equal(line, tonumber(why:match 'tools_spec%.lua:(%d+): '))
end

describe('ConfusionMatrix', function()
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

   it('takes classes, scores and vectors with a one, alone or in batches, of every type', function()
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

   it('draws itself', function()
      local m = filled(3)
      local picture = m:render('score', false, 4, 10)
      assert.same({3, 12, 22}, picture:size():totable())
      assert.equal(1, picture[1][1][1]) -- class 1 is always right
      assert.equal(0, picture[2][1][5])
      assert.is_true(math.abs(picture[1][5][13] - 1) < 1e-12) -- most targets
      assert.same({3, 75, 275}, m:render():size():totable())
      bad("optim.ConfusionMatrix: render sorts by 'score' or 'occurrence', got best",
         function() m:render 'best' end)
   end)

   it('prints names and rates', function()
      local text = tostring(filled{'cat', 'dog', 'bird'})
      assert.truthy(text:find('100.000% \t[class: cat]', 1, true))
      assert.truthy(text:find(' + global correct: 71.4', 1, true))
   end)

   it('names what is wrong, at the line of the call', function()
      bad('optim.ConfusionMatrix: wants a number of classes or a list of names, got a nil',
         function() optim.ConfusionMatrix() end)
      bad('optim.ConfusionMatrix: wants a number of classes or a list of names, got 0',
         function() optim.ConfusionMatrix(0) end)
      local m = optim.ConfusionMatrix(2)
      bad('optim.ConfusionMatrix: prediction 3 and target 1, wanted 1..2',
         function() m:add(3, 1) end)
      bad('optim.ConfusionMatrix: prediction 1 and target 3, wanted 1..2',
         function() m:batchAdd(torch.Tensor{1}, torch.Tensor{3}) end)
      bad('optim.ConfusionMatrix: 2 predictions and 1 targets',
         function() m:batchAdd(torch.Tensor{1, 2}, torch.Tensor{1}) end)
      bad('optim.ConfusionMatrix: add wants classes or vectors, got a nil and a number',
         function() m:add(nil, 1) end)
      bad('optim.ConfusionMatrix: batchAdd wants two tensors, got table and nil',
         function() m:batchAdd({1}) end)
      assert.equal(0, m.mat:sum())
   end)
end)

describe('Logger', function()
   local name
   before_each(function() name = os.tmpname() end)
   after_each(function() os.remove(name) end)

   local function contents()
      local file = io.open(name)
      local text = file:read '*a'
      file:close()
      return text
   end

   it('has every row on disk when add returns', function()
      local logger = optim.Logger(name)
      logger:setNames{'train', 'note'}
      assert.equal('train\tnote\t\n', contents())
      logger:add{0.5, 'first'}
      assert.equal('train\tnote\t\n 5.0000e-01\tfirst\t\n', contents())
      logger:add{note = 'second', train = 12345.678}
      assert.equal(' 1.2346e+04\tsecond\t\n', contents():match '[^\n]*\n$')
      assert.same({0.5, 12345.678}, logger.symbols[1])
   end)

   it('takes names from the first row', function()
      local logger = optim.Logger(name)
      logger:add{loss = 1.5}:add{loss = 0.75}
      assert.equal('loss\t\n 1.5000e+00\t\n 7.5000e-01\t\n', contents())
   end)

   it('keeps and writes nothing of a row that is wrong', function()
      local logger = optim.Logger(name):setNames{'a', 'b'}
      bad('optim.Logger: the row has no value for column b', function() logger:add{1} end)
      bad('optim.Logger: there is no column c', function() logger:add{a = 1, c = 2} end)
      assert.equal('a\tb\t\n', contents())
      assert.same({{}, {}}, logger.symbols)
   end)

   it('says why it cannot write', function()
      bad('optim.Logger: cannot write: ' .. name .. '/log: Not a directory',
         function() optim.Logger(name .. '/log') end)
   end)

   it('makes the folder of its file', function()
      local folder = name .. '.d/deep'
      local logger = optim.Logger(folder .. '/train.log'):add{1}
      logger.file:close()
      assert.truthy(os.remove(folder .. '/train.log'))
      os.remove(folder)
      os.remove(name .. '.d')
   end)

   it('puts the time behind the file\'s name', function()
      local logger = optim.Logger(name .. '.log', true)
      logger.file:close()
      assert.equal(name .. '.log', logger.name)
      assert.equal(name .. '.log.eps', logger.epsfile)
      local files = io.popen('ls ' .. name .. '.log-*'):read '*a'
      local made = files:match('^' .. name .. '%.log%-%d+_%d+_%d+_%d+:%d+:%d+')
      assert.truthy(os.remove(made))
   end)

   it('plots columns by name, and goes on where gnuplot cannot', function()
      local logger, drawn = optim.Logger(name):setNames{'a', 'b'}, nil
      logger:add{1, 2}
      logger:add{3, 4}
      local nothing = function() end
      package.loaded.gnuplot = setmetatable({plot = function(list) drawn = list end},
         {__index = function() return nothing end})
      logger:plot 'b'
      assert.same('b', drawn[1][1])
      assert.same({2, 4}, drawn[1][2]:totable())
      logger:plot()
      assert.equal(2, #drawn)
      bad('optim.Logger: there is no column c', function() logger:plot 'c' end)
      package.loaded.gnuplot.plot = function() error 'Gnuplot terminal is not set' end
      logger.warned = true -- it would say so on stderr
      logger:plot()
      package.loaded.gnuplot = nil
   end)
end)

describe('checkgrad', function()
   local function cube(x) return torch.pow(x, 3):sum(), torch.pow(x, 2):mul(3) end

   it('tells a right gradient from a wrong one and leaves x as it was', function()
      local x = torch.DoubleTensor{1, -2, 0.5}
      local difference, gradient, estimate = optim.checkgrad(cube, x)
      assert.is_true(difference < 1e-7)
      assert.same({3, 12, 0.75}, gradient:totable())
      assert.is_true((gradient - estimate):abs():max() < 1e-5)
      assert.same({1, -2, 0.5}, x:totable())
      local wrong = optim.checkgrad(function(v)
         local f, g = cube(v)
         return f, g:mul(-1)
      end, x, 1e-5)
      assert.is_true(wrong > 1e3)
   end)

   it('names what is wrong', function()
      bad("optim.checkgrad: argument 'opfunc' is nil, wanted a function",
         function() optim.checkgrad(nil, torch.Tensor{1}) end)
      bad("optim.checkgrad: argument 'x' is a number, wanted a tensor",
         function() optim.checkgrad(cube, 1) end)
   end)
end)
