local torch = require('dpt').torch

--- Runs the tester without output; returns whether it passed.
local function run(tester, ...)
   local write, flush = io.write, io.flush
   io.write, io.flush = function() end, function() end
   local ok, why = pcall(tester.run, tester, ...)
   io.write, io.flush = write, flush
   return ok, why
end

describe('torch.Tester', function()
   it('tells where an assertion failed and why', function()
      local tester = torch.Tester()
      tester:add(function() tester:asserteq(1, 2, 'one is two') end, 'numbers')
      local ok = run(tester)
      assert.is_false(ok)
      assert.equal(1, #tester.errors)
      local text = tester.errors[1]
      assert.truthy(text:find('numbers\none is two\nEQ failed: 1, 2', 1, true))
      assert.truthy(text:find('tester_spec.lua:%d+'))
   end)

   it('compares tensors and tables with a tolerance', function()
      local tester = torch.Tester()
      tester:add(function()
         local a = torch.DoubleTensor{1, 2, 0 / 0}
         assert.is_true(tester:eq(a, a:clone()))
         assert.is_false(tester:eq(a, torch.DoubleTensor{1, 2, 3}))
         assert.is_true(tester:eq({x = a, 5}, {x = a:clone(), 5 + 1e-4}, 1e-3))
         assert.is_false(tester:eq({1}, {1, 2}))
         assert.is_false(tester:eq(1, '1'))
         assert.is_true(tester:assertTensorEq(torch.ones(2, 1), torch.ones(2), 1e-9))
         assert.is_true(tester:eq(math.huge, math.huge, 1))
         assert.is_false(tester:assertTensorEq(torch.ones(2), torch.ones(3), 1))
      end, 'all')
      run(tester)
      assert.equal(0, tester.testError.all, tester.errors[#tester.errors])
      assert.equal(1, #tester.warnings)
   end)

   it('chooses tests by pattern and refuses names that match none', function()
      local tester, ran = torch.Tester(), {}
      for _, name in ipairs{'alpha', 'alpine', 'beta'} do
         tester:add(function() ran[#ran + 1] = name end, name)
      end
      assert.is_true(run(tester, 'al.*'))
      assert.same({'alpha', 'alpine'}, ran)
      assert.has_error(function() tester:run 'gamma' end, "Tester:run: no test matches 'gamma'")
      assert.has_error(function() tester:add(print, 'alpha') end,
         "Tester:add: test 'alpha' exists already")
      assert.has_error(function() tester:add(5, 'five') end,
         "Tester:add: test 'five' is a number, wanted a function")
   end)
end)

describe('torch.TestSuite', function()
   it('refuses a name twice and what is no function', function()
      local suite = torch.TestSuite()
      function suite.one() end
      assert.has_error(function() function suite.one() end end,
         "TestSuite: test 'one' exists already")
      assert.has_error(function() suite.two = 5 end,
         "TestSuite: test 'two' is a number, wanted a function")
   end)
end)
