-- Corrupted image files: each is read or rejected with an error message, whatever its header
-- claims.
local dpt = require 'dpt'
local image = require 'image'
local torture = require 'spec.support.torture'
local torch = dpt.torch

-- A separate generator, so that a run draws the same mutants on every machine.
local state = tonumber(os.getenv 'DPT_SEED') or 1
local function random(n)
   state = (state * 16807) % 2147483647
   return state % n + 1
end

local remainders = {}
for i = 0, 255 do
   local c = i
   for _ = 1, 8 do
      c = bit.bxor(bit.rshift(c, 1), bit.band(c, 1) == 1 and 0xedb88320 or 0)
   end
   remainders[i] = c
end

-- Corrects the checksums of a PNG file's bytes, so that its chunks are read.
local function repaired(bytes)
   local at, parts = 9, {bytes:sub(1, 8)}
   while at + 11 <= #bytes do
      local a, b, c, d = bytes:byte(at, at + 3)
      local n = ((a * 256 + b) * 256 + c) * 256 + d
      if at + 11 + n > #bytes then break end
      local crc = -1
      for i = at + 4, at + 7 + n do
         crc = bit.bxor(remainders[bit.band(bit.bxor(crc, bytes:byte(i)), 255)], bit.rshift(crc, 8))
      end
      crc = bit.bnot(crc)
      parts[#parts + 1] = bytes:sub(at, at + 7 + n)
      for shift = 24, 0, -8 do
         parts[#parts + 1] = string.char(bit.band(bit.rshift(crc, shift), 255))
      end
      at = at + 12 + n
   end
   return table.concat(parts) .. bytes:sub(at)
end

local function mutant(bytes)
   local list = {bytes:byte(1, -1)}
   for _ = 1, random(4) do
      local at, how = random(#list), random(5)
      if how == 1 then list[at] = random(256) - 1
      elseif how == 2 then list[at] = (list[at] + 2 ^ (random(8) - 1)) % 256
      elseif how == 3 then table.remove(list, at)
      elseif how == 4 then table.insert(list, at, random(256) - 1)
      else
         for i = #list, at, -1 do list[i] = nil end
      end
      if #list == 0 then list[1] = 0 end
   end
   local out = string.char(unpack(list))
   return random(4) > 1 and out:sub(2, 4) == 'PNG' and repaired(out) or out
end

describe('broken pictures', function()
   local small = torch.range(0, 359):view(3, 10, 12):div(400)
   local sources = {
      jpeg = image.compressJPG(small), grey = image.compressJPG(small[1]),
      png = image.compressPNG(small), png4 = image.compressPNG(torch.rand(4, 5, 6)),
   }
   for name, tensor in pairs(sources) do
      local bytes = tensor:storage():string()
      it('of ' .. name .. ' are read or rejected', function()
         assert.is_true(image.decompress(tensor):nElement() > 0)
         local rejected = 0
         for _ = 1, torture(2500) do
            local ok, out = pcall(image.decompress,
               torch.ByteTensor(torch.ByteStorage():string(mutant(bytes))), nil, 'byte')
            if ok then
               assert.is_true(out:nElement() > 0)
            else
               rejected = rejected + 1
               assert.matches('image%.decompress: the tensor', out)
            end
         end
         assert.is_true(rejected > 0)
      end)
   end
end)
