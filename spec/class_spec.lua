-- torch.class, its registry and the functions that query types (in addition to spec/golden).
local torch = require 'dpt.tensor'

local counter = 0
local function fresh(stem)
   counter = counter + 1
   return ('classSpec.%s%d'):format(stem, counter)
end

describe('torch.class', function()
   it('makes objects with their own fields and the class methods', function()
      local module, name = {}, fresh 'Point'
      local Point = torch.class(name, module)
      function Point:__init(x) self.x = x end
      function Point:twice() return 2 * self.x end
      local make = module[name:match '[^.]+$']
      local p, q = make(3), make(4)
      assert.equal(6, p:twice())
      assert.equal(8, q:twice())
      assert.equal(name, torch.typename(p))
      assert.equal(make, torch.getconstructortable(name))
      assert.equal('table', torch.type(make))
   end)

   it('finds methods that are added to a parent later', function()
      local m = {}
      local Parent = torch.class('classSpec.LateParent', m)
      torch.class('classSpec.LateChild', 'classSpec.LateParent', m)
      local child = m.LateChild()
      function Parent.late() return 'found' end
      assert.equal('found', child.late())
   end)

   it('installs operators that are defined after the children', function()
      local m = {}
      local Parent = torch.class('classSpec.OpParent', m)
      local Child = torch.class('classSpec.OpChild', 'classSpec.OpParent', m)
      torch.class('classSpec.OpGrandchild', 'classSpec.OpChild', m)
      function Parent.__tostring__() return 'parent' end
      assert.equal('parent', tostring(m.OpGrandchild()))
      function Child.__tostring__() return 'child' end
      assert.equal('child', tostring(m.OpGrandchild()))
      assert.equal('parent', tostring(m.OpParent()))
      torch.class('OpPlain', m) -- as in Torch7: the class's name
      assert.equal('OpPlain', tostring(m.OpPlain()))
   end)

   it("calls __index__ and __newindex__ before the class's own fields", function()
      local m = {}
      local C = torch.class('classSpec.Indexed', m)
      function C.__index__(_, key) if type(key) == 'number' then return key * 2, true end end
      function C.__newindex__(_, key) return key == 'dropped' end
      function C.method() return 'method' end
      local o = m.Indexed()
      o.dropped, o.kept = 1, 2
      assert.equal(14, o[7])
      assert.equal('method', o:method())
      assert.is_nil(rawget(o, 'dropped'))
      assert.equal(2, rawget(o, 'kept'))
   end)

   it("answers with Torch7's functions for operators, which a script wraps", function()
      local m = {}
      local C = torch.class('classSpec.Wrapped', m)
      local D = torch.class('classSpec.WrappedChild', 'classSpec.Wrapped', m)
      function D.method() return 'method' end
      local o, p = m.Wrapped(), m.WrappedChild()
      assert.equal('classSpec.Wrapped', C.__tostring(o))
      assert.is_true(C.__eq(o, o))
      assert.is_false(C.__eq(o, m.Wrapped()))
      C.__newindex(o, 'field', 3)
      assert.equal(3, rawget(o, 'field'))
      assert.equal('method', C.__index(p, 'method')())
      assert.error_matches(function() C.__add(o, 1) end, '__add__: neither operand has it')
      assert.error_matches(function() C() end, 'its constructor does')

      local index = C.__index
      function C.__index(object, key)
         if key == 'answer' then return 42 end
         return index(object, key)
      end
      assert.same({42, 3}, {o.answer, o.field})
      assert.is_nil(o.nothing)
      function C.__add__() return 'sum' end
      local add = C.__add
      function C.__add(...) return 'wrapped ' .. add(...) end
      assert.equal('wrapped sum', o + 1)
   end)

   it('has operators that are defined a second time seen by classes made before', function()
      local m = {}
      local Parent = torch.class('classSpec.Twice', m)
      torch.class('classSpec.TwiceChild', 'classSpec.Twice', m)
      for _, word in ipairs{'first', 'second'} do
         for _, name in ipairs{'add', 'sub', 'mul', 'div', 'mod', 'pow', 'concat', 'call', 'unm'} do
            Parent['__' .. name .. '__'] = function() return word .. name end
         end
         Parent.__tostring__, Parent.__len__ = function() return word end, function() return 7 end
         for _, o in ipairs{m.Twice(), m.TwiceChild()} do
            local names = 'add sub mul div mod pow concat concat call unm'
            local expected = names:gsub('%w+', word .. '%0') .. ' ' .. word
            assert.equal(expected, table.concat({o + 1, 1 - o, o * o, o / 2, o % 2, o ^ 2, o .. 'x',
               'x' .. o, o(), -o, tostring(o)}, ' '))
         end
      end
   end)

   it('compares objects of two classes by the operator that both inherit', function()
      local m = {}
      local Parent = torch.class('classSpec.Ordered', m)
      torch.class('classSpec.OrderedChild', 'classSpec.Ordered', m)
      function Parent:__init(n) self.n = n end
      function Parent.__eq__(a, b) return a.n == b.n end
      function Parent.__lt__(a, b) return a.n < b.n end
      function Parent.__le__(a, b) return a.n <= b.n end
      local a, b = m.Ordered(1), m.OrderedChild(1)
      assert.is_true(a == b)
      assert.is_true(a <= b)
      assert.is_false(a < b)
   end)

   it('makes no tail call in constructors and operators, whose levels scripts count', function()
      local m = {}
      local C = torch.class('classSpec.Levels', m)
      local function caller(level) return debug.getinfo(level + 1, 'l').currentline end
      function C:__init() self.line = caller(4) end
      function C.__call__() return caller(3), 'second' end
      function C.__unm__()
         local line = caller(3)
         return line
      end
      local here = debug.getinfo(1, 'l').currentline
      local object = m.Levels()
      local called, second = object()
      local negated = -object
      assert.same({here + 1, here + 2, 'second', here + 3}, {object.line, called, second, negated})
   end)

   it("adds Torch7's fields to every class", function()
      local m = {}
      local C = torch.class('classSpec.Fields', m)
      function C:__init(x) self.x = x end
      assert.equal(3, m.Fields.new(3).x)
      assert.equal(4, m.Fields(3).new(4).x)
      assert.equal(m.Fields, C.__constructor)
      assert.equal(C, debug.getregistry()['classSpec.Fields'])
      assert.equal('classSpec.Fields', debug.getregistry()[C])
      assert.equal(torch.getmetatable 'torch.FloatTensor', debug.getregistry()['torch.FloatTensor'])
      function C.__factory() return setmetatable({own = true}, C) end
      assert.is_true(torch.factory 'classSpec.Fields'().own)
   end)

   it('registers a table under a name by torch.metatype', function()
      local methods = {}
      methods.__index = methods
      torch.metatype('classSpec.Metatype', methods)
      assert.equal('classSpec.Metatype', torch.typename(setmetatable({}, methods)))
      assert.equal(methods, torch.getmetatable 'classSpec.Metatype')
   end)

   it('rejects a second class of one name, an unknown parent, a missing package', function()
      local m, name = {}, fresh 'Once'
      torch.class(name, m)
      assert.error_matches(function() torch.class(name, m) end, 'exists already')
      assert.error_matches(function() torch.class(fresh 'Orphan', 'no.Parent', m) end,
         "parent class 'no.Parent'")
      assert.error_matches(function() torch.class('noSuchPackage.Thing') end, 'noSuchPackage')
      assert.error_matches(function() torch.class(5) end, 'wanted name')
   end)

   it('blames the line of the caller', function()
      local line = debug.getinfo(1, 'l').currentline + 2
      local ok, why = pcall(function()
         torch.class('no.Class', 'no.Parent', {})
      end)
      assert.is_false(ok)
      assert.truthy(why:find('class_spec.lua:' .. line .. ':', 1, true))
   end)
end)

describe('Of the functions about types,', function()
   it('isTypeOf accepts full names, patterns of full names and constructors', function()
      local m = {}
      torch.class('classSpec.Base', m)
      torch.class('classSpec.Derived', 'classSpec.Base', m)
      local o = m.Derived()
      assert.is_true(torch.isTypeOf(o, 'classSpec.Base'))
      assert.is_true(torch.isTypeOf(o, m.Base))
      assert.is_true(torch.isTypeOf(o, 'classSpec%..*'))
      assert.is_true(torch.isTypeOf(o, 'D.rived'))
      assert.is_true(torch.isTypeOf(m.Derived, 'classSpec.Base'))
      assert.is_false(torch.isTypeOf(o, 'Base'))
      assert.is_false(torch.isTypeOf(m.Base(), m.Derived))
      assert.is_false(torch.isTypeOf(3, 'number'))
   end)

   it('typename returns nil for a value without a class', function()
      for _, v in ipairs{1, 'x', {}, print, io.stdout, setmetatable({}, {__index = {}})} do
         assert.is_nil(torch.typename(v))
         assert.equal(type(v), torch.type(v))
      end
   end)

   it('setmetatable and factory make objects without __init', function()
      local m = {}
      local C = torch.class('classSpec.Raw', m)
      function C:__init() self.made = true end
      assert.is_nil(torch.factory('classSpec.Raw')().made)
      assert.equal('classSpec.Raw', torch.typename(torch.setmetatable({}, 'classSpec.Raw')))
      assert.is_nil(torch.factory 'classSpec.NoSuch')
      assert.error_matches(function() torch.setmetatable({}, 'classSpec.NoSuch') end, 'unknown')
   end)
end)
