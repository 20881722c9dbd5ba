-- dpt.file.text: numbers and lines of files in ASCII mode.
local dpt = require 'dpt'
local torch = dpt.torch
local memoryFile = require 'spec.support.memory_file'
local memory, bytesOf = memoryFile.of, memoryFile.bytes

describe('A torch.File in ascii mode', function()
   it('writes text with spaces between elements and a final newline', function()
      local f = torch.MemoryFile()
      f:writeInt(5)
      f:writeDouble{1.5, 0.1}
      f:writeShort(torch.ShortStorage{-3, 4, 5})
      f:writeByte{72, 105}
      f:writeBool(true)
      f:writeBool(nil)
      f:writeFloat{0.1, 1 / 0}
      f:writeLong(torch.LongStorage{9007199254740993LL})
      f:noAutoSpacing()
      f:writeInt{1, 2}
      f:writeDouble(torch.DoubleStorage())
      assert.equal('5\n1.5 0.10000000000000001\n-3 4 5\nHi\n1\n0\n0.100000001 inf\n'
         .. '9007199254740993\n12', bytesOf(f))
   end)

   it('reads numbers as C does', function()
      local f = memory('3.5 1-2+7\n-nan -inf nan 0x10 1e-3\n1e3,8cm')
      assert.equal(3, f:readInt())
      assert.equal(0.5, f:readDouble())
      assert.same({1, -2, 7}, f:readInt(3):totable())
      local d = f:readDouble(5)
      assert.is_true(d[1] ~= d[1] and d[3] ~= d[3])
      assert.same({-1 / 0, 16, 0.001}, {d[2], d[4], d[5]})
      assert.equal(1000, f:readFloat())
      assert.equal(44, f:readByte())
      assert.equal(8, f:readInt())
      assert.equal('cm', f:readString '*a')
   end)

   it('writes doubles and floats that read back to the same bits', function()
      for name, values in pairs{Double = {0.1, 1 / 3, 2 ^ -1074, 1.7976931348623157e308, -0.0},
         Float = {torch.FloatTensor{0.1}[1], 2 ^ -149, 16777217}} do
         local f = torch.MemoryFile()
         f['write' .. name](f, values)
         f:seek(1)
         local read = f['read' .. name](f, #values)
         local wanted = torch[name .. 'Storage'](values)
         for i = 1, #values do assert.equal(('%a'):format(wanted[i]), ('%a'):format(read[i])) end
      end
   end)
end)
