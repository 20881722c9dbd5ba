--- torch.Tester: Torch7's test harness.
--
-- Invariant: a failed assertion is counted and reported at the end; it does not end its test. `run`
-- raises if anything failed, so that the exit status of a test script reports it. The counts by
-- test name are in assertionPass, assertionFail and testError. Every assertion goes through
-- _assert_sub, _success and _failure, every test through _pcall: testers of other packages override
-- them.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local type = dptffi.type

local Tester = torch.class('torch.Tester')

function Tester:__init()
   self.errors, self.warnings, self.tests, self.disabledTests = {}, {}, {}, {}
   self.testnames = {} -- in the order of `add`
   self.assertionPass, self.assertionFail, self.testError = {}, {}, {}
   self.countasserts = 0
   self._currentTestName, self._warningCount = '', {}
   self._assertTensorEqIgnoresDims = true -- as in Torch7, with a warning
end

--- Makes `run` stop after the first test that fails.
-- @function torch.Tester:setEarlyAbort
-- @as tester
-- @param yes boolean: true enables it
-- @return nothing
-- @usage local t = torch.Tester()
--    local before = t.earlyAbort
--    t:setEarlyAbort(true)
--    return before, t.earlyAbort --> nil, true
function Tester:setEarlyAbort(yes) self.earlyAbort = yes end

--- Makes a failed assertion or an error in a test raise at once.
-- @function torch.Tester:setRethrowErrors
-- @as tester
-- @param yes boolean: true enables it
-- @return nothing
-- @usage local t = torch.Tester()
--    t:setRethrowErrors(true)
--    return select(2, pcall(t.assert, t, false, 'an order')):match '[^\n]*$'
--    --> BOOL failed: condition is false
function Tester:setRethrowErrors(yes) self.rethrow = yes end

--- Makes the report omit individual failures.
-- @function torch.Tester:setSummaryOnly
-- @as tester
-- @param yes boolean: true enables it
-- @return nothing
-- @usage local t = torch.Tester()
--    local before = t.summaryOnly
--    t:setSummaryOnly(true)
--    return before, t.summaryOnly --> nil, true
function Tester:setSummaryOnly(yes) self.summaryOnly = yes end

-- assertions ----------------------------------------------------------------------------------

local function bump(counts, name) counts[name] = (counts[name] or 0) + 1 end

--- Returns the line of the assertion in the test: the first outside the harness itself.
local function location()
   local own = debug.getinfo(1, 'S').source
   local assertions = own:gsub('tester%.lua$', 'assertions.lua')
   for level = 3, 20 do
      local info = debug.getinfo(level, 'Sl')
      if not info then break end
      if info.source ~= own and info.source ~= assertions and info.what ~= 'C' then
         return ('\n  at %s:%d'):format(info.short_src, info.currentline)
      end
   end
   return ''
end

local function inTest(self, text)
   local name = self._currentTestName
   return (name ~= '' and name .. '\n' or '') .. text .. location()
end

--- Counts a passed assertion. @return true
function Tester:_success()
   bump(self.assertionPass, self._currentTestName)
   return true
end

--- Counts a failed assertion. @return false
function Tester:_failure(message)
   if self.rethrow then error(message, 2) end
   bump(self.assertionFail, self._currentTestName)
   table.insert(self.errors, inTest(self, message))
   return false
end

--- Counts a warning.
function Tester:_warning(message)
   bump(self._warningCount, self._currentTestName)
   table.insert(self.warnings, inTest(self, message))
end

--- Counts an assertion. @return the result of _success or _failure
function Tester:_assert_sub(condition, message)
   self.countasserts = self.countasserts + 1
   if condition then return self:_success() end
   return self:_failure(message)
end

require 'dpt.util.assertions'

-- tests ----------------------------------------------------------------------------------------

--- Adds a function under a name, a torch.TestSuite, or a table of functions. `_setUp` and
-- `_tearDown` are called with the test's name before and after each test.
-- @function torch.Tester:add
-- @as tester
-- @param f function: or a torch.TestSuite or a table of functions
-- @param name? string: name of a single function ('unknown')
-- @return the tester
-- @usage torch.Tester():add(function() end, 'first').testnames --> {first}
function Tester:add(f, name)
   if type(f) == 'table' then
      if not f.__isTestSuite then
         self:_warning('add was given a plain table: use TestSuite rather than plain lua table')
      end
      local names = {}
      for key in pairs(f.__tests or f) do names[#names + 1] = key end
      table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
      for _, key in ipairs(names) do
         local test = (f.__tests or f)[key]
         if type(test) == 'table' then
            dptffi.fail("Tester:add: '%s' is a table: Nested sets of tests are not supported",
               tostring(key))
         end
         self:add(test, key)
      end
      return self
   end
   if type(f) ~= 'function' then
      dptffi.fail("Tester:add: test '%s' is a %s, wanted a function", tostring(name), torch.type(f))
   end
   name = name or 'unknown'
   if name == '_setUp' or name == '_tearDown' then
      if self[name] then dptffi.fail('Tester:add: Only one %s is allowed', name) end
      self[name] = f
   elseif self.tests[name] then
      dptffi.fail("Tester:add: test '%s' exists already", tostring(name))
   else
      self.tests[name] = f
      table.insert(self.testnames, name)
   end
   return self
end

--- Disables tests.
-- @function torch.Tester:disable
-- @as tester
-- @param names string: or a list of names
-- @return the tester
-- @usage torch.Tester():add(function() end, 'slow'):disable('slow').disabledTests --> {slow=true}
function Tester:disable(names)
   for _, name in ipairs(type(names) == 'table' and names or {names}) do
      if not self.tests[name] then dptffi.fail("Tester:disable: no test '%s'", tostring(name)) end
      self.disabledTests[name] = true
   end
   return self
end

--- Returns the names that match one of the patterns (anywhere in the name), each once.
local function choose(self, patterns)
   if patterns == nil then return self.testnames end
   local chosen, taken = {}, {}
   for _, pattern in ipairs(type(patterns) == 'table' and patterns or {patterns}) do
      local found = false
      for _, name in ipairs(self.testnames) do
         if name == pattern or tostring(name):match(pattern) then
            found = true
            if not taken[name] then chosen[#chosen + 1] = name end
            taken[name] = true
         end
      end
      if not found then dptffi.fail("Tester:run: no test matches '%s'", pattern) end
   end
   return chosen
end

--- Calls a test. @return true if it did not raise, its result or the error, true if it passed
function Tester:_pcall(f)
   local before = #self.errors
   local ok, result = xpcall(f, debug.traceback)
   if not ok then
      table.insert(self.errors, self._currentTestName .. '\nthe test raised:\n'
         .. tostring(result))
   end
   return ok, result, ok and before == #self.errors
end

--- Runs one test. @return 'PASS', 'FAIL', 'ERROR' or 'SKIP'
local function runOne(self, name)
   if self.disabledTests[name] then return 'SKIP' end
   self._currentTestName = name
   local failures = self.assertionFail[name]
   if self._setUp then self._setUp(name) end
   local ok = true
   if self.rethrow then
      self.tests[name]()
   else
      ok = self:_pcall(self.tests[name])
   end
   if self._tearDown then self._tearDown(name) end
   self._currentTestName = ''
   if not ok then
      self.testError[name] = 1
      return 'ERROR'
   end
   return self.assertionFail[name] == failures and 'PASS' or 'FAIL'
end

local COLUMNS = 80

local function plural(n, word) return n .. ' ' .. word .. (n == 1 and '' or 's') end

local function report(self, names)
   local failures, errors, disabled = 0, 0, 0
   for _, name in ipairs(names) do
      if self.disabledTests[name] then disabled = disabled + 1 end
      if self.assertionFail[name] > 0 then failures = failures + 1 end
      errors = errors + self.testError[name]
   end
   io.write(('Completed %s in %s with %s and %s'):format(plural(self.countasserts, 'assert'),
      plural(#names, 'test'), plural(failures, 'failure'), plural(errors, 'error')))
   if #self.warnings > 0 then io.write(' and ', plural(#self.warnings, 'warning')) end
   if disabled > 0 then io.write((' and %d disabled'):format(disabled)) end
   io.write('\n')
   if not self.summaryOnly and #self.errors + #self.warnings > 0 then
      local dashes = ('-'):rep(COLUMNS) .. '\n'
      io.write(dashes)
      for _, list in ipairs{self.errors, self.warnings} do
         for _, text in ipairs(list) do io.write(text, '\n', dashes) end
      end
   end
   return failures + errors
end

--- Runs the tests, prints what failed, and raises if a test did.
-- @function torch.Tester:run
-- @as tester
-- @param names? string: a pattern, or a list of patterns: runs only tests with matching names
-- @return 0
-- @usage local w, t = io.write, torch.Tester()
--    io.write = function() end
--    t:add(function() t:eq(1, 1) end, 'one')
--    local r = t:run()
--    io.write = w
--    return r, t.assertionPass.one --> 0, 1
function Tester:run(names)
   names = choose(self, names)
   self.countasserts = 0
   for _, name in ipairs(names) do
      self.assertionPass[name], self.assertionFail[name], self.testError[name] = 0, 0, 0
   end
   io.write('Running ', plural(#names, 'test'), '\n')
   local digits = #tostring(#names)
   for i, name in ipairs(names) do
      local result = runOne(self, name)
      local title = ('%' .. digits .. 'd/%d %s '):format(i, #names, name)
      io.write(title, ('.'):rep(COLUMNS - 7 - #title), (' [%s]\n'):format(result))
      io.flush()
      if self.earlyAbort and (result == 'FAIL' or result == 'ERROR') then break end
   end
   if report(self, names) > 0 then error('An error was found while running tests!', 2) end
   return 0
end

--- Tags shared by the reference entries of testers.
-- @pattern tester
-- @within utilities
-- @follows Torch7's torch.Tester
-- @raise if an argument has the wrong type; the message names it

return Tester
