--- dpt.util.assertions: what a torch.Tester can assert.
--
-- Invariant: every assertion ends in Tester:_assert_sub and returns what that returns. A tolerance
-- and a message may come in either order; anything else behind them raises.
local dptffi = require 'dpt.ffi'
local compare = require 'dpt.util.compare'
local torch = require('dpt.class').torch
local type = dptffi.type

local Tester = torch.getmetatable 'torch.Tester'

-- A failure's text: the message of the assertion, then what is wrong.
local function count(self, ok, label, text)
   return self:_assert_sub(ok, (label and label ~= '' and label .. '\n' or '') .. text)
end

--- The message of an assertion that takes nothing else.
local function message(text, ...)
   if next{...} ~= nil then
      dptffi.fail('Tester: Unexpected arguments (%s) behind the message', torch.type((...)))
   elseif text ~= nil and type(text) ~= 'string' then
      dptffi.fail('Tester: got a %s, wanted a message', torch.type(text))
   end
   return text
end

--- Tolerance and message in either order.
local function options(default, ...)
   local tolerance, label
   for i = 1, select('#', ...) do
      local value = select(i, ...)
      if type(value) == 'number' then
         if tolerance or value < 0 then
            dptffi.fail('Tester: got the tolerances %s and %s', tostring(tolerance), value)
         end
         tolerance = value
      elseif type(value) == 'string' then
         if label then dptffi.fail("Tester: got two messages, '%s' and '%s'", label, value) end
         label = value
      elseif value ~= nil then
         dptffi.fail('Tester: got a %s, wanted a tolerance or a message', torch.type(value))
      end
   end
   return tolerance or default, label
end

function Tester:assert(condition, ...)
   local label = message(...)
   if type(condition) ~= 'boolean' then
      self:_warning('assert should only be used for boolean conditions, it was given a '
         .. torch.type(condition))
   end
   return count(self, condition, label, 'BOOL failed: condition is ' .. tostring(condition))
end

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

local function want(name, is, what, a, b)
   for place_, value in pairs{First = a, Second = b} do
      if not is(value) then
         dptffi.fail('Tester:%s: %s argument should be a %s, got a %s', name, place_, what,
            torch.type(value))
      end
   end
end

--- As in Torch7 the sizes may differ, with a warning, if the elements are equal.
function Tester:assertTensorEq(a, b, ...)
   want('assertTensorEq', torch.isTensor, 'Tensor', a, b)
   local tolerance, label = options(0, ...)
   local why = compare.tensors(a, b, tolerance, self._assertTensorEqIgnoresDims)
   if not why and not a:isSameSizeAs(b) then
      self:_warning('assertTensorEq: equal elements, but different dimensions')
   end
   return count(self, why == nil, label, 'TensorEQ failed: ' .. tostring(why))
end

function Tester:assertTensorNe(a, b, ...)
   want('assertTensorNe', torch.isTensor, 'Tensor', a, b)
   local tolerance, label = options(0, ...)
   return count(self, compare.tensors(a, b, tolerance, self._assertTensorEqIgnoresDims) ~= nil,
      label, 'TensorNE failed: the two are equal')
end

Tester.assertGeneralEq, Tester.assertGeneralNe = Tester.eq, Tester.ne

local function isTable(v) return type(v) == 'table' end

function Tester:assertTableEq(a, b, ...)
   want('assertTableEq', isTable, 'Table', a, b)
   return self:eq(a, b, ...)
end

function Tester:assertTableNe(a, b, ...)
   want('assertTableNe', isTable, 'Table', a, b)
   return self:ne(a, b, ...)
end

--- Whether f raises something for which accept(error) holds.
function Tester:assertErrorObj(f, accept, ...)
   local label = message(...)
   local ok, why = pcall(f)
   return count(self, not ok and accept(why), label, 'ERROR failed: '
      .. (ok and 'nothing was raised' or 'raised ' .. tostring(why)))
end

function Tester:assertError(f, ...)
   return self:assertErrorObj(f, function() return true end, ...)
end

function Tester:assertErrorMsg(f, text, ...)
   return self:assertErrorObj(f, function(why) return why == text end, ...)
end

function Tester:assertErrorPattern(f, pattern, ...)
   return self:assertErrorObj(f, function(why) return tostring(why):find(pattern) ~= nil end, ...)
end

function Tester:assertNoError(f, ...)
   local label = message(...)
   local ok, why = pcall(f)
   return count(self, ok, label, 'ERROR failed: raised ' .. tostring(why))
end
