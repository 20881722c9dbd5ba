--- spec for values sent between Lua states, by dpt.threads.writer and reader.
local elements = require 'spec.support.elements'
local worker = require 'spec.support.remote'
local torch = require 'torch'

describe('Values that go to a worker and back', function()
   local remote, echo = worker()

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

   it('keep their memory if a copy cannot be allocated', function()
      local write, core = require 'dpt.threads.writer', require 'dpt.tensor.core'
      local newStorage = core.newStorage
      local function live() return tonumber(require('dpt.ffi').C.dpt_host_live_bytes()) end
      local t = torch.FloatTensor(1000):fill(3)
      collectgarbage()
      collectgarbage()
      local before = live()
      core.newStorage = function() error 'no host memory' end
      local ok, why = pcall(write, false, 'a test', t)
      core.newStorage = newStorage
      assert.is_false(ok)
      assert.matches('no host memory', why)
      collectgarbage() -- an unfinished message releases only references that it holds
      collectgarbage()
      assert.equals(before, live())
      assert.equals(3000, t:sum())
   end)

   it('are tables with shared ones, cycles, holes and any keys', function()
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

   it('are tables that are deep or long', function()
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

   it('are tensors of all types by reference, and views stay views', function()
      for _, name in ipairs(elements.all) do
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
      assert.same({0, 10}, echo(torch.FloatTensor(0, 10)):size():totable())
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

   it('are one tensor if one tensor is sent twice', function()
      local t = torch.FloatTensor(3)
      local a, b, list = echo(t, t, {t})
      a:resize(7)
      assert.equals(7, b:nElement())
      assert.equals(7, list[1]:nElement())
   end)

   it('are light userdata, unchanged', function()
      local light = debug.upvalueid(function() return remote end, 1)
      assert.equals('userdata', type(light))
      assert.is_true(echo(light) == light)
   end)

   it('cost bytes that do not depend on the size of a tensor', function()
      local write = require 'dpt.threads.writer'
      local function size(t) return (select(2, write(true, tostring, t))) end
      assert.equals(size(torch.FloatTensor(1)), size(torch.FloatTensor(1000, 1000)))
      assert.is_true(size(torch.FloatTensor(1)) < 300)
   end)

   it('release memory when nobody has it any more', function()
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
