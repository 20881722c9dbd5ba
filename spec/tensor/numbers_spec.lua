-- A number is converted to the same element by every function, in host memory and on devices.
local both = require 'spec.support.both'
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch = dpt.torch

local numbers = {3e9, -3e9, 300, -1.5, 1e19, -1e19, 2 ^ 40 + 5, 0 / 0, 1 / 0, 2049.0000001}

--- Ways to write the number v to the only element of x.
local ways = {
   function(x, v) x[1] = v end,
   function(x, v) x:storage()[1] = v end,
   function(x, v) x:indexFill(1, torch.LongTensor{1}:type(x:type():find 'Cuda'
      and 'torch.CudaLongTensor' or 'torch.LongTensor'), v) end,
   function(x, v) x:maskedFill(torch.ByteTensor{1}:type(x:type():find 'Cuda'
      and 'torch.CudaByteTensor' or 'torch.ByteTensor'), v) end,
   function(x, v) x:scatter(1, torch.LongTensor{1}:type(x:type():find 'Cuda'
      and 'torch.CudaLongTensor' or 'torch.LongTensor'), v) end,
}

describe('A number', function()
   it('that does not fit in an integer is converted as in Torch7', function()
      for _, kind in ipairs{'', 'Cuda'} do
         local function given(name, v)
            local x = torch.DoubleTensor{0}:type('torch.' .. kind .. name .. 'Tensor')
            ways[3](x, v)
            return x[1]
         end
         assert.equal(-2 ^ 31, given('Int', 3e9))
         assert.equal(0, given('Byte', 3e9))
         assert.equal(44, given('Byte', 300))
         assert.equal(-2 ^ 63, given('Long', 1e19))
      end
   end)

   for _, name in ipairs(elements.all) do
      it('is one element, however it is given: ' .. name, function()
         for _, kind in ipairs{name, elements.onDevice(name)} do
            local typename = 'torch.' .. kind .. 'Tensor'
            for _, v in ipairs(numbers) do
               local function zero() return torch.DoubleTensor{0}:type(typename) end
               local wanted = tostring(zero():fill(v)[1])
               for i, way in ipairs(ways) do
                  local x = zero()
                  way(x, v)
                  assert.equal(wanted, tostring(x[1]), ('%s, way %d, %g'):format(typename, i, v))
               end
            end
         end
      end)
   end

   it('of a sum is rounded to a reduced type once', function()
      for _, name in ipairs(elements.reduced) do
         local bits = both.bits(name)
         for _, kind in ipairs{name, elements.onDevice(name)} do
            -- rounding to float first would lose the last term and then round to even
            local x = torch[kind .. 'Tensor']{1, 2 ^ -bits, 2 ^ -24}
            assert.equal(1 + 2 ^ (1 - bits), x:sum(1)[1])
            assert.equal(1 + 2 ^ (1 - bits), x:cumsum(1)[3])
         end
      end
   end)
end)
