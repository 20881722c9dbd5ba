-- torch.File's methods, as Torch7's documentation and its C code have them.
local dpt = require 'dpt'
local torch = dpt.torch

describe('torch.File', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   local function memory(bytes)
      local f = torch.MemoryFile()
      f:writeString(bytes)
      return f:seek(1)
   end

   local function bytesOf(f)
      return f:storage():string():sub(1, -2)
   end

   it('is ascii and pedantic at first, with automatic spacing and references', function()
      for _, f in ipairs{torch.MemoryFile(), torch.DiskFile(path, 'rw')} do
         assert.is_false(f:isBinary())
         assert.is_true(f:isAutoSpacing())
         assert.is_false(f:isQuiet())
         assert.is_true(f:isReferenced())
         assert.is_true(f:isReadable() and f:isWritable() and f:isOpened())
         assert.is_false(f:hasError())
         assert.equal(1, f:position())
         assert.is_true(torch.isTypeOf(f, 'torch.File'))
         f:close()
         assert.is_false(f:isOpened())
         assert.error_matches(function() f:readInt() end, 'closed')
         assert.error_matches(function() f:close() end, 'closed')
      end
   end)

   it('returns itself from what sets it', function()
      local f = torch.MemoryFile()
      for _, name in ipairs{'binary', 'ascii', 'noAutoSpacing', 'autoSpacing', 'quiet', 'pedantic',
         'clearError', 'synchronize', 'seekEnd', 'nativeEndianEncoding', 'littleEndianEncoding',
         'bigEndianEncoding', 'noBuffer'} do
         assert.equal(f, f[name](f))
      end
      assert.equal(f, f:longSize(4))
      assert.equal(f, f:referenced(true))
      assert.equal(f, f:seek(1))
   end)

   it('writes text with spaces between elements and a newline behind them', function()
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

   it('converts numbers as the method says', function()
      local f = torch.MemoryFile():binary()
      f:writeInt(3.14)
      f:writeByte(257)
      f:writeChar(-1)
      assert.equal(6, f:storage():size() - 1)
      f:seek(1)
      assert.equal(3, f:readInt())
      assert.equal(1, f:readByte())
      assert.equal(-1, f:readChar())
   end)

   it('reads NaNs of any bits as numbers', function()
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

   it('reads lines and all that is left', function()
      for _, f in ipairs{memory 'one\n\n\0two\nthree', torch.DiskFile(path, 'rw')} do
         if torch.type(f) == 'torch.DiskFile' then
            f:writeString 'one\n\n\0two\nthree'
            f:seek(1)
         end
         assert.equal('one', f:readString '*l')
         assert.equal('', f:readString '*line')
         assert.equal('\0two', f:readString '*l')
         assert.equal('three', f:readString '*all')
         assert.error_matches(function() f:readString '*a' end, 'end')
         assert.error_matches(function() f:readString '*l' end, 'end')
         assert.error_matches(function() f:readString '*n' end, "wanted '%*l' or '%*a'")
         f:clearError():quiet()
         assert.equal('', f:readString '*a')
         assert.is_true(f:hasError())
         f:seek(1)
         assert.equal(3, #f:readString '*l')
      end
      assert.equal(10000, #memory(('x'):rep(10000) .. '\ny'):readString '*l')
      assert.equal(10002, #memory(('x'):rep(10000) .. '\ny'):readString '*a')
   end)

   it('returns what there was on a quiet file, and raises on another', function()
      local f = memory('\1\2\3'):binary()
      assert.error_matches(function() f:readInt() end, 'wanted 1')
      f:seek(1):quiet():clearError()
      assert.equal(3, f:readByte(5):size())
      assert.is_true(f:hasError())
      assert.equal(0, f:readInt())
      f:clearError()
      assert.is_false(f:hasError())
      local s = torch.IntStorage{7, 8}
      assert.equal(1, memory('\5\0\0\0'):binary():quiet():readInt(s))
      assert.same({5, 8}, s:totable())
      assert.is_nil(torch.DiskFile('/nowhere/at/all', 'r', true))
      assert.error_matches(function() torch.DiskFile('/nowhere/at/all') end, 'cannot open')
      assert.is_true(torch.DiskFile(path, 'r', true):isQuiet())
      assert.is_nil(f:seek(1):readObject())
      assert.is_true(f:hasError())
   end)

   it('is read and written only as it was opened', function()
      local f = torch.DiskFile(path, 'w')
      assert.error_matches(function() f:readInt() end, 'not opened to read')
      f:writeInt(1)
      f:close()
      f = torch.DiskFile(path)
      assert.error_matches(function() f:writeInt(1) end, 'not opened to write')
      assert.error_matches(function() f:writeString 'x' end, 'not opened to write')
      for _, make in ipairs{torch.DiskFile, torch.MemoryFile, torch.PipeFile} do
         assert.error_matches(function() make(path, 'x') end, '')
      end
   end)

   it('has a place from 1', function()
      for _, f in ipairs{torch.MemoryFile(), torch.DiskFile(path, 'rw')} do
         f:binary()
         f:writeInt{1, 2, 3}
         assert.equal(13, f:position())
         f:seek(5)
         assert.equal(2, f:readInt())
         f:seek(5)
         f:writeInt(9)
         assert.equal(3, f:readInt())
         f:seek(1)
         assert.same({1, 9, 3}, f:readInt(3):totable())
         f:seek(1):seekEnd()
         assert.equal(13, f:position())
         assert.error_matches(function() f:seek(0) end, 'wanted 1')
      end
      local f = memory 'abc'
      assert.error_matches(function() f:seek(5) end, 'has 3 bytes')
      f:seek(4)
   end)

   it('turns bytes round where the order is not the machine\'s', function()
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
   end)

   it('has Longs of 4 or 8 bytes', function()
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

   it('in memory is a torch.CharStorage that ends with 0', function()
      local s = torch.CharStorage():string 'abc\0'
      local f = torch.MemoryFile(s, 'r')
      assert.equal('abc', f:readString '*a')
      assert.is_true(f:storage() == s)
      assert.error_matches(function() torch.MemoryFile(torch.CharStorage():string 'abc') end, '0')
      f = torch.MemoryFile(s, 'rw')
      f:writeString 'x'
      assert.equal('xbc\0', f:storage():string())
      f:seekEnd():writeString(('y'):rep(1000))
      assert.equal(1004, f:storage():size())
      s:resize(1)
      f:quiet()
      assert.equal('x', f:seek(1):readString '*a' .. f:readString '*l')
   end)

   it('of a command is read or written', function()
      local f = torch.PipeFile('printf "12 13\\nline\\n"')
      assert.same({12, 13}, f:readInt(2):totable())
      assert.equal('line', f:readString '*l')
      assert.error_matches(function() f:seek(1) end, 'pipe')
      f:close()
      f = torch.PipeFile('cat > ' .. path, 'w')
      f:writeObject{1, torch.ones(3)}
      f:close()
      assert.equal(3, torch.load(path, 'ascii')[2]:sum())
      f = torch.PipeFile('cat ' .. path)
      assert.equal(3, f:readObject()[2]:sum())
      f:close()
      f = torch.PipeFile('exit 3')
      f:close()
      assert.error_matches(function() torch.PipeFile('cat', 'rw') end, "'r' or 'w'")
   end)

   it('keeps references between objects of one file', function()
      local t = {torch.ones(2)}
      local f = torch.MemoryFile():binary()
      f:writeObject(t)
      t[1]:fill(5)
      f:writeObject(t):writeObject(t[1])
      f:seek(1)
      local a, b, c = f:readObject(), f:readObject(), f:readObject()
      assert.equal(a, b)
      assert.is_true(rawequal(a[1], c))
      assert.equal(1, c[1])
      f = torch.MemoryFile():binary():referenced(false)
      f:writeObject(t[1])
      t[1]:fill(6)
      f:writeObject(t[1]):seek(1)
      assert.equal(5, f:readObject()[1])
      assert.equal(6, f:readObject()[1])
   end)

   it('writes what a hook returns, once for an object that occurs twice', function()
      local made, seen = 0, {}
      local twice = {'old'}
      local function hook(value)
         if value ~= nil then seen[torch.type(value)] = true end
         if value == twice then
            made = made + 1
            return {'new', made}
         end
         return value == 4 and {5} or value
      end
      local file = torch.MemoryFile():binary()
      file:writeObject({a = twice, b = {twice}, net = dpt.nn.Identity(), four = 4,
         flag = true}, nil, hook)
      file:writeObject{other = {'old'}, four = 4} -- without a hook
      file:seek(1)
      local read = file:readObject()
      assert.same({'new', 1}, read.a)
      assert.equal(read.a, read.b[1])
      assert.same({5}, read.four)
      assert.same({table = true, string = true, number = true, boolean = true,
         ['nn.Identity'] = true, ['torch.DoubleTensor'] = true}, seen)
      assert.same({other = {'old'}, four = 4}, file:readObject())
   end)

   it('gives tensors and storages what is inside', function()
      for _, name in ipairs{'Double', 'Cuda', 'Half'} do
         local x = torch.randn(3, 4):type('torch.' .. name .. 'Tensor'):t()
         local f = torch.MemoryFile():binary()
         x:write(f)
         x:storage():write(f)
         f:seek(1)
         local y, s = torch[name .. 'Tensor'](2), torch[name .. 'Storage'](2)
         assert.equal(y, y:read(f))
         assert.equal(s, s:read(f))
         assert.equal(0, (y:double() - x:double()):abs():max())
         assert.same({4, 3}, y:size():totable())
         assert.equal(12, s:size())
      end
   end)

   it('writes through a buffer or at once', function()
      local f = torch.DiskFile(path, 'w'):noBuffer()
      f:writeString 'abc'
      assert.equal('abc', torch.DiskFile(path):readString '*a')
      f:close()
      f = torch.DiskFile(path, 'w')
      f:writeString 'abcd'
      f:synchronize()
      assert.equal('abcd', torch.DiskFile(path):readString '*a')
      f:close()
   end)
end)
