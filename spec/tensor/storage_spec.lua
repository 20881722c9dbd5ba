-- Storages over memory not allocated by dpt: files, shared memory, pointers.
local dptffi = require 'dpt.ffi'
local torch = require('dpt').torch
local elements = require 'spec.support.elements'
local content = require 'spec.support.read'
local ffi = dptffi.ffi

local function fails(pattern, ...)
   local ok, why = pcall(...)
   assert.is_false(ok)
   assert.is_truthy(why:find(pattern), why)
end

describe('A storage', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   it('over a shared file extends it to the requested length, and writes to it', function()
      os.remove(path)
      local s = torch.IntStorage(path, true, 3)
      assert.equal(('\0'):rep(12), content(path))
      s:fill(1)
      torch.IntTensor(s):add(256)
      assert.equal('\1\1\0\0\1\1\0\0\1\1\0\0', content(path))
      local other = torch.ByteStorage(path, true)
      assert.equal(12, other:size())
      other[1] = 7
      assert.equal(263, s[1])
      assert.same({263, 257, 257, 0}, torch.IntStorage(path, true, 4):totable())
      assert.equal(16, #content(path))
   end)

   it('over a file has elements of any type', function()
      for _, name in ipairs(elements.all) do
         os.remove(path)
         local construct = torch[name .. 'Storage']
         construct(path, true, 3):copy(construct{1, 2, 3})
         assert.equal(3 * construct():elementSize(), #content(path))
         assert.same({1, 2, 3}, construct(path):totable())
      end
   end)

   it('over a private file keeps its writes to itself', function()
      torch.DoubleStorage(path, true, 2):fill(5)
      local s = torch.DoubleStorage(path)
      s:fill(6)
      assert.same({5, 5}, torch.DoubleStorage(path):totable())
      assert.same({6, 6}, s:totable())
      assert.equal(1, torch.DoubleStorage(path, false, 1):size())
      fails("'" .. path .. "' has 16 bytes, wanted 24", torch.DoubleStorage, path, false, 3)
   end)

   it('of shared memory is visible under its name, and is freed with its last view', function()
      local name = path:gsub('/', '_')
      local s = torch.FloatStorage(name, true, 5, true)
      local view = torch.FloatTensor(s, 2, 3)
      view:fill(4)
      assert.same({0, 4, 4, 4, 0}, torch.FloatStorage('/dev/shm/' .. name):totable())
      s = nil
      collectgarbage()
      assert.equal(12, view:sum())
      assert.equal(20, #content('/dev/shm/' .. name))
      view = nil -- luacheck: ignore
      collectgarbage()
      collectgarbage()
      assert.is_nil(io.open('/dev/shm/' .. name))
      assert.is_nil(s)
   end)

   it('that gets smaller leaves its tensors the memory that they reach', function()
      for _, class in ipairs{torch.ByteTensor, torch.CudaTensor} do
         local t = class(1000):fill(3)
         t:storage():resize(1)
         local others = class(1000):fill(7) -- would have reused the memory
         assert.equal(3000, t:sum())
         assert.equal(1, t:storage():size())
         t:storage():resize(2000)
         assert.equal(3, t[1])
         assert.equal(7000, others:sum())
      end
   end)

   it('over a pointer is over the very memory', function()
      local memory = ffi.new('double[4]', 1, 2, 3, 4)
      local s = torch.DoubleStorage(3, memory)
      torch.DoubleTensor(s):mul(2)
      assert.same({2, 4, 6, 4}, {memory[0], memory[1], memory[2], memory[3]})
      local address = tonumber(ffi.cast('intptr_t', ffi.cast('void *', memory)))
      assert.same({2, 4, 6, 4}, torch.DoubleStorage(4, address):totable())
      fails('got a size of 4 elements, but this one is fixed at 3', s.resize, s, 4)
      fails('got the address 0x%x+, wanted one of 16 bytes that is a multiple of 8',
         torch.DoubleStorage, 2, address + 4)
      fails('got the address %(nil%)', torch.DoubleStorage, 2, 0)
      fails('got torch.CudaDoubleTensor, wanted a type of host memory', torch.CudaDoubleStorage, 2,
         address)
      fails('wanted a size and a pointer', torch.DoubleStorage, 2, true)
   end)

   it('over a path that is not a file raises with the reason', function()
      fails("cannot open '/nowhere/x': No such file or directory", torch.FloatStorage, '/nowhere/x')
      fails("cannot open '/tmp': Is a directory", torch.FloatStorage, '/tmp', true, 2)
   end)
end)
