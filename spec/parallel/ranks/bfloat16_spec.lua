-- dpt.parallel.ranks.bfloat16: floats rounded to their upper 16 bits.
local ffi = require 'ffi'
local dpt = require 'dpt'
local torch = dpt.torch
local bfloat16 = require 'dpt.parallel.ranks.bfloat16'

describe('dpt.parallel.ranks.bfloat16', function()
   local numbers = {0, 1, -1, 1 + 2 ^ -8, 1 + 3 * 2 ^ -8, 1 + 2 ^ -8 + 2 ^ -20, -1 - 2 ^ -8,
      1 / 0, -1 / 0, 3.4e38, 2 ^ -133, 2 ^ -126 * 1.5}
   local rounded = {0, 1, -1, 1, 1 + 2 ^ -6, 1 + 2 ^ -7, -1, 1 / 0, -1 / 0, 1 / 0, 2 ^ -133,
      2 ^ -126 * 1.5}

   for _, typename in ipairs{'torch.FloatTensor', 'torch.DoubleTensor', 'torch.CudaTensor',
      'torch.CudaDoubleTensor'} do
      it('rounds a ' .. typename .. ' to the nearest even', function()
         local given = torch.DoubleTensor(numbers):type(typename)
         local sent = bfloat16.encode(given)
         assert.equal(typename:find 'Cuda' and 'torch.CudaShortTensor' or 'torch.ShortTensor',
            sent:type())
         assert.same(rounded, bfloat16.decode(sent):double():totable())
         assert.same(torch.DoubleTensor(numbers):float():totable(), given:float():totable())
      end)

      it('preserves NaN in a ' .. typename, function()
         local back = bfloat16.decode(bfloat16.encode(torch.DoubleTensor{0 / 0, 1, -(0 / 0)}
            :type(typename))):double()
         assert.is_true(back[1] ~= back[1] and back[2] == 1 and back[3] ~= back[3])
      end)
   end

   -- A single rank also rounds, as a transfer would.
   it('is the rounding of allReduce, as are halves, for floats of all exponents', function()
      local allReduce = require('dpt.distributed').allReduce
      local bits = torch.IntTensor(2 ^ 16, 5)
      for i, low in ipairs{0, 1, 0x7fff, 0x8000, 0xffff} do
         bits:select(2, i):range(0, 2 ^ 16 - 1):add(-2 ^ 15):mul(2 ^ 16):add(low)
      end
      local floats = torch.FloatTensor(torch.FloatStorage(bits:nElement()))
      ffi.copy(floats:data(), bits:data(), 4 * bits:nElement())
      local function same(a, b)
         return torch.eq(a, b):add(torch.ne(a, a):cmul(torch.ne(b, b))):min() == 1
      end
      for _, typename in ipairs{'torch.FloatTensor', 'torch.DoubleTensor', 'torch.CudaTensor'} do
         for wire, wanted in pairs{bfloat16 = bfloat16.decode(bfloat16.encode(floats)),
            half = floats:half():float()} do
            local t = floats:type(typename):clone()
            allReduce(t, 'sum', nil, nil, nil, wire)
            assert.is_true(same(t:float(), wanted), typename .. ' ' .. wire)
         end
      end
   end)

   it('has a relative error of at most 2^-8', function()
      local given = torch.randn(10000):float()
      local off = (bfloat16.decode(bfloat16.encode(given)) - given):abs():cdiv(given:clone():abs())
      assert.is_true(off:max() <= 2 ^ -8 and off:max() > 2 ^ -9)
   end)
end)
