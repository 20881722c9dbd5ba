--- dpt.file.foreign: identifies files that do not contain Torch7 objects in the current mode.
--
-- Invariant: it only examines the first bytes; no object in the file's mode begins with any of the
-- signatures. The position does not change.
local ffi = require('dpt.ffi').ffi
local LITTLE = ffi.abi 'le'

local PYTORCH = ': save its tensors with safetensors, and read them by nn.safetensors.load'

-- First bytes of a file, and the end of the sentence that begins with its name.
local SIGNATURES = {
   {'^PK\3\4', 'is a PyTorch archive (zip)' .. PYTORCH},
   {'^\128[\2-\5]', 'is a Python pickle, as older versions of PyTorch write' .. PYTORCH},
   {'^......%z%z{', 'is a safetensors file: nn.safetensors.load reads it'},
   {'^\31\139', 'is a gzip file: unpack it first (gunzip)'},
   {'^BZh', 'is a bzip2 file: unpack it first (bunzip2)'},
   {'^\2537zXZ', 'is an xz file: unpack it first (unxz)'},
   {'^\137HDF', 'is an HDF5 file: the package hdf5 reads it'},
   {'^%s*<[!%a]', 'is a page of HTML or XML: was it downloaded?'},
   {'^version https://git', 'is a pointer of Git LFS, not the file itself: git lfs pull gets it'},
}

-- The first number of an object, 0 to 8: as text, and as little-endian and big-endian bytes.
local TEXT, LOW, HIGH = '^%s*[0-8]\r?\n', '^[%z\1-\8]%z%z%z', '^%z%z%z[\1-\8]'

local head = ffi.new 'uint8_t[32]'

--- Returns the end of a sentence that begins with the file's name; nil if the file is not
-- recognized.
-- @param start expected position of the object, from 0
return function(file, start)
   local left = file:_remaining()
   if not left then return nil end -- a pipe
   local at = file:_position()
   file:_seek(start)
   local bytes = ffi.string(head, file:_read(head, math.min(32, left + at - start)))
   file:_seek(at)
   local own, other = TEXT, nil
   if file.binary_ then own, other = LOW, HIGH end
   if file.binary_ and LITTLE == file.swap_ then own, other = HIGH, LOW end
   if bytes:find(own) then return nil end
   for _, known in ipairs(start == 0 and SIGNATURES or {}) do
      if bytes:find(known[1]) then return known[2] end
   end
   if not file.binary_ and (bytes:find(LOW) or bytes:find(HIGH)) then
      return "was written in binary mode, wanted ascii: mode 'binary' reads it"
   elseif file.binary_ and bytes:find(TEXT) then
      return "was written in ascii mode, wanted binary: mode 'ascii' reads it"
   elseif other and bytes:find(other) then
      return 'has its bytes in the other order: littleEndianEncoding or bigEndianEncoding reads it'
   end
end
