-- index, gather, scatter and related functions: devices agree with the host; an invalid index
-- raises, and then nothing is written.
local torch = require 'dpt.tensor'
local both = require 'spec.support.both'
local numbers = both.numbers

describe('On a device as on the host', function()
   it('slices are chosen by index', function()
      both.agree(both.types, function(make)
         local x, y = make(numbers(0, 99, 40, 6, 8)), make(numbers(0, 99, 8, 64))
         local few, many = make({3, 1, 3, 6}, 'Long'), make(numbers(1, 40, 300), 'Long')
         return x:index(1, many), x:index(2, few), x:index(3, few), x:transpose(1, 3):index(2, few),
            y:index(1, few), y:t():index(2, few), x[{{}, {2, 5}}]:index(1, many),
            y:index(2, make(numbers(1, 64, 5000), 'Long')), x:select(3, 2):index(1, few)
      end)
      both.agree({'Float'}, function(make)
         local x = make(numbers(0, 99, 50, 257)) -- rows of odd sizes, in views
         local few = make(numbers(1, 50, 70), 'Long')
         return x:index(1, few), x:narrow(2, 2, 256):index(1, few),
            x:narrow(2, 5, 252):index(1, few)
      end)
   end)

   it('slices are written by index, in the order of the indices', function()
      both.agree(both.types, function(make)
         local idx = make(numbers(1, 9, 60), 'Long') -- every index several times
         local source, across = make(numbers(0, 99, 60, 5)), make(numbers(0, 99, 5, 60))
         local copied, added, filled = make(numbers(0, 9, 9, 5)), make(numbers(0, 9, 9, 5)),
            make(numbers(0, 9, 9, 5))
         local copied2, added2 = make(numbers(0, 9, 5, 12)), make(numbers(0, 9, 5, 12))
         return copied:indexCopy(1, idx, source), added:indexAdd(1, idx, source),
            filled:indexFill(1, make({2, 2, 7}, 'Long'), 42), copied2:indexCopy(2, idx, across),
            added2:indexAdd(2, idx, across), make{1, 2, 3}:indexAdd(1, make({3}, 'Long'), make{7})
      end)
      -- rounded after each addition, so the order matters
      both.agree(both.andReduced 'Float', function(make)
         local n = 6000
         local idx, source = make(numbers(1, 40, n), 'Long'), make(numbers(1, 1000, n):div(7))
         return make(torch.zeros(40)):indexAdd(1, idx, source),
            make(torch.zeros(40)):indexCopy(1, idx, source)
      end)
   end)

   it('elements are chosen by index', function()
      both.agree(both.types, function(make)
         local x, idx = make(numbers(0, 99, 30, 20)), numbers(1, 20, 30, 45)
         local down, wide = make(numbers(1, 30, 7, 20), 'Long'), make(idx, 'Long')
         return x:gather(2, wide), x:gather(1, down), x:t():gather(1, wide:t()),
            x:gather(1, make(numbers(1, 30, 7, 11), 'Long'))
      end)
   end)

   it('elements are written by index, in the order of the indices', function()
      both.agree(both.types, function(make)
         local idx, down = make(numbers(1, 6, 30, 45), 'Long'), make(numbers(1, 9, 50, 8), 'Long')
         local function zeros(...) return make(torch.zeros(...)) end
         return zeros(30, 6):scatter(2, idx, make(numbers(0, 99, 30, 45))),
            zeros(30, 6):scatterAdd(2, idx, make(numbers(0, 3, 30, 45))),
            zeros(9, 8):scatterAdd(1, down, make(numbers(0, 3, 50, 8))),
            zeros(8, 9):t():scatter(1, down, make(numbers(0, 99, 50, 9))),
            zeros(30, 6):scatter(2, idx, 5),
            zeros(30, 4):scatter(2, make(numbers(1, 4, 30, 1), 'Long'), 1)
      end)
      both.agree({'Float'}, function(make)
         local n = 5000
         local idx, source = make(numbers(1, 30, 2, n), 'Long'), make(numbers(1, 1000, 2, n):div(7))
         return make(torch.zeros(2, 30)):scatterAdd(2, idx, source),
            make(torch.zeros(2, 30)):scatter(2, idx, source)
      end)
   end)
end)

describe('An index out of range', function()
   local cutorch = require('dpt').cutorch

   --- Asserts that f fails, at the latest when waited for, with a message that contains the text.
   local function fails(text, f)
      local ok, message = pcall(function()
         f()
         cutorch.synchronize()
      end)
      assert.is_false(ok)
      assert.truthy(message:find(text, 1, true), message)
   end

   it('raises before a write', function()
      for _, n in ipairs{4, 40000} do
         local idx = numbers(1, 5, n)
         idx[n - 1] = 6
         idx = idx:type 'torch.CudaLongTensor'
         local x, y = torch.CudaTensor(5, 3):fill(1), torch.CudaTensor(n, 3):fill(2)
         local function text(name) return name .. ': index 6 is out of range, dimension 1 has 5' end
         local r = torch.CudaTensor(n, 3):fill(3)
         fails(text 'index', function() torch.index(r, x, 1, idx) end)
         local lost = idx:cuda():fill(0 / 0)
         fails('index: index -9223372036854775808 (NaN or too large) is out of range, dimension 1',
            function() torch.index(r, x, 1, lost) end)
         fails(text 'indexCopy', function() x:indexCopy(1, idx, y) end)
         fails(text 'indexAdd', function() x:indexAdd(1, idx, y) end)
         fails(text 'indexFill', function() x:indexFill(1, idx, 9) end)
         local all = idx:view(n, 1):expand(n, 3)
         fails(text 'gather', function() torch.gather(r, x, 1, all) end)
         fails(text 'scatter', function() x:scatter(1, all, y) end)
         fails(text 'scatterAdd', function() x:scatterAdd(1, all, y) end)
         fails(text 'scatter', function() x:scatter(1, all, 9) end)
         assert.equal(15, x:sum())
         assert.equal(n * 9, r:sum())
      end
   end)
end)
