--- dpt.parallel.ranks.bfloat16: numbers as the upper halves of floats, which ShortTensors carry.
--
-- Invariant: a float is rounded to the nearest bfloat16, ties to even. NaN stays NaN (one of them),
-- infinities stay, and values that round beyond the largest become infinite. Decoding is exact.
-- Views of another type over a storage exist only inside these functions: elements of both have 4
-- bytes.
local torch = require 'dpt.tensor'

local bfloat16 = {}

local SIGN = 2 ^ 15
local NAN = 0x7fc0

local function kindOf(name) return torch.getmetatable(name).new().kind_ end

-- The same elements by their bits as another type.
local function view(t, name)
   local seen = t.new(t)
   seen.kind_ = kindOf(name)
   return seen
end

local function isOnDevice(t) return t:type():find 'Cuda' ~= nil end

--- The numbers of a tensor, rounded.
-- @param t of any real type; it stays as it is
-- @return a ShortTensor where t is
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

--- The numbers that encode returned.
-- @return a FloatTensor where they are
function bfloat16.decode(shorts)
   local on = isOnDevice(shorts)
   local bits = shorts:type(on and 'torch.CudaIntTensor' or 'torch.IntTensor'):lshift(16)
   local name = on and 'torch.CudaTensor' or 'torch.FloatTensor'
   return torch.getmetatable(name).new(bits:size()):copy(view(bits, name))
end

return bfloat16
