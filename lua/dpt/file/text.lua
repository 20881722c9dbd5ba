--- dpt.file.text: numbers and lines as text, for files in ascii mode.
--
-- Invariant: written numbers read back to the same bits (%.9g and %.17g); Long integers never pass
-- through doubles. csrc/base/text.c parses numbers.
local core = require 'dpt.tensor.core'
local dptffi = require 'dpt.ffi'
local ffi, C = dptffi.ffi, dptffi.C

local text = {}

local CHUNK = 4096

--- Converts n elements to doubles, with NaNs that Lua accepts as numbers. Returns a tensor of these
-- doubles and a pointer to the first one.
local function doubles(kind, pointer, n)
   local storage = core.freshStorage(kind, n)
   ffi.copy(core.storagePointer(storage), pointer, core.elementSizes[kind] * n)
   return core.doubles(core.storageTensor(storage))
end

function text.write(file, kind, pointer, n)
   local element, words = core.elements[kind], {}
   local format = element.isReal and (element.size > 4 and '%.17g' or '%.9g')
   for first = 0, n - 1, CHUNK do
      local count = math.min(CHUNK, n - first)
      local real, data = nil, pointer + first
      if format then real, data = doubles(kind, data, count) end
      for i = 0, count - 1 do
         words[i + 1] = kind == C.DPT_I64 and tostring(data[i]):sub(1, -3)
            or (format or '%d'):format(data[i])
      end
      core.keepAlive(real)
      local block = table.concat(words, file.spacing_ and ' ' or '', 1, count)
      if file.spacing_ and first + count < n then block = block .. ' ' end
      file:_write(block, #block)
   end
end

local block = ffi.new 'uint8_t[4096]'

--- Reads a line without its end, or all remaining bytes, of a file that is not at its end.
function text.readString(file, line)
   local parts, n = {}, 0
   if not line then
      repeat
         n = file:_read(block, 4096)
         parts[#parts + 1] = ffi.string(block, n)
      until n < 4096
      return table.concat(parts)
   end
   local byte = file:_byte()
   while byte >= 0 and byte ~= 10 do
      block[n] = byte
      n = n + 1
      if n == 4096 then
         parts[#parts + 1] = ffi.string(block, n)
         n = 0
      end
      byte = file:_byte()
   end
   parts[#parts + 1] = ffi.string(block, n)
   return table.concat(parts)
end

return text
