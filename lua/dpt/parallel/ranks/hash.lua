--- dpt.parallel.ranks.hash: 64-bit hashes by which ranks detect differing bytes.
--
-- Invariant: each step is a bijection in the previous hash and in the added word, so data that
-- differ in a single word always have different hashes. A device tensor is copied to host memory
-- chunk by chunk.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local bit = require 'bit'
local ffi, type = dptffi.ffi, dptffi.type

local hash = {}

local CHUNK = 2 ^ 20 -- elements of a device tensor that are copied at once: whole words
local FACTOR = 0x9e3779b97f4a7c15ULL -- odd
local words, word = ffi.typeof 'const uint64_t *', ffi.new 'uint64_t[1]'

--- Hash of no data.
hash.start = 0xcbf29ce484222325ULL

local function step(h, value)
   h = bit.bxor(h, value) * FACTOR
   return bit.bxor(h, bit.rshift(h, 32))
end

-- Returns the hash with bytes added.
local function addBytes(h, pointer, count)
   local whole = math.floor(count / 8)
   local list = ffi.cast(words, pointer)
   for i = 0, whole - 1 do h = step(h, list[i]) end
   if count == 8 * whole then return h end
   word[0] = 0
   ffi.copy(word, list + whole, count - 8 * whole)
   return step(h, word[0])
end

-- Returns the hash with the bytes of a contiguous host tensor added.
local function addHost(h, t)
   if t:nElement() == 0 then return h end -- an empty tensor may have no memory
   h = addBytes(h, t:data(), t:nElement() * t:elementSize())
   core.keepAlive(t)
   return h
end

local function addDevice(h, t)
   t = t:contiguous():view(-1)
   local host = core.newTensor(t.kind_ - core.ON_DEVICE)
   for first = 1, t:nElement(), CHUNK do
      local part = t:narrow(1, first, math.min(CHUNK, t:nElement() - first + 1))
      h = addHost(h, host:resize(part:nElement()):copy(part))
   end
   return h
end

--- Returns the hash with a value added: the sizes and elements of a tensor, a number, a string or a
-- boolean.
function hash.add(h, value)
   if torch.isTensor(value) then
      h = step(h, value:dim())
      for i = 1, value:dim() do h = step(h, value:size(i)) end
      if comm.device(value) == 0 then return addHost(h, value:contiguous()) end
      return cutorch.withDeviceOf(value, addDevice, h, value)
   end
   local text = type(value) == 'number' and ('%.17g'):format(value) or tostring(value)
   for i = 1, #text do h = step(h, text:byte(i)) end
   return step(h, #text)
end

--- Returns a hash as a number that can be sent.
function hash.number(h) return tonumber(bit.rshift(h, 11)) end

return hash
