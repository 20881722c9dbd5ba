--- dpt.parallel.ranks.bfloat16: converts floats to bfloat16 and back; a ShortTensor holds the bits.
--
-- Invariant: encoding rounds to the nearest bfloat16, ties to even. NaN stays NaN (always the same
-- one), infinities stay, and values that round beyond the largest become infinite. Decoding is
-- exact. Views of a storage as another type exist only inside these functions; elements of both
-- types have 4 bytes.
local torch = require 'dpt.tensor'

local bfloat16 = {}

local SIGN = 2 ^ 15
local NAN = 0x7fc0

local function kindOf(name) return torch.getmetatable(name).new().kind_ end

-- Returns a view of the same elements, whose bits are read as another type.
local function view(t, name)
   local seen = t.new(t)
   seen.kind_ = kindOf(name)
   return seen
end

local function isOnDevice(t) return t:type():find 'Cuda' ~= nil end

--- Returns the numbers of a tensor, rounded to bfloat16.
-- @param t of any real type; not modified
-- @return a ShortTensor on the same device
function bfloat16.encode(t)
   local on = isOnDevice(t)
   local rounded = t.new(t:size()):copy(t):type(on and 'torch.CudaTensor' or 'torch.FloatTensor')
   local nan = rounded:ne(rounded)
   rounded:maskedFill(nan, 0)
   local bits = view(rounded, on and 'torch.CudaIntTensor' or 'torch.IntTensor')
   local odd = bits:clone():rshift(16):bitand(1)
   bits:add(odd):add(0x7fff):rshift(16)
   bits:bitxor(SIGN):add(-SIGN):maskedFill(nan, NAN) -- 0 to 65535 as signed integers
   return bits:type(on and 'torch.CudaShortTensor' or 'torch.ShortTensor')
end

--- Returns the numbers that encode was given, rounded.
-- @return a FloatTensor on the same device
function bfloat16.decode(shorts)
   local on = isOnDevice(shorts)
   local bits = shorts:type(on and 'torch.CudaIntTensor' or 'torch.IntTensor'):lshift(16)
   local name = on and 'torch.CudaTensor' or 'torch.FloatTensor'
   return torch.getmetatable(name).new(bits:size()):copy(view(bits, name))
end

return bfloat16
