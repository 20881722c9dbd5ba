--- Lua's operators on tensors: those that a script defines in a class of tensors override dpt's.
-- The spec changes ShortTensor only, and restores it.
local torch = require 'dpt.tensor'

describe('Operators of tensors (dpt.tensor.operators):', function()
   local Short = torch.getmetatable('torch.ShortTensor')
   local function with(name, f, body)
      local old = rawget(Short, name)
      Short[name] = f
      local ok, why = pcall(body)
      Short[name] = old
      if not ok then error(why, 0) end
   end
   local function short(...) return torch.ShortTensor{...} end

   for _, underlines in ipairs{'', '__'} do
      it('a class of tensors gets those that a script defines as __add' .. underlines, function()
         local function define(name, f, body) with('__' .. name .. underlines, f, body) end
         define('eq', function(a, b) return a:sum() == b:sum() end, function()
            assert.is_true(short(1, 2) == short(2, 1))
            assert.is_false(short(1, 2) == short(2, 2))
            assert.is_true(short(1) ~= torch.IntTensor{1})
            assert.is_false(short(1) == nil or short(1) == 1 or 'x' == short(1)) -- luacheck: ignore
         end)
         define('lt', function(a, b) return a:sum() < b:sum() end, function()
            assert.is_true(short(1) < short(2) and short(3) > short(2))
         end)
         define('le', function(a, b) return a:sum() <= b:sum() end, function()
            assert.is_true(short(2) <= short(2) and short(3) >= short(2))
         end)
         define('pow', function(a, b) return torch.ShortTensor.new(a:size()):fill(a[1] ^ b) end,
            function() assert.are.equal(8, (short(2) ^ 3)[1]) end)
         define('concat', function(a, b) return torch.type(a) .. torch.type(b) end, function()
            assert.are.equal('torch.ShortTensorstring', short(2) .. 'x')
            assert.are.equal('numbertorch.ShortTensor', 3 .. short(2))
         end)
         define('call', function(t, a, b, c) return t[1] + a + b + c end, function()
            assert.are.equal(10, short(1)(2, 3, 4))
         end)
         define('tostring', function(t) return 'short ' .. t[1] end, function()
            assert.are.equal('short 4', tostring(short(4)))
         end)
         define('len', function() return 7 end, function() assert.are.equal(7, #short(4)) end)
         define('unm', function() return 'minus' end, function()
            assert.are.equal('minus', -short(4))
         end)
         define('add', function(a, b) return torch.type(a) .. torch.type(b) end, function()
            assert.are.equal('numbertorch.ShortTensor', 1 + short(1))
            assert.are.equal(2, (torch.IntTensor{1} + 1)[1])
         end)
         assert.are.equal(2, (short(1) + 1)[1])
         assert.are.equal(' 1\n[torch.ShortTensor of size 1]\n', tostring(short(1)))
         assert.is_false(short(1) == short(1))
      end)
   end

   it('they are in the classes of tensors, where packages wrap them', function()
      local old, seen = Short.__mul, nil
      assert.are.equal(old, torch.getmetatable('torch.CudaTensor').__mul)
      with('__mul', function(a, b)
         if torch.type(b) == 'table' then seen, b = b, b.value end
         return old(a, b)
      end, function()
         local node = {value = short(3)}
         assert.are.equal(6, short(2) * node)
         assert.are.equal(node, seen)
         assert.are.equal(4, (short(2) * 2)[1])
      end)
      for _, name in ipairs{'add', 'sub', 'div', 'mod', 'pow', 'unm', 'concat', 'len', 'eq', 'lt',
         'le', 'tostring'} do
         assert.are.equal('function', type(torch.DoubleTensor['__' .. name]))
      end
   end)

   it("a class also has Torch7's names of them, to wrap", function()
      for name in ('add sub mul div mod unm len tostring index newindex'):gmatch '%a+' do
         assert.are.equal('function', type(Short['__' .. name .. '__']), name)
      end
      local old = Short.__tostring__
      with('__tostring__', function(t) return 'wrapped ' .. old(t) end, function()
         assert.matches('^wrapped  7', tostring(short(7)))
      end)
      assert.same({7, true}, {Short.__index__(short(7), 1)})
      assert.is_false(Short.__index__(short(7), 'size'))
   end)

   it('x[i] and x[i] = v go by __index and __newindex of the class, once a script sets them',
      function()
      local x, index, newindex = short(4, 5), Short.__index, Short.__newindex
      assert.same({5, Short.size}, {index(x, 2), index(x, 'size')})
      newindex(x, 2, 6)
      assert.are.equal(6, x[2])
      with('__index', function(t, key)
         if key == 'total' then return t:sum() end
         return index(t, key)
      end, function()
         for _ = 1, 100 do assert.are.equal(10, x.total) end
         assert.are.equal(4, x[1])
         assert.are.equal(1, x[{{1}}]:nElement())
         assert.is_nil(torch.IntTensor(1).total)
      end)
      with('__newindex', function(t, key, value)
         if key == 'all' then t:fill(value) else newindex(t, key, value) end
      end, function()
         x.all = 3
         x[1] = 2
      end)
      assert.same({2, 3}, x:totable())
      assert.is_nil(x.total)
      assert.error_matches(function() x.all = 1 end, "a tensor has no fields")
   end)

   it("__index__ returns a value and true, or false for the class's own fields", function()
      local x, old = short(4, 5), Short.__index__
      with('__index__', function(t, key)
         if key == 'last' then return old(t, -1), true end
         return old(t, key)
      end, function()
         assert.same({5, 4, 2}, {x.last, x[1], x:size(1)})
      end)
      with('__newindex__', function() return false end, function()
         assert.error_matches(function() x.a = 1 end, "torch.ShortTensor: got an assignment to 'a'")
      end)
      assert.is_nil(x.last)
   end)

   it('storages also use the operators of their classes', function()
      local Long = torch.getmetatable 'torch.LongStorage'
      local s = torch.LongStorage{2, 3}
      local text, index, newindex = Long.__tostring, Long.__index, Long.__newindex
      function Long.__tostring(t) return t:size() == 2 and '2x3' or text(t) end
      function Long.__add(a, b) return a[1] + b end
      function Long.__index(t, key)
         if key == 'last' then return index(t, t:size()) end
         return index(t, key)
      end
      function Long.__newindex(t, key, value)
         newindex(t, key == 'last' and t:size() or key, value)
      end
      s.last = 4
      local seen = {tostring(s), s + 1, s.last, #s, s[1], s == torch.LongStorage{2, 3}}
      Long.__tostring, Long.__index, Long.__newindex, Long.__add = text, index, newindex, nil
      assert.same({'2x3', 3, 4, 2, 2, false}, seen)
      assert.matches('^ 2\n 4\n', tostring(s))
      assert.error_matches(function() return s + 1 end, '__add__: neither operand has it')
   end)

   it('a string that is a number is one, as with numbers', function()
      local x = torch.Tensor{2, 3}
      assert.same({{4, 5}, {4, 6}, {1, 1.5}, {0, 1}, {0, -1}, {6, 9}}, {(x + '2'):totable(),
         (x * '2'):totable(), (x / '2'):totable(), (x % '2'):totable(), ('2' - x):totable(),
         ('3' * x):totable()})
      assert.error_matches(function() return x + 'two' end, 'operator %+: wanted')
   end)

   it('undefined operators raise an error that names the operands', function()
      local t = torch.DoubleTensor(2)
      for message, f in pairs{
         ['^: tensors have none, got torch.DoubleTensor, number'] = function() return t ^ 2 end,
         ['..: tensors have none, got string, torch.DoubleTensor'] = function() return 'a' .. t end,
         ['<: tensors have none, got torch.DoubleTensor, number'] = function() return t < 1 end,
         ['<=: tensors have none, got number, torch.DoubleTensor'] = function() return t >= 1 end,
         ['(): tensors have none, got torch.DoubleTensor'] = function() return t(1) end,
      } do
         assert.has_error(f, 'operator ' .. message)
      end
   end)
end)
