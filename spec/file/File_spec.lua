-- torch.File: flags, positions and strings, as in Torch7's documentation and C code.
local dpt = require 'dpt'
local torch = dpt.torch
local memoryFile = require 'spec.support.memory_file'
local memory = memoryFile.of

describe('torch.File', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

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

   it('returns itself from methods that set it', function()
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

   it('returns the available part if it is quiet, and raises otherwise', function()
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


   it('has a position from 1, which seek changes', function()
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
end)
