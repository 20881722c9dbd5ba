-- torch.DiskFile: a file on disk.
local dpt = require 'dpt'
local torch = dpt.torch

describe('torch.DiskFile', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

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

   it('is created in mode rw if it is missing, and kept if it exists', function()
      os.remove(path)
      assert.error_matches(function() torch.DiskFile(path) end, "cannot open '.*' in mode r: ")
      local f = torch.DiskFile(path, 'rw')
      f:writeString 'abc'
      f:close()
      f = torch.DiskFile(path, 'rw')
      assert.equal('abc', f:readString '*a')
      f:seek(2):writeString 'x'
      f:close()
      assert.equal('axc', torch.DiskFile(path):readString '*a')
      assert.equal(('torch.DiskFile on <%s> [status: closed -- mode rw]'):format(path),
         tostring(f))
      torch.DiskFile(path, 'w'):close()
      assert.error_matches(function() torch.DiskFile(path):readString '*a' end, 'end')
   end)

   it('rejects a name that is not a string and an unknown mode', function()
      assert.error_matches(function() torch.DiskFile(7) end, 'torch.DiskFile')
      assert.error_matches(function() torch.DiskFile(path, 'a') end, "wanted 'r', 'w' or 'rw'")
   end)
end)
