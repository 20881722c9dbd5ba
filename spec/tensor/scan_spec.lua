-- Cumulative sums and products, histograms, renorm: devices agree with the host, for lanes of every
-- length and stride order.
local torch = require 'dpt.tensor'
local both = require 'spec.support.both'
local numbers = both.numbers

describe('On a device as on the host', function()
   it('running sums are computed', function()
      both.agree(both.types, function(make)
         local x, long = make(numbers(0, 3, 40, 9, 50)), make(numbers(0, 1, 2000))
         local here = make(numbers(0, 3, 7, 130))
         here:cumsum(2, here)
         return x:cumsum(1), x:cumsum(2), x:cumsum(3), x:transpose(1, 3):cumsum(3), long:cumsum(1),
            x:select(2, 3):cumsum(1), here, torch.cumsum(here:t():clone(), 1)
      end)
      -- lanes in several parts, contiguous and strided
      both.agree({'Byte', 'Float', 'Double', 'Long'}, function(make)
         local line, wide = make(numbers(0, 1, 9001)), make(numbers(0, 9, 3000, 3))
         local sum = torch.cumsum(line)
         line:cumsum(1, line)
         return sum, line, wide:cumsum(1), make(numbers(0, 9, 3, 9001)):cumsum(2),
            make(numbers(0, 9, 9001, 2)):t():cumsum(2)
      end)
      both.agree({'Float', 'Double'}, function(make)
         return make(numbers(1, 9, 20000):div(7)):cumsum(1)
      end, 1e-7)
   end)

   it('running products are computed', function()
      both.agree(both.types, function(make)
         local x = numbers(1, 2, 6, 12)
         return make(x):cumprod(1), make(x):cumprod(2), make(x:t()):cumprod(1)
      end)
      both.agree({'Float', 'Double', 'Int', 'Long'}, function(make)
         local x = torch.ones(9001)
         for i = 500, 9000, 500 do x[i] = i % 1000 == 0 and -2 or 1 end
         return make(x):cumprod(1), make(x:view(9001, 1):expand(9001, 3)):cumprod(1)
      end)
   end)

   it('sums with infinities and NaNs are computed', function()
      both.agree(both.reals, function(make)
         local x = torch.ones(3, 300)
         x[1][40], x[2][70], x[2][200], x[3][299] = math.huge, math.huge, -math.huge, 0 / 0
         return make(x):cumsum(2), make(x):cumsum(1), make(x):cumprod(2)
      end)
   end)

   it('histograms are counted', function()
      both.agree({'Float', 'Double'}, function(make)
         local x = make(numbers(-500, 500, 30, 400):div(7))
         x[3][5] = 0 / 0
         return torch.histc(x, 10, -60, 60), torch.histc(x, 9000, -60, 60),
            torch.bhistc(x, 12, -30, 10), torch.histc(make{2, 2, 2}, 4),
            torch.histc(make(numbers(0, 99, 50000)), 100)
      end)
   end)

   it('slices get a maximal norm by renorm', function()
      for _, p in ipairs{1, 2, 3} do
         both.agree(both.reals, function(make)
            local x = make(numbers(-20, 20, 9, 8, 5):div(8))
            return x:renorm(p, 1, 10), x:renorm(p, 2, 8), x:renorm(p, 3, 1e3),
               make(numbers(-20, 20, 3, 700):div(8)):renorm(p, 1, 5)
         end, 1e-3)
         both.agree({'Double'}, function(make)
            return make(numbers(-20, 20, 3, 700):div(8)):renorm(p, 1, 5)
         end, 1e-14)
      end
   end)
end)
