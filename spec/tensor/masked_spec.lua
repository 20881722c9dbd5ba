-- maskedSelect, maskedCopy, maskedFill, nonzero: devices agree with the host, for one element to
-- many tiles.
local torch = require 'dpt.tensor'
local cutorch = require('dpt').cutorch
local both = require 'spec.support.both'
local numbers = both.numbers

describe('On a device as on the host', function()
   it('elements are chosen where a mask is set', function()
      both.agree(both.types, function(make)
         local list = {}
         for _, n in ipairs{1, 31, 600, 4096, 4097, 20000} do
            local x, mask = make(numbers(0, 99, n)), make(numbers(0, 1, n), 'Byte')
            local copied, filled = x:clone(), x:clone()
            mask[1] = 1
            list[#list + 1] = x:maskedSelect(mask)
            list[#list + 1] = copied:maskedCopy(mask, make(torch.range(1, n)))
            list[#list + 1] = filled:maskedFill(mask, 42)
         end
         return unpack(list)
      end)
   end)

   it('elements of views are chosen in row-major order', function()
      both.agree(both.andReduced('Byte', 'Float', 'Double'), function(make)
         local x, mask = make(numbers(0, 99, 60, 90)), make(numbers(0, 2, 90, 60), 'Byte')
         local none = make(torch.zeros(90, 60), 'Byte')
         local copied = x:clone()
         copied:t():maskedCopy(mask, make(torch.range(1, 5400)))
         local line = make{7}:expand(5000) -- aliased elements: the last write remains
         line:maskedCopy(make(numbers(0, 1, 5000), 'Byte'),
            make(torch.range(1, 5000):remainder(99)))
         return x:t():maskedSelect(mask), x:maskedSelect(mask:view(60, 90)), copied,
            x:maskedSelect(none), x[{{}, {3, 40}}]:clone():maskedFill(mask[{{1, 60}, {1, 38}}], 5),
            line
      end)
   end)

   it('the positions of nonzero elements are found', function()
      both.agree(both.types, function(make)
         local x = make(numbers(0, 2, 7, 50, 30))
         return x:nonzero(), x:transpose(1, 3):nonzero(), x:view(-1):nonzero(),
            x[{{}, {2, 5}, 3}]:nonzero(), make(torch.zeros(5)):nonzero(), make{0, 4}:nonzero()
      end)
      both.agree(both.reals, function(make)
         return make{0, -1 / math.huge, 0 / 0, 1, math.huge, -0.5}:nonzero()
      end)
   end)
end)

describe('A list that is too short for a mask', function()
   it('raises before a write', function()
      for _, n in ipairs{10, 10000} do
         local x, mask = torch.CudaTensor(n):fill(1), torch.CudaByteTensor(n):fill(1)
         local text = ('maskedCopy: the mask names %d elements, there are %d'):format(n, n - 1)
         local ok, message = pcall(function()
            x:maskedCopy(mask, torch.CudaTensor(n - 1):fill(5))
            cutorch.synchronize()
         end)
         assert.is_false(ok)
         assert.truthy(message:find(text, 1, true), message)
         assert.equal(n, x:sum())
      end
   end)
end)
