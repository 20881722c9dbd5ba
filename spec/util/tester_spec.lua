local torch = require('dpt').torch

--- Runs the tester without output; returns whether it passed.
local function run(tester, ...)
   local write, flush = io.write, io.flush
   local text = {}
   io.write, io.flush = function(...) text[#text + 1] = table.concat{...} end, function() end
   local ok, why = pcall(tester.run, tester, ...)
   io.write, io.flush = write, flush
   return ok, why, table.concat(text)
end

describe('torch.Tester', function()
   it('reports where an assertion failed and why', function()
      local tester = torch.Tester()
      tester:add(function() tester:asserteq(1, 2, 'one is two') end, 'numbers')
      local ok = run(tester)
      assert.is_false(ok)
      assert.equal(1, #tester.errors)
      local text = tester.errors[1]
      assert.truthy(text:find('numbers\none is two\nEQ failed: 1, 2', 1, true))
      assert.truthy(text:find('tester_spec.lua:%d+'))
   end)

   it('reports how many tests were disabled', function()
      local tester = torch.Tester()
      tester:add(function() tester:eq(1, 1) end, 'one')
      tester:add(function() error 'never' end, 'other')
      tester:disable 'other'
      local ok, _, text = run(tester)
      assert.is_true(ok)
      assert.matches('Completed 1 assert in 2 tests with 0 failures and 0 errors and 1 disabled\n',
         text, 1, true)
   end)

   it('prints a line of 80 columns for each test, and counts tests that fail', function()
      local tester = torch.Tester()
      tester:add(function() tester:eq(1, 2) tester:eq(1, 3) end, 'one')
      for i = 1, 9 do tester:add(function() tester:eq(1, 1) end, 'test' .. i) end
      local _, _, text = run(tester)
      assert.matches(' 2/10 test1 ' .. ('.'):rep(61) .. ' [PASS]\n', text, 1, true)
      assert.matches('in 10 tests with 1 failure and 0 errors\n' .. ('-'):rep(80), text, 1, true)
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

   it('reports the line of an assertion that warns', function()
      local tester = torch.Tester()
      tester:add(function() tester:assert({}) end, 'truth')
      run(tester)
      assert.truthy(tester.warnings[1]:find('given a table\n  at .*tester_spec.lua:%d+'))
   end)

   it('chooses tests by a part of the name, each once, and rejects patterns without a match',
      function()
      local tester, ran = torch.Tester(), {}
      for _, name in ipairs{'alpha', 'alpine', 'beta'} do
         tester:add(function() ran[#ran + 1] = name end, name)
      end
      assert.is_true(run(tester, {'al', 'a'}))
      assert.same({'alpha', 'alpine', 'beta'}, ran)
      assert.has_error(function() tester:run 'gamma' end, "Tester:run: no test matches 'gamma'")
      assert.has_error(function() tester:add(print, 'alpha') end,
         "Tester:add: test 'alpha' exists already")
      assert.has_error(function() tester:add(5, 'five') end,
         "Tester:add: test 'five' is a number, wanted a function")
   end)
end)

describe("the Tester's inner hooks", function()
   it('get every assertion, and its callers get the results', function()
      local tester = torch.Tester()
      tester._success = function() return true, 'good' end
      tester._failure = function(_, message) return false, message end
      local t, u = torch.Tensor{1}, torch.Tensor{2}
      local function raise() error 'here' end
      for name, calls in pairs{
         assert = {{true}, {false}}, assertlt = {{1, 2}, {2, 1}}, assertgt = {{2, 1}, {1, 2}},
         assertle = {{1, 1}, {2, 1}}, assertge = {{1, 1}, {1, 2}}, asserteq = {{1, 1}, {1, 2}},
         assertne = {{1, 2}, {1, 1}}, assertalmosteq = {{1, 1}, {1, 2}}, eq = {{t, t}, {t, u}},
         ne = {{t, u}, {t, t}}, assertTensorEq = {{t, t}, {t, u}},
         assertTensorNe = {{t, u}, {t, t}},
         assertTableEq = {{{1}, {1}}, {{1}, {2}}}, assertTableNe = {{{1}, {2}}, {{1}, {1}}},
         assertError = {{raise}, {type}}, assertNoError = {{function() end}, {raise}},
         assertErrorPattern = {{raise, 'her.'}, {raise, 'there'}},
      } do
         for i, call in ipairs(calls) do
            local f, arguments = tester[name], {unpack(call)}
            if name == 'assertError' and i == 2 then arguments[1] = function() end end
            table.insert(arguments, 'the message')
            local ok, text = f(tester, unpack(arguments))
            assert.equal(i == 1, ok, name)
            assert.truthy(text:find(i == 1 and 'good' or 'the message', 1, true), name)
         end
      end
   end)

   it('reject wrong arguments of assertions, and name unusual behaviour of a test', function()
      local tester = torch.Tester()
      assert.error_matches(function() tester:assert(true, 'a', 'b') end, 'Unexpected arguments')
      assert.error_matches(function() tester:eq(1, 1, 'a', 'b') end, 'two messages')
      assert.error_matches(function() tester:assertTensorEq(torch.Tensor(), 2) end,
         'Second argument should be a Tensor')
      assert.error_matches(function() tester:add{{}} end, 'Nested sets of tests')
      tester:add(function() end, '_setUp')
      assert.error_matches(function() tester:add(function() end, '_setUp') end, 'Only one _setUp')
      tester:assert({})
      tester:assertne({}, {})
      tester:assertTensorEq(torch.Tensor{{1}}, torch.Tensor{1})
      local warnings = table.concat(tester.warnings, '\n')
      for _, text in ipairs{'plain table', 'boolean conditions', 'compare basic', 'dimensions'} do
         assert.truthy(warnings:find(text, 1, true), text)
      end
   end)
end)

describe('torch.TestSuite', function()
   it('rejects a duplicate name and values that are not functions', function()
      local suite = torch.TestSuite()
      function suite.one() end
      assert.has_error(function() function suite.one() end end,
         "TestSuite: Test one is already defined.")
      assert.has_error(function() suite.two = 5 end,
         "TestSuite: test 'two' is a number, wanted a function")
   end)
end)
