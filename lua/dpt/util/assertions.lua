--- dpt.util.assertions: the assertions of torch.Tester.
--
-- Invariant: every assertion ends in Tester:_assert_sub and returns its result. A tolerance and a
-- message may be passed in either order; any further argument raises.
local dptffi = require 'dpt.ffi'
local compare = require 'dpt.util.compare'
local torch = require('dpt.class').torch
local type = dptffi.type

local Tester = torch.getmetatable 'torch.Tester'

-- Counts an assertion; a failure's text is the assertion's message, then the reason.
local function count(self, ok, label, text)
   return self:_assert_sub(ok, (label and label ~= '' and label .. '\n' or '') .. text)
end

--- Returns the message of an assertion that accepts no other option.
local function message(text, ...)
   if next{...} ~= nil then
      dptffi.fail('Tester: Unexpected arguments (%s) after the message', torch.type((...)))
   elseif text ~= nil and type(text) ~= 'string' then
      dptffi.fail('Tester: got a %s, wanted a message', torch.type(text))
   end
   return text
end

--- Parses a tolerance and a message in either order.
local function options(default, ...)
   local tolerance, label
   for i = 1, select('#', ...) do
      local value = select(i, ...)
      if type(value) == 'number' then
         if tolerance or value < 0 then
            dptffi.fail('Tester: got the tolerances %s and %s, wanted one, 0 or more',
               tostring(tolerance), value)
         end
         tolerance = value
      elseif type(value) == 'string' then
         if label then
            dptffi.fail("Tester: got two messages, '%s' and '%s', wanted one", label, value)
         end
         label = value
      elseif value ~= nil then
         dptffi.fail('Tester: got a %s, wanted a tolerance or a message', torch.type(value))
      end
   end
   return tolerance or default, label
end

--- Asserts that a condition holds.
-- @function torch.Tester:assert
-- @as assertion
-- @param condition boolean: must be true
-- @usage local t = torch.Tester()
--    return t:assert(1 < 2, 'an order'), t:assert(2 < 1, 'an order') --> true, false
function Tester:assert(condition, ...)
   local label = message(...)
   if type(condition) ~= 'boolean' then
      self:_warning('assert should only be used for boolean conditions, it was given a '
         .. torch.type(condition))
   end
   return count(self, condition, label, 'BOOL failed: condition is ' .. tostring(condition))
end

--- Compares two numbers or strings: eq ==, ne ~=, lt <, le <=, gt >, ge >=.
-- @function torch.Tester:asserteq
-- @as assertion
-- @also torch.Tester:assertne()
-- @also torch.Tester:assertlt()
-- @also torch.Tester:assertle()
-- @also torch.Tester:assertgt()
-- @also torch.Tester:assertge()
-- @param a number: or a string
-- @param b number: or a string
-- @usage torch.Tester():assertlt(2, 1), torch.Tester():assertge(2, 1) --> false, true
local function comparison(name, word, holds)
   Tester['assert' .. name] = function(self, a, b, ...)
      local label = message(...)
      if name == 'ne' and type(a) == 'table' and type(b) == 'table' then
         self:_warning('assertne should only be used to compare basic values: two tables are'
            .. ' different objects; assertGeneralNe compares what is in them')
      end
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

--- Asserts that two numbers differ by at most a tolerance.
-- @function torch.Tester:assertalmosteq
-- @as assertion
-- @param a number: the first number
-- @param b number: the second number
-- @param tolerance? number: the largest difference (1e-16)
-- @usage local t = torch.Tester()
--    return t:assertalmosteq(1, 1.05, 0.1), t:assertalmosteq(1, 1.5, 0.1) --> true, false
function Tester:assertalmosteq(a, b, ...)
   local tolerance, label = options(1e-16, ...)
   return count(self, math.abs(a - b) <= tolerance, label,
      ('ALMOST_EQ failed: %s, %s, tolerance %g'):format(a, b, tolerance))
end

--- Asserts that two values are equal: numbers, strings, tensors, storages, and tables of them.
-- @function torch.Tester:eq
-- @as assertion
-- @also torch.Tester:assertGeneralEq()
-- @param a any: the first value
-- @param b any: the second value
-- @param tolerance? number: the largest difference of two numbers (0)
-- @usage local t = torch.Tester()
--    return t:eq({1, torch.ones(2)}, {1, torch.ones(2)}), t:eq({1}, {2}) --> true, false
function Tester:eq(a, b, ...)
   local tolerance, label = options(0, ...)
   local why = compare.difference(a, b, tolerance)
   return count(self, why == nil, label, 'EQ failed: ' .. tostring(why))
end

--- Asserts that two values are not equal.
-- @function torch.Tester:ne
-- @as assertion
-- @also torch.Tester:assertGeneralNe()
-- @param a any: the first value
-- @param b any: the second value
-- @param tolerance? number: the largest difference that counts as equal (0)
-- @usage local t = torch.Tester()
--    return t:ne('a', 'b'), t:ne('a', 'a') --> true, false
function Tester:ne(a, b, ...)
   local tolerance, label = options(0, ...)
   return count(self, compare.difference(a, b, tolerance) ~= nil, label,
      'NE failed: the two are equal')
end

local function checkTypes(name, is, what, a, b)
   for place_, value in pairs{First = a, Second = b} do
      if not is(value) then
         dptffi.fail('Tester:%s: %s argument should be a %s, got a %s', name, place_, what,
            torch.type(value))
      end
   end
end

--- Asserts that two tensors have equal elements; only warns if just their sizes differ.
-- @function torch.Tester:assertTensorEq
-- @as assertion
-- @param a tensor: the first tensor
-- @param b tensor: the second tensor
-- @param tolerance? number: the largest difference (0)
-- @usage local t, x, y = torch.Tester(), torch.Tensor{1, 1}, torch.Tensor{1, 1.5}
--    return t:assertTensorEq(x, y, 0.5), t:assertTensorEq(x, y, 0.25) --> true, false
function Tester:assertTensorEq(a, b, ...)
   checkTypes('assertTensorEq', torch.isTensor, 'Tensor', a, b)
   local tolerance, label = options(0, ...)
   local why = compare.tensors(a, b, tolerance, self._assertTensorEqIgnoresDims)
   if not why and not a:isSameSizeAs(b) then
      self:_warning('assertTensorEq: equal elements, but different dimensions')
   end
   return count(self, why == nil, label, 'TensorEQ failed: ' .. tostring(why))
end

--- Asserts that the elements of two tensors are not all equal.
-- @function torch.Tester:assertTensorNe
-- @as assertion
-- @param a tensor: the first tensor
-- @param b tensor: the second tensor
-- @param tolerance? number: the largest difference that counts as equal (0)
-- @usage local t, x = torch.Tester(), torch.ones(2)
--    return t:assertTensorNe(x, torch.zeros(2)), t:assertTensorNe(x, torch.ones(2)) --> true, false
function Tester:assertTensorNe(a, b, ...)
   checkTypes('assertTensorNe', torch.isTensor, 'Tensor', a, b)
   local tolerance, label = options(0, ...)
   return count(self, compare.tensors(a, b, tolerance, self._assertTensorEqIgnoresDims) ~= nil,
      label, 'TensorNE failed: the two are equal')
end

Tester.assertGeneralEq, Tester.assertGeneralNe = Tester.eq, Tester.ne

local function isTable(v) return type(v) == 'table' end

--- Asserts that two tables have equal fields.
-- @function torch.Tester:assertTableEq
-- @as assertion
-- @param a table: the first table
-- @param b table: the second table
-- @param tolerance? number: the largest difference of two numbers (0)
-- @usage local t = torch.Tester()
--    return t:assertTableEq({a = {1}}, {a = {1}}), t:assertTableEq({a = {1}}, {a = {2}})
--    --> true, false
function Tester:assertTableEq(a, b, ...)
   checkTypes('assertTableEq', isTable, 'Table', a, b)
   return self:eq(a, b, ...)
end

--- Asserts that at least one field of two tables differs.
-- @function torch.Tester:assertTableNe
-- @as assertion
-- @param a table: the first table
-- @param b table: the second table
-- @param tolerance? number: the largest difference that counts as equal (0)
-- @usage local t = torch.Tester()
--    return t:assertTableNe({1}, {2}), t:assertTableNe({1}, {1}) --> true, false
function Tester:assertTableNe(a, b, ...)
   checkTypes('assertTableNe', isTable, 'Table', a, b)
   return self:ne(a, b, ...)
end

--- Asserts that a function raises an error that another function accepts.
-- @function torch.Tester:assertErrorObj
-- @as assertion
-- @param f function: called
-- @param accept function: receives the error; returns true to accept it
-- @usage local t = torch.Tester()
--    local function fails() error{3} end
--    return t:assertErrorObj(fails, function(e) return e[1] == 3 end),
--       t:assertErrorObj(fails, function(e) return e[1] == 4 end) --> true, false
function Tester:assertErrorObj(f, accept, ...)
   local label = message(...)
   local ok, why = pcall(f)
   return count(self, not ok and accept(why), label, 'ERROR failed: '
      .. (ok and 'nothing was raised' or 'raised ' .. tostring(why)))
end

--- Asserts that a function raises an error.
-- @function torch.Tester:assertError
-- @as assertion
-- @param f function: called
-- @usage local t = torch.Tester()
--    return t:assertError(function() error 'no' end), t:assertError(function() end) --> true, false
function Tester:assertError(f, ...)
   return self:assertErrorObj(f, function() return true end, ...)
end

--- Asserts that a function raises exactly this text.
-- @function torch.Tester:assertErrorMsg
-- @as assertion
-- @param f function: called
-- @param text string: the whole error
-- @usage local t = torch.Tester()
--    local function fails() error('no', 0) end
--    return t:assertErrorMsg(fails, 'no'), t:assertErrorMsg(fails, 'yes') --> true, false
function Tester:assertErrorMsg(f, text, ...)
   return self:assertErrorObj(f, function(why) return why == text end, ...)
end

--- Asserts that a function raises an error that matches a pattern.
-- @function torch.Tester:assertErrorPattern
-- @as assertion
-- @param f function: called
-- @param pattern string: a Lua pattern
-- @usage local t = torch.Tester()
--    local function fails() error 'no such file' end
--    return t:assertErrorPattern(fails, 'such'), t:assertErrorPattern(fails, '^such')
--    --> true, false
function Tester:assertErrorPattern(f, pattern, ...)
   return self:assertErrorObj(f, function(why) return tostring(why):find(pattern) ~= nil end, ...)
end

--- Asserts that a function does not raise an error.
-- @function torch.Tester:assertNoError
-- @as assertion
-- @param f function: called
-- @usage local t = torch.Tester()
--    return t:assertNoError(function() end), t:assertNoError(function() error 'no' end)
--    --> true, false
function Tester:assertNoError(f, ...)
   local label = message(...)
   local ok, why = pcall(f)
   return count(self, ok, label, 'ERROR failed: raised ' .. tostring(why))
end

--- Tags shared by the reference entries of assertions.
-- @pattern assertion
-- @within utilities
-- @follows Torch7's torch.Tester
-- @param message? string: printed before the report of a failure
-- @return true if the assertion holds; the result is counted
-- @raise if an argument has the wrong type; a failure is only counted, unless setRethrowErrors
--    was set
