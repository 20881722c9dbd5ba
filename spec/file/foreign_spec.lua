-- dpt.file.foreign: identifies a file that torch.load cannot read.
local dpt = require 'dpt'
local torch = dpt.torch
local bad = require 'spec.support.raises'

describe('torch.load', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   local function write(text)
      local file = assert(io.open(path, 'wb'))
      file:write(text)
      file:close()
   end

   -- Asserts that torch.load raises `torch.load: PATH text`, and torch.deserialize its equivalent.
   local function says(text, mode)
      bad(('torch.load: %s %s'):format(path, text), function() torch.load(path, mode) end)
      local file = assert(io.open(path, 'rb'))
      local bytes = file:read '*a'
      file:close()
      bad('torch.deserialize: the data ' .. text, function() torch.deserialize(bytes, mode) end)
   end

   it("names the format of another program's file", function()
      local pytorch = ': save its tensors with safetensors, and read them by nn.safetensors.load'
      for bytes, text in pairs{
         ['PK\3\4\0\0'] = 'is a PyTorch archive (zip)' .. pytorch,
         ['\128\2\138\10'] = 'is a Python pickle, as older versions of PyTorch write' .. pytorch,
         ['\64\0\0\0\0\0\0\0{"a":'] = 'is a safetensors file: nn.safetensors.load reads it',
         ['\31\139\8\0'] = 'is a gzip file: unpack it first (gunzip)',
         ['BZh91AY'] = 'is a bzip2 file: unpack it first (bunzip2)',
         ['\2537zXZ\0'] = 'is an xz file: unpack it first (unxz)',
         ['\137HDF\r\n'] = 'is an HDF5 file: the package hdf5 reads it',
         ['\n<!DOCTYPE html>'] = 'is a page of HTML or XML: was it downloaded?',
         ['version https://git-lfs'] = 'is a pointer of Git LFS, not the file itself: git lfs pull'
            .. ' gets it',
      } do
         write(bytes .. ('x'):rep(100))
         says(text)
         says(text, 'ascii')
      end
   end)

   it('names the mode in which a file was written', function()
      for _, object in ipairs{{1}, 5, 'text', torch.ones(2), dpt.nn.Linear(2, 2)} do
         torch.save(path, object, 'ascii')
         says "was written in ascii mode, wanted binary: mode 'ascii' reads it"
         torch.save(path, object)
         says("was written in binary mode, wanted ascii: mode 'binary' reads it", 'ascii')
      end
      local file = torch.DiskFile(path, 'w'):binary():bigEndianEncoding()
      file:writeObject{1}
      file:close()
      says('has its bytes in the other order: littleEndianEncoding or bigEndianEncoding reads it')
      assert.same({1}, torch.DiskFile(path):binary():bigEndianEncoding():readObject())
   end)

   it('reports a file that is empty, truncated, damaged or of an unknown format', function()
      write ''
      says 'is empty'
      says('is empty', 'ascii')
      torch.save(path, torch.range(1, 50))
      local bytes = torch.serialize(torch.range(1, 50))
      write(bytes:sub(1, -33))
      says(('ends early at byte %d: read 46 elements, wanted 50'):format(#bytes - 32))
      bytes = torch.serialize(torch.range(1, 5000))
      write(bytes:sub(1, -33))
      says(('ends early at byte %d: 39968 bytes are left, wanted 40000 for 5000 elements'):format(
         #bytes - 32))
      write '\3\0\0\0\1\0\0\0{\0\0\0' -- 123 entries: '{', as in safetensors
      says 'ends early at byte 12: read 0 elements, wanted 1'
      write 'no file of ours'
      says 'is not a .t7 file (unknown type 1713401710), was saved in another mode, or is damaged'
      says('has no number at byte 1: read 0 elements, wanted 1', 'ascii')
      write(torch.serialize{'abc', 'def'}:gsub('\3%z%z%zabc', '\253\255\255\255abc'))
      says 'is damaged, or was saved in another mode: a string has -3 bytes, wanted 0 or more'
      write(torch.serialize{{1}}:sub(1, 12) .. '\9\0\0\0' .. ('x'):rep(50))
      says 'is damaged, or was saved in another mode: unknown type 9 of an object'
      write(torch.serialize(dpt.nn.Linear(1, 1)):gsub('nn%.Linear', 'nn.Linoor'))
      says("holds an object whose class 'nn.Linoor' is unknown: what defines it must be loaded"
         .. ' before the file')
   end)

   it('reports a missing file and a folder', function()
      bad("torch.load: cannot open '/nowhere/x.t7' in mode r: no such file or directory",
         function() torch.load '/nowhere/x.t7' end)
      bad("torch.load: cannot open '/tmp' in mode r: is a directory",
         function() torch.load '/tmp' end)
      bad("torch.DiskFile: cannot open '/tmp' in mode r: is a directory",
         function() torch.DiskFile '/tmp' end)
   end)

   it('looks at the place of the object, and leaves the position', function()
      local file = torch.DiskFile(path, 'w'):ascii()
      file:writeInt(4)
      file:binary():writeObject{1}
      file:close()
      file = torch.DiskFile(path)
      assert.equal(4, file:readInt())
      bad(('torch.DiskFile: %s was written in binary mode, wanted ascii: mode \'binary\' reads it')
         :format(path), function() file:readObject() end)
      assert.same({1}, file:seek(3):binary():readObject())
      file:close()
   end)
end)
