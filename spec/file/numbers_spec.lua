-- dpt.file.numbers: readInt, writeFloat and the like.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch = dpt.torch
local memoryFile = require 'spec.support.memory_file'
local memory, bytesOf = memoryFile.of, memoryFile.bytes

describe('Numbers in a torch.File', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   it('are converted to the type that the method names', function()
      local f = torch.MemoryFile():binary()
      f:writeInt '3.14'
      f:writeByte(257)
      f:writeChar(-1)
      assert.equal(6, f:storage():size() - 1)
      assert.error_matches(function() f:writeInt 'three' end, 'wanted a number, .*got string')
      f:seek(1)
      assert.equal(3, f:readInt())
      assert.equal(1, f:readByte())
      assert.equal(-1, f:readChar())
   end)

   it('are numbers for Lua, also NaNs of any bits', function()
      for _, word in ipairs{'\255\255\255\255', '\0\0\255\255', '\0\0\250\255', '\1\0\248\255'} do
         local d = memory(word .. word):binary()
         local v = d:readDouble()
         assert.is_true(type(v) == 'number' and v ~= v)
         d = memory(word):binary()
         v = d:readFloat()
         assert.is_true(type(v) == 'number' and v ~= v)
         local s = memory(word .. word):binary():readDouble(1)
         local out = torch.MemoryFile()
         out:writeDouble(s)
         assert.is_truthy(bytesOf(out):find '^%-?nan\n$')
      end
   end)

   it('have their bytes turned if the order is not that of the machine', function()
      local f = torch.MemoryFile():binary()
      assert.is_true(f:isLittleEndianCPU() ~= f:isBigEndianCPU())
      f:bigEndianEncoding():writeInt(258)
      f:littleEndianEncoding():writeInt(258)
      f:nativeEndianEncoding()
      f:bigEndianEncoding():writeLong{1, -2}
      assert.equal('\0\0\1\2\2\1\0\0\0\0\0\0\0\0\0\1\255\255\255\255\255\255\255\254', bytesOf(f))
      f:seek(1)
      assert.equal(258, f:bigEndianEncoding():readInt())
      assert.equal(258, f:littleEndianEncoding():readInt())
      assert.same({1, -2}, f:bigEndianEncoding():readLong(2):totable())
      f = torch.MemoryFile():binary():bigEndianEncoding()
      local x = torch.randn(3, 4)
      f:writeObject{x, 'text', 1.5}
      local u = f:seek(1):readObject()
      assert.equal(0, (u[1] - x):abs():max())
      assert.same({'text', 1.5}, {u[2], u[3]})
      for _, name in ipairs(elements.all) do
         local s, size = torch[name .. 'Storage']{1, 2, 3}, torch[name .. 'Storage']():elementSize()
         f = torch.MemoryFile():binary():littleEndianEncoding()
         f['write' .. name](f, s)
         f:bigEndianEncoding()['write' .. name](f, s)
         local bytes = bytesOf(f)
         for i = 1, 3 * size, size do
            assert.equal(bytes:sub(i, i + size - 1), bytes:sub(3 * size + i):sub(1, size):reverse())
         end
         assert.same({1, 2, 3}, f:seek(3 * size + 1)['read' .. name](f, 3):totable())
      end
   end)

   it('have 4 or 8 bytes if they are Long', function()
      for size, bytes in pairs{[0] = 8, [4] = 4, [8] = 8} do
         local f = torch.MemoryFile():binary():longSize(size)
         f:writeLong{5, -6}
         assert.equal(2 * bytes, #bytesOf(f))
         assert.same({5, -6}, f:seek(1):readLong(2):totable())
      end
      assert.error_matches(function() torch.MemoryFile():longSize(3) end, 'wanted 0, 4 or 8')
      local f = torch.MemoryFile():binary():longSize(4)
      assert.error_matches(function() f:writeLong(2 ^ 31) end, '2147483648 does not fit')
      torch.save(path, {torch.LongTensor{5, -6}}, 'b32')
      assert.same({5, -6}, torch.load(path, 'b32')[1]:totable())
   end)

   it('are separated in ASCII, however many there are', function()
      local numbers = torch.range(1, 10000)
      local f = torch.MemoryFile():ascii()
      f:writeDouble(numbers:storage())
      assert.same(numbers:totable(), f:seek(1):readDouble(10000):totable())
   end)

   it('are written and read as scalars, tables and storages', function()
      for _, mode in ipairs{'binary', 'ascii'} do
         for _, name in ipairs(elements.all) do
            local f = torch.MemoryFile()
            f[mode](f)
            f['write' .. name](f, 7)
            assert.equal(2, f['write' .. name](f, {65, 66}))
            f['write' .. name](f, torch[name .. 'Storage']{67})
            f:seek(1)
            assert.equal(7, f['read' .. name](f))
            assert.same({65, 66}, f['read' .. name](f, 2):totable())
            local s = torch[name .. 'Storage'](1)
            assert.equal(1, f['read' .. name](f, s))
            assert.equal(67, s[1])
         end
      end
   end)
end)
