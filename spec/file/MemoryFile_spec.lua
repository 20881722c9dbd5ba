-- torch.MemoryFile: a file in a torch.CharStorage.
local dpt = require 'dpt'
local torch = dpt.torch

describe('torch.MemoryFile', function()
   it('is a torch.CharStorage that ends with 0', function()
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

   it('rejects values that are not byte storages, and positions after its end', function()
      assert.error_matches(function() torch.MemoryFile(torch.IntStorage(1)) end,
         'a torch.CharStorage')
      assert.error_matches(function() torch.MemoryFile 'x' end, "wanted 'r', 'w' or 'rw'")
      local f = torch.MemoryFile()
      f:writeString 'abc'
      assert.error_matches(function() f:seek(5) end, 'the file has no position 5, it has 3 bytes')
      assert.equal(4, f:seek(4):position())
      assert.equal('torch.MemoryFile [status: open -- mode rw]', tostring(f))
      f:close()
      assert.equal('torch.MemoryFile [status: closed -- mode rw]', tostring(f))
   end)
end)
