--- image.ppm: decodes and encodes PPM and PGM files, in text (P2, P3) and binary form (P5, P6).
--
-- Invariant: a header that claims more pixels than the file has bytes for raises before memory is
-- allocated for them.
local binding = require 'image.ffi'
local torch, fail = binding.torch, binding.fail

local ppm = {}

--- Parses the header. Returns the kind (2, 3, 5 or 6), planes, rows, columns, the largest value,
-- the position of the pixels and the number of elements.
local function headOf(what, bytes)
   local kind, at = tonumber(bytes:sub(2, 2)), 3
   local numbers = {}
   while #numbers < 3 do
      local first = bytes:find('[^%s]', at)
      if first and bytes:sub(first, first) == '#' then
         at = (bytes:find('\n', first, true) or #bytes) + 1
      else
         local digits = bytes:match('^%d+', first or #bytes + 1)
         if not digits or #digits > 9 then
            fail('%s: invalid header, wanted three numbers', what)
         end
         numbers[#numbers + 1], at = tonumber(digits), first + #digits
      end
   end
   local width, height, most = unpack(numbers)
   if width < 1 or height < 1 or most < 1 or most > 65535 then
      fail('%s: invalid header: got %d x %d pixels up to %d', what, width, height, most)
   end
   local planes, width16 = kind % 3 == 0 and 3 or 1, most > 255 and 2 or 1
   local count = width * height * planes
   -- a number in text has at least one digit and a space
   local least = kind > 3 and count * width16 or count * 2 - 1
   if least > #bytes - at + (kind > 3 and 0 or 1) then
      fail('%s: the file ends before its picture does: it claims %d x %d pixels', what, width,
         height)
   end
   return kind, planes, height, width, most, at + 1, count
end

--- Returns the numbers of planes, rows and columns.
function ppm.head(what, bytes)
   local _, planes, rows, columns = headOf(what, bytes)
   return planes, rows, columns
end

--- Fills a tensor of planes x rows x columns; floats and doubles are from 0 to 1.
function ppm.decode(what, bytes, to)
   local kind, planes, rows, columns, most, at, count = headOf(what, bytes)
   local values
   if kind > 3 and most <= 255 then
      values = torch.ByteTensor(torch.ByteStorage():string(bytes:sub(at, at + count - 1))):double()
   else
      values = torch.DoubleTensor(count)
      local data, i = values:data(), 0
      if kind > 3 then
         for k = at, at + 2 * count - 1, 2 do
            local high, low = bytes:byte(k, k + 1)
            data[i], i = high * 256 + low, i + 1
         end
      else
         for digits in bytes:sub(at):gmatch '%d+' do
            if i == count then break end
            data[i], i = tonumber(digits), i + 1
         end
         if i < count then fail('%s: the file ends before its picture does', what) end
      end
   end
   local isByte = torch.type(to) == 'torch.ByteTensor'
   if isByte and most ~= 255 then
      values:mul(255 / most):round()
   elseif not isByte then
      values:div(most)
   end
   values:clamp(0, isByte and 255 or 1)
   to:copy(values:view(rows, columns, planes):permute(3, 1, 2))
end

--- Encodes a picture of bytes with one or three planes as a file.
function ppm.encode(fn, tensor)
   local planes, rows, columns = tensor:size(1), tensor:size(2), tensor:size(3)
   if planes ~= 1 and planes ~= 3 then fail('%s: got %d planes, wanted 1 or 3', fn, planes) end
   return ('P%d\n%d %d\n255\n'):format(planes == 3 and 6 or 5, columns, rows)
      .. tensor:permute(2, 3, 1):contiguous():storage():string()
end

return ppm
