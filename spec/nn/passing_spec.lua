-- Modules that pass on their input, and small ones that wrap other modules.
local types = {'torch.DoubleTensor', cutorch and 'torch.CudaDoubleTensor'}

describe('A module that passes its input on', function()
   local x, g

   for _, typename in ipairs(types) do
      describe('(' .. typename .. ')', function()
         before_each(function()
            torch.manualSeed(4)
            x, g = torch.randn(3, 4):type(typename), torch.randn(3, 4):type(typename)
         end)

         it('turns gradients around as nn.GradientReversal', function()
            local m = nn.GradientReversal(0.5):type(typename)
            assert.is_true(m:forward(x):isSetTo(x))
            assert.equal(0, (m:backward(x, g) + g * 0.5):abs():max())
            m:setLambda(2)
            assert.equal(0, (m:backward(x, g) + g * 2):abs():max())
         end)

         it('adds the gradient of a penalty as nn.L1Penalty', function()
            for _, case in ipairs{{0.5, false, true, 0.5}, {0.6, true, true, 0.05},
               {0.5, false, false, 0.5}} do
               local m = nn.L1Penalty(case[1], case[2], case[3]):type(typename)
               assert.is_true(m:forward(x):isSetTo(x))
               assert.near(case[4] * x:norm(1), m.loss, 1e-12)
               local wanted = torch.sign(x) * case[4]
               if case[3] then wanted:add(g) end
               assert.is_true((m:backward(x, g) - wanted):abs():max() < 1e-12)
            end
         end)

         it('returns a gradient of zeros as nn.ZeroGrad, also for tables', function()
            local m = nn.ZeroGrad():type(typename)
            assert.is_true(m:forward(x):isSetTo(x))
            assert.same({0, 3, 4}, {m:backward(x, g):abs():max(), m.gradInput:size(1),
               m.gradInput:size(2)})
            local gradInput = m:backward({x, {x}}, {g, {g}})
            assert.equal(0, gradInput[1]:abs():max() + gradInput[2][1]:abs():max())
         end)

         it('is replaced by a value as nn.Constant, one for each row of a batch', function()
            local m = nn.Constant(torch.Tensor{1, 2}, 1):type(typename)
            assert.same({{1, 2}, {1, 2}, {1, 2}}, m:forward(x):totable())
            assert.same({1, 2}, m:forward(x[1]):totable())
            assert.equal(0, m:backward(x, g):abs():max())
            assert.equal(7, nn.Constant(7):forward(x)[1])
         end)

         it('is added to every entry of a table as nn.CAddTensorTable', function()
            local m = nn.CAddTensorTable():type(typename)
            local y = m:forward{x, {x, g}}
            assert.equal(0, (y[1] - x * 2):abs():max() + (y[2] - (x + g)):abs():max())
            local gradInput = m:backward({x, {x, g}}, {g, x})
            assert.equal(0, (gradInput[1] - (g + x)):abs():max())
            assert.is_true(gradInput[2][1]:isSetTo(g))
         end)

         it('is paired with every entry of a table as nn.ZipTableOneToMany', function()
            local m = nn.ZipTableOneToMany():type(typename)
            local y = m:forward{x, {g, x}}
            assert.is_true(y[1][1]:isSetTo(x) and y[1][2]:isSetTo(g) and y[2][2]:isSetTo(x))
            local gradInput = m:backward({x, {g, x}}, {{x, g}, {g, x}})
            assert.equal(0, (gradInput[1] - (x + g)):abs():max())
            assert.is_true(gradInput[2][1]:isSetTo(g))
         end)

         it('is measured by nn.Profile and printed by nn.PrintSize', function()
            local lines, before = {}, print
            finally(function() _G.print = before end) -- luacheck: ignore
            _G.print = function(...) -- luacheck: ignore
               for _, word in ipairs{...} do lines[#lines + 1] = tostring(word) end
            end
            local m = nn.Profile(nn.Sequential():add(nn.PrintSize 'here'), 2, 'net'):type(typename)
            for _ = 1, 2 do
               assert.is_true(m:forward(x):isSetTo(x))
               assert.is_true(m:backward(x, g):isSetTo(g))
            end
            local text = table.concat(lines, ' ')
            assert.matches('^here:input\n +3\n 4\n', text)
            assert.matches('here:gradOutput', text)
            assert.matches('net took %d+%.%d+ seconds for 2 forward passes', text)
            assert.matches('net took %d+%.%d+ seconds for 2 backward passes', text)
         end)

         it('is judged by a criterion inside nn.CriterionTable', function()
            local m, mse = nn.CriterionTable(nn.MSECriterion()):type(typename),
               nn.MSECriterion():type(typename)
            assert.equal(mse:forward(x, g), m:forward{x, g})
            assert.equal(0, (mse:backward(x, g) - m:backward{x, g}[1]):abs():max())
         end)
      end)
   end

   it('is converted from type to type by nn.Copy, or is the output itself', function()
      local m = nn.Copy('torch.DoubleTensor', 'torch.FloatTensor')
      local y = m:forward(torch.Tensor{0.5, 2})
      assert.equal('torch.FloatTensor', y:type())
      assert.same({0.5, 2}, y:totable())
      assert.equal('torch.DoubleTensor', m:backward(torch.Tensor{1, 1}, y):type())
      local input = torch.ones(2)
      assert.is_true(nn.Copy():forward(input):isSetTo(input))
      assert.is_false(nn.Copy(nil, nil, true):forward(input):isSetTo(input))
      assert.error_matches(function() nn.Copy('torch.Tensor3') end, "there is no type 'torch.Tens")
   end)

   it('rejects a value that is neither a number nor a tensor for nn.Constant', function()
      assert.error_matches(function() nn.Constant{} end,
         "argument 'value', wanted a number or a tensor")
   end)
end)

describe('nn.StochasticGradient', function()
   local before = print
   before_each(function() _G.print = function() end end) -- luacheck: ignore
   after_each(function() _G.print = before end) -- luacheck: ignore

   it('trains on one example at a time, in order or shuffled, with a falling rate', function()
      torch.manualSeed(3)
      local net, criterion = nn.Linear(2, 1), nn.MSECriterion()
      local data = {size = function() return 2 end}
      for i, x in ipairs{{1, 0}, {0, 1}} do data[i] = {torch.Tensor(x), torch.Tensor{i}} end
      local plain = net:clone()
      local trainer, seen, errors = nn.StochasticGradient(net, criterion), {}, {}
      trainer.learningRate, trainer.learningRateDecay, trainer.maxIteration = 0.1, 0.5, 3
      trainer.shuffleIndices = false
      function trainer.hookExample(_, example) seen[#seen + 1] = example[2][1] end
      function trainer.hookIteration(_, iteration, sum) errors[iteration] = sum end
      trainer:train(data)
      assert.same({1, 2, 1, 2, 1, 2}, seen)
      assert.is_true(errors[3] < errors[1])
      for _, rate in ipairs{0.1, 0.1 / 2, 0.1 / 2.5} do
         for _, example in ipairs(data) do
            plain:zeroGradParameters()
            criterion:forward(plain:forward(example[1]), example[2])
            plain:backward(example[1], criterion:backward(plain.output, example[2]))
            plain:updateParameters(rate)
         end
      end
      assert.is_true((plain.weight - net.weight):abs():max() < 1e-12)
   end)
end)
