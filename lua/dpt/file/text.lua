--- dpt.file.text: numbers and lines as text, for files in ascii mode.
--
-- What must stay true: what is written reads back to the same bits (%.9g and %.17g); Long integers
-- never pass through doubles; a number ends at the first byte that cannot belong to it.
local core = require 'dpt.tensor.core'
local dptffi = require 'dpt.ffi'
local ffi, C = dptffi.ffi, dptffi.C

local text = {
   --- The names of the C types of elements, by kind. (A type made with ffi.typeof('$[1]', type) is
   -- kept by its text alone where LuaJIT compiles the call.)
   elements = {[C.DPT_U8] = 'uint8_t', [C.DPT_I8] = 'int8_t', [C.DPT_I16] = 'int16_t',
      [C.DPT_I32] = 'int32_t', [C.DPT_I64] = 'int64_t', [C.DPT_F32] = 'float',
      [C.DPT_F64] = 'double'},
}

local LONGEST, CHUNK = 63, 4096
local buffer = ffi.new('char[?]', LONGEST + 1)
local formats = {[C.DPT_F16] = '%.9g', [C.DPT_F32] = '%.9g', [C.DPT_F64] = '%.17g'}

--- Elements as doubles that Lua takes for numbers, in a tensor.
local function doubles(kind, pointer, n)
   local storage = core.freshStorage(kind, n)
   ffi.copy(core.storagePointer(storage), pointer, core.elementSizes[kind] * n)
   return core.doubles(core.storageTensor(storage))
end

function text.write(file, kind, pointer, n)
   local format, words = formats[kind], {}
   for first = 0, n - 1, CHUNK do
      local count = math.min(CHUNK, n - first)
      local real = format and doubles(kind, pointer + first, count)
      local data = real and real:data() or pointer + first
      for i = 0, count - 1 do
         words[i + 1] = kind == C.DPT_I64 and tostring(data[i]):sub(1, -3)
            or (format or '%d'):format(data[i])
      end
      core.hold(real)
      local block = table.concat(words, file.spacing_ and ' ' or '', 1, count)
      if file.spacing_ and first + count < n then block = block .. ' ' end
      file:_write(block, #block)
   end
end

--- Which bytes a number may consist of; a sign stands first, or behind the e of an exponent.
local whole, real = {}, {}
for byte = 0, 255 do
   local c = string.char(byte)
   whole[byte] = c:find '%d' ~= nil
   real[byte] = c:find '[%w.]' ~= nil
end
local PLUS, MINUS, E = 43, 45, 101

--- The next number's text, '' at the end of the file.
local function token(file, allowed)
   local byte, n, before = file:_byte(), 0, E
   while byte == 32 or byte >= 9 and byte <= 13 do byte = file:_byte() end
   while byte >= 0 and n < LONGEST and (allowed[byte] or (byte == PLUS or byte == MINUS)
         and bit.bor(before, 32) == E and (n == 0 or allowed == real)) do
      buffer[n] = byte
      n, before = n + 1, byte
      byte = file:_byte()
   end
   file:_unread(byte)
   return ffi.string(buffer, n)
end

--- The int64 that digits spell.
local function long(digits)
   local sign, rest = digits:match '^([+-]?)(%d+)$'
   if not rest then return nil end
   local value = 0LL
   for i = 1, #rest do value = value * 10 + (rest:byte(i) - 48) end
   return sign == '-' and -value or value
end

--- Reads n numbers to pointer; how many there were.
function text.read(file, kind, pointer, n)
   local wide = kind == C.DPT_F16 and core.freshStorage(core.FLOAT, n)
   local to = wide and core.storagePointer(wide) or pointer
   local allowed = formats[kind] and real or whole
   local got = 0
   while got < n do
      local word = token(file, allowed)
      local value
      if kind == C.DPT_I64 then value = long(word) else value = tonumber(word) end
      if not value then break end
      to[got] = value
      got = got + 1
   end
   if wide and got > 0 then
      local half = core.newStorage(C.DPT_F16, n):copy(wide)
      ffi.copy(pointer, core.storagePointer(half), 2 * got)
      core.hold(half)
   end
   core.hold(wide)
   return got
end

local block = ffi.new 'uint8_t[4096]'

--- A line without its end, or all bytes that are left, of a file that is not at its end.
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
