--- spec for what travels between Lua states, by way of dpt.threads.writer and reader.
local ffi = require 'ffi'
local Pool = require 'dpt.threads.pool'
local nn = require 'nn'
local torch = require 'torch'
local threads = require 'threads'

describe('values that go to a worker and back', function()
   local pool

   setup(function() pool = Pool.new(1) end)
   teardown(function() pool:close() end)

   local function remote(...)
      local values, count = pool:receive(pool:send(1, ...))
      if not values then error(count, 0) end
      return unpack(values, 1, count)
   end

   local function echo(...)
      return remote(function(...) return ... end, ...)
   end

   it('are numbers, strings, booleans and nils, in their places', function()
      local list = {nil, true, false, nil, 0.1, -0.0, 1 / 0, 2 ^ 53, 'a\0b', '', nil}
      local back = {n = select('#', echo(unpack(list, 1, 11))), echo(unpack(list, 1, 11))}
      assert.equals(11, back.n)
      for i = 1, 11 do assert.equals(list[i], back[i]) end
      assert.equals(-1 / 0, 1 / back[6])
      local nan = echo(0 / 0)
      assert.is_true(nan ~= nan)
      assert.equals(0, select('#', echo()))
   end)

   it('are tables: shared ones, cycles, holes, any keys', function()
      local shared = {1, 2, nil, 4, [2.5] = 'x', [true] = 'y', [-1] = 0}
      local t = {shared, {shared}, name = shared}
      t.me, t[shared] = t, 'key'
      local back = echo(t)
      assert.is_true(back.me == back)
      assert.is_true(back[1] == back.name and back[2][1] == back[1])
      assert.equals('key', back[back[1]])
      assert.same(shared, back[1])
      assert.is_nil(getmetatable(echo(setmetatable({1}, {__index = {a = 1}}))))
   end)

   it('are deep tables and many', function()
      local deep, wide = {}, {}
      for _ = 1, 2000 do deep = {deep} end
      for i = 1, 20000 do wide[i] = i end
      local back = echo(deep)
      local depth = 0
      while back[1] do back, depth = back[1], depth + 1 end
      assert.equals(2000, depth)
      assert.same(wide, echo(wide))
   end)

   it('are functions with their upvalues, which stay shared', function()
      local n = 10
      local function up() n = n + 1 return n end
      local function get() return n end
      local function fib(k) return k < 2 and k or fib(k - 1) + fib(k - 2) end
      assert.equals(12, remote(function()
         up()
         up()
         return get()
      end))
      assert.equals(10, n)
      assert.equals(55, remote(fib, 10))
      local up2, get2 = echo(up, get)
      assert.equals(11, up2())
      assert.equals(11, get2())
      assert.equals(10, get())
   end)

   it('are functions of Lua and of dpt, by their names', function()
      local insert, ceil, randn, Linear = table.insert, math.ceil, torch.randn, nn.Linear
      local sum = remote(function()
         local t = {}
         insert(t, ceil(1.5))
         return t[1] + randn(2, 3):nElement() + Linear(3, 2).weight:nElement()
      end)
      assert.equals(2 + 6 + 6, sum)
      local a, b, c, d, e = echo(print, string, _G, torch, io.stdout)
      assert.is_true(a == print and b == string and c == _G and d == torch and e == io.stdout)
      assert.is_true(echo(threads) == threads)
      assert.is_true(echo(require('dpt.ffi').C) == require('dpt.ffi').C)
   end)

   it('are what a script put into the tables of Lua and dpt, copied', function()
      nn.valuesSpec = {a = {7}}
      rawset(math, 'valuesSpec', {b = 8})
      nn.utils.valuesSpec = function(x) return x + 1 end
      local settings, more, plus = nn.valuesSpec, rawget(math, 'valuesSpec'), nn.utils.valuesSpec
      local utils = nn.utils
      local a, b, c, same = remote(function()
         return settings.a[1], more.b, plus(8), utils == nn.utils
      end)
      nn.valuesSpec, nn.utils.valuesSpec = nil, nil
      rawset(math, 'valuesSpec', nil)
      assert.same({7, 8, 9, true}, {a, b, c, same})
   end)

   it('are no classes that the worker does not know: the error names them', function()
      torch.class('nn.ValuesSpecLayer', 'nn.Module')
      local Layer, methods = nn.ValuesSpecLayer, torch.getmetatable 'nn.ValuesSpecLayer'
      local unknown = "class 'nn.ValuesSpecLayer' is unknown in this thread"
      assert.error_matches(function() remote(function() return Layer end) end, unknown)
      assert.error_matches(function() remote(function() return methods end) end, unknown)
      assert.error_matches(function() remote(function(t) return t end, {1, {Layer}}) end, unknown)
      package.loaded.valuesSpec = {} -- what modules hold is looked through again
      assert.error_matches(function() remote(function() return Layer end) end, unknown)
      package.loaded.valuesSpec, nn.ValuesSpecLayer = nil, nil
   end)

   it('are nothing that the worker has lost: the error names it', function()
      local cosh = math.cosh
      remote(function()
         kept = math.cosh
         rawset(math, 'cosh', nil)
      end)
      local ok, message = pcall(remote, function() return cosh end)
      remote(function() rawset(math, 'cosh', kept) end)
      assert.is_false(ok)
      assert.matches("threads: 'cosh' of the module 'math' is unknown in this thread", message)
   end)

   it('are objects of classes, classes themselves, and their methods', function()
      local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh())
      local input = torch.randn(4, 3)
      local output, back = remote(function(n, x) return n:forward(x):clone(), n end, net, input)
      assert.equals('nn.Sequential', torch.type(back))
      assert.same(net:forward(input):totable(), output:totable())
      local C, M = echo(nn.Linear, torch.getmetatable 'nn.Linear')
      assert.is_true(C == nn.Linear and M == torch.getmetatable 'nn.Linear')
   end)

   it('are user classes that both sides have, also with a __write of their own', function()
      local function define()
         local place = {}
         local Counter = torch.class('valuesSpec.Counter', place)
         function Counter:__init(n) self.n, self.link = n, {self} end
         function Counter:__write(file)
            file:writeInt(self.n)
            file:writeString 'abc'
            file:writeObject(self.link)
            file:writeDouble(0.5)
         end
         function Counter:__read(file)
            self.n, self.text = file:readInt(), file:readChar(3):string()
            self.link = file:readObject()
            self.half = file:readDouble()
         end
         return place.Counter
      end
      local Counter = define()
      remote(define)
      local n, text, half, me, back = remote(function(c)
         return c.n, c.text, c.half, c.link[1] == c, c
      end, Counter(7))
      assert.same({7, 'abc', 0.5, true}, {n, text, half, me})
      assert.equals('valuesSpec.Counter', torch.type(back))
      assert.is_true(back.link[1] == back)
   end)

   it('are tensors of all types, by reference; views stay views', function()
      for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'} do
         local t = torch[name .. 'Tensor'](6):zero()
         local view = t:view(2, 3):t()
         local a, b, s = remote(function(x, y)
            x:fill(3)
            return x, y, x:storage()
         end, t, view)
         assert.equals(18, t:double():sum())
         assert.is_true(a:storage() == t:storage() and s == t:storage())
         assert.same({3, 2}, b:size():totable())
         assert.same({1, 3}, b:stride():totable())
      end
      local empty = echo(torch.FloatTensor())
      assert.equals(0, empty:dim())
   end)

   it('are tensors on devices #devices2', function()
      local cutorch = require 'cutorch'
      cutorch.withDevice(2, function()
         local t = torch.CudaTensor(5):fill(2)
         local back, device = remote(function(x) return x:add(1), x:getDevice() end, t)
         assert.equals(2, device)
         assert.equals(15, back:sum())
         assert.equals(15, t:sum())
      end)
   end)

   it('are the same tensor once, when they are', function()
      local t = torch.FloatTensor(3)
      local a, b, list = echo(t, t, {t})
      a:resize(7)
      assert.equals(7, b:nElement())
      assert.equals(7, list[1]:nElement())
   end)

   it('are 64-bit numbers and pointers with all their bits', function()
      local i, u = echo(-2LL ^ 62 - 1, 0xfedcba9876543210ULL)
      assert.equals('-4611686018427387905LL', tostring(i))
      assert.equals('18364758544493064720ULL', tostring(u))
      local p = ffi.cast('void *', 0xfedcba9876543210ULL)
      assert.is_true(echo(p) == p)
      local q = ffi.cast('const int32_t *', 0x7ffffffffff8ULL)
      local back = echo(q)
      assert.is_true(back == q and ffi.istype('const int32_t *', back))
      assert.is_true(remote(function(x) return x == ffi.cast('void *', -1) end,
         ffi.cast('void *', -1)))
   end)

   it('are plain userdata', function()
      local light = debug.upvalueid(function() return pool end, 1)
      assert.equals('userdata', type(light))
      assert.is_true(echo(light) == light)
   end)

   it('are structs, arrays and C numbers, copied', function()
      local array = ffi.new('int[3]', 1, 2, 3)
      local back = echo(array)
      assert.is_true(ffi.istype('int[3]', back) and back[2] == 3)
      local any = echo(ffi.new('double[?]', 4, 1, 2, 3, 4))
      assert.equals(4, any[3])
      local event = ffi.new 'dpt_event'
      assert.error_matches(function() echo(event) end, 'argument 1 is a cdata')
      assert.is_true(ffi.istype('float', echo(ffi.new('float', 0.5))))
      local text = 'struct values_spec { int a; double b; };'
      ffi.cdef(text)
      local struct = ffi.new('struct values_spec', 3, 0.5)
      assert.error_matches(function() echo(struct) end, "type 'struct values_spec' is not declared")
      remote(function() require('ffi').cdef(text) end)
      assert.same({3, 0.5}, {echo(struct).a, echo(struct).b})
   end)

   it('cost bytes that do not depend on the size of a tensor', function()
      local write = require 'dpt.threads.writer'
      local function size(t) return (select(2, write(true, tostring, t))) end
      assert.equals(size(torch.FloatTensor(1)), size(torch.FloatTensor(1000, 1000)))
      assert.is_true(size(torch.FloatTensor(1)) < 300)
   end)

   it('let go of memory when nobody has it any more', function()
      local cutorch = require 'cutorch'
      collectgarbage()
      collectgarbage()
      local before = cutorch.memoryStats(1).live
      for _ = 1, 50 do
         cutorch.withDevice(1, function() echo(torch.CudaTensor(1000), torch.CudaTensor(1000)) end)
      end
      remote(function()
         collectgarbage()
         collectgarbage()
      end)
      collectgarbage()
      collectgarbage()
      assert.equals(before, cutorch.memoryStats(1).live)
   end)
end)
