--- torch.TestSuite(): a table of test functions in which no name can be used twice.
--
-- Invariant: the functions are kept in __tests, so that assigning an existing name reaches
-- __newindex.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local type = dptffi.type

--- Returns an empty suite: `function suite.name() ... end` adds a test; add it to a torch.Tester.
function torch.TestSuite()
   local tests = {}
   return setmetatable({__tests = tests, __isTestSuite = true}, {
      __index = tests,
      __newindex = function(_, name, f)
         if type(f) ~= 'function' then
            dptffi.fail("TestSuite: test '%s' is a %s, wanted a function", tostring(name),
               torch.type(f))
         end
         if tests[name] ~= nil then
            dptffi.fail('TestSuite: Test %s is already defined.', tostring(name))
         end
         tests[name] = f
      end,
   })
end

return torch.TestSuite
