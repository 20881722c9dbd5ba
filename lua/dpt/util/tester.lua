--- torch.Tester: Torch7's test harness.
--
-- What must stay true: a failed assertion is counted and told at the end, it does not end its test;
-- `run` raises if anything failed, so that a test script's exit status tells. The counts by test
-- name are in assertionPass, assertionFail and testError.
local dptffi = require 'dpt.ffi'
local compare = require 'dpt.util.compare'
local torch = require('dpt.class').torch

local Tester = torch.class('torch.Tester')

function Tester:__init()
   self.errors, self.warnings, self.tests, self.disabledTests = {}, {}, {}, {}
   self.testnames = {} -- in the order of `add`
   self.assertionPass, self.assertionFail, self.testError = {}, {}, {}
   self.countasserts = 0
   self.current = ''
end

--- Whether `run` stops after the first test that fails.
function Tester:setEarlyAbort(yes) self.earlyAbort = yes end
--- Whether a failed assertion or an error in a test is raised at once.
function Tester:setRethrowErrors(yes) self.rethrow = yes end
--- Whether the report leaves out the single failures.
function Tester:setSummaryOnly(yes) self.summaryOnly = yes end

-- assertions ----------------------------------------------------------------------------------

local function bump(counts, name) counts[name] = (counts[name] or 0) + 1 end

--- Where in the test the assertion stands: the first line that is not of the harness itself.
local function place()
   local own = debug.getinfo(1, 'S').source
   for level = 3, 20 do
      local info = debug.getinfo(level, 'Sl')
      if not info then break end
      if info.source ~= own and info.what ~= 'C' then
         return ('\n  at %s:%d'):format(info.short_src, info.currentline)
      end
   end
   return ''
end

local function warn(self, text)
   local name = self.current ~= '' and self.current .. '\n' or ''
   table.insert(self.warnings, name .. text .. place())
end

--- Counts one assertion. @return ok
local function count(self, ok, label, text)
   self.countasserts = self.countasserts + 1
   if ok then
      bump(self.assertionPass, self.current)
      return true
   end
   text = (label and label ~= '' and label .. '\n' or '') .. text
   bump(self.assertionFail, self.current)
   if self.rethrow then error(text, 3) end
   table.insert(self.errors, self.current .. '\n' .. text .. place())
   return false
end

--- Tolerance and message in either order.
local function options(default, ...)
   local tolerance, label
   for i = 1, select('#', ...) do
      local value = select(i, ...)
      if type(value) == 'number' then
         tolerance = value
      elseif type(value) == 'string' then
         label = value
      elseif value ~= nil then
         dptffi.fail('Tester: got a %s, wanted a tolerance or a message', type(value))
      end
   end
   return tolerance or default, label
end

function Tester:assert(condition, label)
   if type(condition) ~= 'boolean' then
      warn(self, 'assert was given a ' .. type(condition) .. ', wanted true or false')
   end
   return count(self, condition, label, 'BOOL failed: condition is ' .. tostring(condition))
end

local function comparison(name, word, holds)
   Tester['assert' .. name] = function(self, a, b, label)
      return count(self, holds(a, b), label,
         ('%s failed: %s, %s'):format(word, tostring(a), tostring(b)))
   end
end
comparison('lt', 'LT', function(a, b) return a < b end)
comparison('gt', 'GT', function(a, b) return a > b end)
comparison('le', 'LE', function(a, b) return a <= b end)
comparison('ge', 'GE', function(a, b) return a >= b end)
comparison('eq', 'EQ', function(a, b) return a == b end)
comparison('ne', 'NE', function(a, b) return a ~= b end)

function Tester:assertalmosteq(a, b, ...)
   local tolerance, label = options(1e-16, ...)
   return count(self, math.abs(a - b) <= tolerance, label,
      ('ALMOST_EQ failed: %s, %s, tolerance %g'):format(a, b, tolerance))
end

--- eq(a, b [, tolerance] [, message]): numbers, strings, tensors, storages, tables of them.
function Tester:eq(a, b, ...)
   local tolerance, label = options(0, ...)
   local why = compare.difference(a, b, tolerance)
   return count(self, why == nil, label, 'EQ failed: ' .. tostring(why))
end

function Tester:ne(a, b, ...)
   local tolerance, label = options(0, ...)
   return count(self, compare.difference(a, b, tolerance) ~= nil, label,
      'NE failed: the two are equal')
end

local function wantTensors(name, a, b)
   if not torch.isTensor(a) or not torch.isTensor(b) then
      dptffi.fail('Tester:%s: got a %s and a %s, wanted two tensors', name, torch.type(a),
         torch.type(b))
   end
end

--- As in Torch7 the sizes may differ, with a warning, if the elements are equal.
function Tester:assertTensorEq(a, b, ...)
   wantTensors('assertTensorEq', a, b)
   local tolerance, label = options(0, ...)
   local why = compare.tensors(a, b, tolerance, true)
   if not why and not a:isSameSizeAs(b) then
      warn(self, 'assertTensorEq: equal elements, but different sizes')
   end
   return count(self, why == nil, label, 'TensorEQ failed: ' .. tostring(why))
end

function Tester:assertTensorNe(a, b, ...)
   wantTensors('assertTensorNe', a, b)
   return self:ne(a, b, ...)
end

Tester.assertGeneralEq, Tester.assertGeneralNe = Tester.eq, Tester.ne
Tester.assertTableEq, Tester.assertTableNe = Tester.eq, Tester.ne

--- Whether f raises something for which accept(error) holds.
function Tester:assertErrorObj(f, accept, label)
   local ok, why = pcall(f)
   return count(self, not ok and accept(why), label, 'ERROR failed: '
      .. (ok and 'nothing was raised' or 'raised ' .. tostring(why)))
end

function Tester:assertError(f, label)
   return self:assertErrorObj(f, function() return true end, label)
end

function Tester:assertErrorMsg(f, text, label)
   return self:assertErrorObj(f, function(why) return why == text end, label)
end

function Tester:assertErrorPattern(f, pattern, label)
   return self:assertErrorObj(f, function(why) return tostring(why):find(pattern) ~= nil end, label)
end

function Tester:assertNoError(f, label)
   local ok, why = pcall(f)
   return count(self, ok, label, 'ERROR failed: raised ' .. tostring(why))
end

-- tests ----------------------------------------------------------------------------------------

--- Adds a function under a name, a torch.TestSuite, or a table of functions. `_setUp` and
-- `_tearDown` are called with the test's name before and after each test.
-- @return the tester
function Tester:add(f, name)
   if type(f) == 'table' then
      if not f.__isTestSuite then
         warn(self, 'add was given a plain table, wanted a torch.TestSuite')
      end
      local names = {}
      for key in pairs(f.__tests or f) do names[#names + 1] = key end
      table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
      for _, key in ipairs(names) do self:add((f.__tests or f)[key], key) end
      return self
   end
   if type(f) ~= 'function' then
      dptffi.fail("Tester:add: test '%s' is a %s, wanted a function", tostring(name), type(f))
   end
   name = name or 'unknown'
   if name == '_setUp' or name == '_tearDown' then
      self[name] = f
   elseif self.tests[name] then
      dptffi.fail("Tester:add: test '%s' exists already", tostring(name))
   else
      self.tests[name] = f
      table.insert(self.testnames, name)
   end
   return self
end

--- Leaves out tests from now on. @param names a name or a list of names @return the tester
function Tester:disable(names)
   for _, name in ipairs(type(names) == 'table' and names or {names}) do
      if not self.tests[name] then dptffi.fail("Tester:disable: no test '%s'", tostring(name)) end
      self.disabledTests[name] = true
   end
   return self
end

--- The names that match one of the patterns as a whole.
local function choose(self, patterns)
   if patterns == nil then return self.testnames end
   local chosen = {}
   for _, pattern in ipairs(type(patterns) == 'table' and patterns or {patterns}) do
      local before = #chosen
      for _, name in ipairs(self.testnames) do
         if name == pattern or tostring(name):match('^' .. pattern .. '$') then
            chosen[#chosen + 1] = name
         end
      end
      if #chosen == before then dptffi.fail("Tester:run: no test matches '%s'", pattern) end
   end
   return chosen
end

--- Runs one test. @return 'PASS', 'FAIL', 'ERROR' or 'SKIP'
local function runOne(self, name)
   if self.disabledTests[name] then return 'SKIP' end
   self.current = name
   local failures = self.assertionFail[name]
   if self._setUp then self._setUp(name) end
   local ok, why = true, nil
   if self.rethrow then
      self.tests[name]()
   else
      ok, why = xpcall(self.tests[name], debug.traceback)
   end
   if self._tearDown then self._tearDown(name) end
   self.current = ''
   if not ok then
      self.testError[name] = 1
      table.insert(self.errors, name .. '\nthe test raised:\n' .. tostring(why))
      return 'ERROR'
   end
   return self.assertionFail[name] == failures and 'PASS' or 'FAIL'
end

local function plural(n, word) return n .. ' ' .. word .. (n == 1 and '' or 's') end

local function report(self, names)
   local failures, errors = 0, 0
   for _, name in ipairs(names) do
      failures = failures + self.assertionFail[name]
      errors = errors + self.testError[name]
   end
   io.write(('Completed %s in %s with %s and %s'):format(plural(self.countasserts, 'assert'),
      plural(#names, 'test'), plural(failures, 'failure'), plural(errors, 'error')))
   if #self.warnings > 0 then io.write(' and ', plural(#self.warnings, 'warning')) end
   io.write('\n')
   if not self.summaryOnly then
      for _, list in ipairs{self.warnings, self.errors} do
         for _, text in ipairs(list) do io.write(('-'):rep(80), '\n', text, '\n') end
      end
   end
   return failures + errors
end

--- run([names]): runs all tests or those whose names match; returns 0, raises where one failed.
function Tester:run(names)
   names = choose(self, names)
   self.countasserts = 0
   for _, name in ipairs(names) do
      self.assertionPass[name], self.assertionFail[name], self.testError[name] = 0, 0, 0
   end
   io.write('Running ', plural(#names, 'test'), '\n')
   for i, name in ipairs(names) do
      local result = runOne(self, name)
      io.write(('%d/%d %s [%s]\n'):format(i, #names, name, result))
      io.flush()
      if self.earlyAbort and (result == 'FAIL' or result == 'ERROR') then break end
   end
   if report(self, names) > 0 then error('An error was found while running tests!', 2) end
   return 0
end

return Tester
