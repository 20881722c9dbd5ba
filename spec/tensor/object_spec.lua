-- The Lua side of a tensor: methods added by scripts, comparison, indices, constructors (in
-- addition to spec/golden).
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'

describe('Methods', function()
   it('slices print by their own elements only', function()
      local t = torch.zeros(2, 2)
      t[1]:fill(0.5)
      t[2]:fill(12345.6)
      assert.equal(' 0.5000\n 0.5000\n[torch.DoubleTensor of size 2]\n', tostring(t[1]))
      t[1]:fill(3)
      assert.equal(' 3  3\n[torch.DoubleTensor of size 1x2]\n', tostring(t:narrow(1, 1, 1)))
   end)

   it('added to one type are seen by its tensors at once', function()
      local x, y = torch.FloatTensor(2), torch.DoubleTensor(2)
      torch.getmetatable('torch.FloatTensor').specAdded = function(t) return t:dim() end
      assert.equal(1, x:specAdded())
      assert.error_matches(function() y:specAdded() end, "attempt to call method 'specAdded'")
      torch.getmetatable('torch.FloatTensor').specAdded = nil
   end)

   it('can be added through the constructor, and replaced', function()
      local old = torch.FloatTensor.sum
      function torch.FloatTensor.sum() return 'mine' end
      assert.equal('mine', torch.FloatTensor(2):sum())
      assert.are_not.equal('mine', torch.DoubleTensor(2):sum())
      torch.FloatTensor.sum = old
      assert.equal(3, torch.FloatTensor{1, 2}:sum())
   end)
end)

describe("dpt's own functions", function()
   it('read elements without a method that a script has replaced', function()
      local t = torch.DoubleTensor{{1, 2}, {3, 4}}:t()
      local storage, text = t:storage(), tostring(t)
      local methods, kept = getmetatable(torch.DoubleTensor), {}
      for _, name in ipairs{'contiguous', 'clone', 'data'} do
         kept[name] = methods[name]
         methods[name] = function() error(name) end
      end
      local ok, why = pcall(function()
         assert.same({{1, 3}, {2, 4}}, t:totable())
         assert.same({1, 2, 3, 4}, storage:totable())
         assert.equal(text, tostring(t))
         t:map(t, function(a, b) return a + b end)
         assert.same({{2, 6}, {4, 8}}, t:totable())
      end)
      for name, f in pairs(kept) do methods[name] = f end
      assert.is_true(ok, why)
   end)
end)

describe('Comparison', function()
   it('with == is of objects', function()
      local x = torch.FloatTensor(2)
      local y = torch.FloatTensor(x)
      assert.is_true(x == x) -- luacheck: ignore 581
      assert.is_false(x == y)
      assert.is_false(x == nil)
      assert.is_false(x == 5)
      assert.is_true(x ~= 'x')
      assert.is_true(x:storage() == y:storage())
      assert.is_false(x:storage() == nil)
      assert.equal(torch.pointer(x:storage()), torch.pointer(y:storage()))
      assert.are_not.equal(torch.pointer(x), torch.pointer(y))
   end)
end)

describe('Indices', function()
   it('reach every element by all forms', function()
      local x = torch.range(1, 24):resize(2, 3, 4)
      for i = 1, 2 do
         for j = 1, 3 do
            for k = 1, 4 do
               local want = (i - 1) * 12 + (j - 1) * 4 + k
               assert.equal(want, x[i][j][k])
               assert.equal(want, x[{i, j, k}])
               assert.equal(want, x[{i - 3, j - 4, k - 5}])
               assert.equal(want, x[torch.LongStorage{i, j, k}])
               assert.equal(want, x[{{i}, {j}, k}]:squeeze())
            end
         end
      end
   end)

   it('assign through every form', function()
      for _, name in ipairs{'Float', 'Long', 'Cuda', 'CudaByte'} do
         local x = torch[name .. 'Tensor'](3, 4):zero()
         x[1] = 1
         x[{2, 3}] = 2
         x[{{}, 4}] = torch.IntTensor{7, 8, 9}
         x[3][1] = 5
         x[torch.LongStorage{3, 2}] = 6
         x[{3, {3}}] = torch.DoubleTensor{4}
         assert.same({{1, 1, 1, 7}, {0, 0, 2, 8}, {5, 6, 4, 9}}, x:totable())
      end
   end)

   it('cut fractions off', function()
      local x = torch.FloatTensor{{1, 2}, {3, 4}, {5, 6}}
      local column = x:select(2, 1.9)
      assert.same({1, 3, 5}, column:totable())
      assert.equal(3, column:select(1, 2.9))
      assert.equal(3, column[2.9])
      assert.same({3, 4}, x[2.5]:totable())
      assert.same({{3, 4}}, x:narrow(1, 2.5, 1.5):totable())
      assert.error_matches(function() x:narrow(1, 0 / 0, 1) end, "'first' is nan, wanted an int")
   end)

   it("of integers keep a double's precision", function()
      local x = torch.LongTensor(1)
      x[1] = 2 ^ 53 - 1
      assert.equal(2 ^ 53 - 1, x[1])
   end)

   it('and functions of elements leave Long integers whole', function()
      for _, name in ipairs{'Long', 'CudaLong'} do
         local x = torch[name .. 'Tensor']{9007199254740993LL, 5}
         x:apply(function(v) if v == 5 then return 6 end end)
         assert.equal(9007199254740993LL, x:long():data()[0])
         assert.equal(6, x[2])
      end
   end)
end)

describe('Constructors', function()
   it('of device types copy the data to the device', function()
      local x = torch.CudaTensor{{1, 2}, {3, 4}}
      assert.equal('torch.CudaTensor', x:type())
      assert.is_true(x:getDevice() >= 1)
      assert.equal(0, torch.FloatTensor(1):getDevice())
      assert.same({{1, 2}, {3, 4}}, x:float():totable())
      assert.same({4, 2}, torch.CudaLongTensor(torch.LongStorage{4, 2}):totable())
   end)

   it('of the default type follow it', function()
      torch.setdefaulttensortype('torch.FloatTensor')
      local one, two = torch.Tensor(1):type(), torch.rand(1):type()
      torch.setdefaulttensortype('torch.DoubleTensor')
      assert.equal('torch.FloatTensor', one)
      assert.equal('torch.FloatTensor', two)
      assert.equal('torch.DoubleTensor', torch.Tensor(1):type())
   end)

   it('accept empty sizes', function()
      assert.equal(0, torch.FloatTensor(0):dim())
      assert.equal(2, torch.FloatTensor(0, 3):dim())
      assert.equal(0, torch.FloatTensor(0, 3):nElement())
      assert.equal('[torch.FloatTensor of size 0x3]\n', tostring(torch.FloatTensor(0, 3)))
   end)
end)

describe('Printed texts', function()
   it('of device tensors have their type and the same numbers', function()
      local host = tostring(torch.FloatTensor{{0.5, 100}, {3, 4}})
      local device = tostring(torch.CudaTensor{{0.5, 100}, {3, 4}})
      assert.equal((host:gsub('torch.FloatTensor', 'torch.CudaTensor')), device)
   end)
end)

describe('Summaries', function()
   local HINT = 'corners of %d elements: io.write(tostring(x)) writes all\n'

   it('are of tensors and storages of more than 10000 elements that leave something out', function()
      assert.is_nil(core.summary(torch.zeros(100, 100)))
      assert.is_nil(core.summary(torch.Tensor()))
      assert.is_nil(core.summary(torch.FloatStorage(10000)))
      assert.is_nil(core.summary(torch.zeros(6, 6, 6, 6, 6, 6)))
      assert.equal((' 1\n 1\n 1\n ...\n 1\n 1\n 1\n[torch.CharStorage of size 10001]\n'
         .. HINT):format(10001), core.summary(torch.CharStorage(10001):fill(1)))
   end)

   it('have the first and the last three indices of each longer dimension #devices2', function()
      local line = torch.range(1, 20000)
      local texts = {
         [line] = '     1\n     2\n     3\n ...\n 19998\n 19999\n 20000\n'
            .. '[torch.%s of size 20000]\n',
         [line:view(2, 10000)] = '     1      2      3  ...   9998   9999  10000\n'
            .. ' 10001  10002  10003  ...  19998  19999  20000\n[torch.%s of size 2x10000]\n',
         [line:view(5, 4000):t()] = '     1   4001   8001  12001  16001\n'
            .. '     2   4002   8002  12002  16002\n     3   4003   8003  12003  16003\n ...\n'
            .. '  3998   7998  11998  15998  19998\n  3999   7999  11999  15999  19999\n'
            .. '  4000   8000  12000  16000  20000\n[torch.%s of size 4000x5]\n',
      }
      for t, text in pairs(texts) do
         text = (text .. HINT):format('DoubleTensor', 20000)
         assert.equal(text, core.summary(t))
         for _, name in ipairs{'CudaDoubleTensor', 'LongTensor'} do
            local other = torch[name]():resize(t:size()):copy(t)
            assert.equal((text:gsub('DoubleTensor', name)), core.summary(other))
         end
      end
   end)

   it('of more dimensions name the matrices that they show', function()
      local t = torch.range(1, 8 * 2 * 7 * 200):view(8, 2, 7, 200)
      local text, shown = core.summary(t), {}
      for a, b in text:gmatch '%((%d),(%d),%.,%.%) = \n' do shown[#shown + 1] = a .. b end
      assert.equal('11 21 31 61 71 81 12 22 32 62 72 82', table.concat(shown, ' '))
      local _, gaps = text:gsub('\n\n%.%.%.\n\n%(6', '')
      assert.equal(2, gaps)
      assert.matches('%(7,2,%.,%.%) = \n  18201  18202  18203  ...  18398  18399  18400\n', text)
      assert.matches('\n  22201  22202  22203  ...  22398  22399  22400\n%[torch', text)
      text = core.summary(torch.zeros(7, 8, 1, 200))
      _, gaps = text:gsub('\n\n%.%.%.\n\n', '')
      assert.equal(6 + 1, gaps) -- one in each row of matrices, one between the rows
   end)

   it('read the corners only', function()
      assert.matches('size 100000x90000', core.summary(torch.ones(1, 1):expand(100000, 90000)))
      local t = torch.zeros(200, 200):narrow(2, 1, 150)
      t[100]:fill(0 / 0)
      t[200][150] = 0.5
      assert.matches(' 0%.0000 +0%.5000\n%[', core.summary(t))
   end)
end)

describe('Generators:', function()
   it('torch.manualSeed also seeds devices', function()
      torch.manualSeed(7)
      local a = torch.CudaTensor(5):uniform():float()
      torch.manualSeed(7)
      assert.is_true(a:equal(torch.CudaTensor(5):uniform():float()))
      assert.is_false(a:equal(torch.CudaTensor(5):uniform():float()))
   end)

   it('one that is given for a device tensor fills it with its numbers', function()
      local g = torch.Generator()
      torch.manualSeed(g, 3)
      local host = torch.FloatTensor(4):uniform(g)
      torch.manualSeed(g, 3)
      assert.is_true(host:equal(torch.CudaTensor(4):uniform(g):float()))
   end)
end)
