--- torch.einsum.
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch = dpt.torch

-- Returns a tensor of the numbers 1, 2, 3 ...
local function counted(typename, size)
   local x = torch[typename .. 'Tensor'](unpack(size))
   return x:copy(torch.range(1, x:nElement()))
end

-- Returns the same elements with other strides.
local function strided(x)
   local size = x:size():totable()
   for d = 1, #size do size[d] = 2 * size[d] end
   local wide = x.new():resize(unpack(size)):zero()
   for d = 1, #size do wide = wide:narrow(d, 2, x:size(d)) end
   return wide:copy(x)
end

describe('torch.einsum', function()
   -- recorded with PyTorch: equation, sizes of tensors of 1, 2, 3 ..., size and elements
   local recorded = {
      {'ij,jk->ik', {{2, 3}, {3, 2}}, {2, 2}, {22, 28, 49, 64}},
      {'ij,jk', {{2, 3}, {3, 2}}, {2, 2}, {22, 28, 49, 64}},
      {'bij,bjk->bik', {{2, 1, 2}, {2, 2, 2}}, {2, 1, 2}, {7, 10, 43, 50}},
      {'bi,oij,bj->bo', {{2, 2}, {2, 2, 3}, {2, 3}}, {2, 2}, {78, 186, 404, 1034}},
      {'ii', {{3, 3}}, {}, {15}},
      {'ii->i', {{3, 3}}, {3}, {1, 5, 9}},
      {'iij->ji', {{2, 2, 3}}, {3, 2}, {1, 10, 2, 11, 3, 12}},
      {'ba', {{2, 3}}, {3, 2}, {1, 4, 2, 5, 3, 6}},
      {'bA', {{2, 3}}, {3, 2}, {1, 4, 2, 5, 3, 6}},
      {'i,j->ij', {{2}, {3}}, {2, 3}, {1, 2, 3, 2, 4, 6}},
      {'i,i', {{3}, {3}}, {}, {14}},
      {'...ij,jk...->...ik', {{2, 1, 2}, {2, 3, 2}}, {2, 1, 3}, {15, 21, 27, 38, 52, 66}},
      {'...a->...', {{2, 3}}, {2}, {6, 15}},
      {'a...b->...', {{2, 2, 2}}, {2}, {14, 22}},
      {'i...,i...', {{2, 1, 2}, {2, 2, 1}}, {2, 2}, {10, 14, 14, 20}},
      {'ij,kj->', {{2, 2}, {2, 2}}, {}, {52}},
      {'ij,jk->ik', {{2, 1}, {3, 2}}, {2, 2}, {9, 12, 18, 24}},
      {' i j , j -> i ', {{2, 2}, {2}}, {2}, {5, 11}},
      {'ab,cd,bc->da', {{2, 2}, {2, 2}, {2, 2}}, {2, 2}, {37, 81, 54, 118}},
   }

   local function agrees(typename, change)
      for _, case in ipairs(recorded) do
         local equation, sizes, size, wanted = unpack(case)
         local tensors = {}
         for i, each in ipairs(sizes) do tensors[i] = change(counted(typename, each)) end
         local y = torch.einsum(equation, unpack(tensors))
         if #size == 0 then
            assert.equal(wanted[1], y, equation)
         else
            assert.same(size, y:size():totable(), equation)
            assert.same(wanted, y:double():contiguous():view(-1):totable(), equation)
            assert.equal(tensors[1]:type(), y:type())
         end
      end
   end

   it('returns the values of PyTorch, on the host and on devices', function()
      for _, name in ipairs{'Double', 'Float', 'Long', 'Int', 'CudaDouble', 'Cuda', 'CudaLong'} do
         agrees(name, function(x) return x end)
         agrees(name, strided)
      end
   end)

   it('computes with all element types', function()
      for _, name in ipairs(elements.everywhere) do
         local x = counted(name, {2, 2})
         assert.same({7, 10, 15, 22}, torch.einsum('ij,jk->ik', x, x):double():view(-1):totable())
         assert.same({8, 20, 40, 68}, torch.einsum('ij,kl,ij->ij', x, x:ne(0):typeAs(x), x)
            :add(4):double():view(-1):totable())
      end
   end)

   it('sums products as loops do, for random equations', function()
      torch.manualSeed(4)
      local size = {a = 2, b = 3, c = 1, d = 2, e = 3}
      local letters = {'a', 'b', 'c', 'd', 'e'}
      local function pick(n)
         local order, list = torch.randperm(#letters), {}
         for i = 1, n do list[i] = letters[order[i]] end
         return list
      end
      for _ = 1, 60 do
         local tensors, lists, used = {}, {}, {}
         for i = 1, torch.random(1, 3) do
            local labels, sizes = pick(torch.random(1, 3)), {}
            for d, label in ipairs(labels) do sizes[d], used[label] = size[label], true end
            tensors[i], lists[i] = torch.rand(unpack(sizes)), labels
         end
         local output = {}
         for _, label in ipairs(pick(#letters)) do
            if used[label] and torch.random(1, 2) == 1 then output[#output + 1] = label end
         end
         local sums, at = {}, {}
         local function loop(l)
            local label = letters[l]
            if label then
               for i = 1, used[label] and size[label] or 1 do
                  at[label] = i
                  loop(l + 1)
               end
               return
            end
            local value, place = 1, {}
            for i, labels in ipairs(lists) do
               local element = tensors[i]
               for _, each in ipairs(labels) do element = element[at[each]] end
               value = value * element
            end
            for d, each in ipairs(output) do place[d] = at[each] end
            place = table.concat(place, ',')
            sums[place] = (sums[place] or 0) + value
         end
         loop(1)
         local equation = {}
         for i, labels in ipairs(lists) do equation[i] = table.concat(labels) end
         equation = table.concat(equation, ',') .. '->' .. table.concat(output)
         local y = torch.einsum(equation, tensors)
         for place, wanted in pairs(sums) do
            local element = y
            for i in place:gmatch '%d+' do element = element[tonumber(i)] end
            assert.is_true(math.abs(element - wanted) < 1e-13, equation)
         end
      end
   end)

   it('returns views of one tensor, and contiguous tensors otherwise', function()
      local x = torch.rand(3, 3)
      torch.einsum('ii->i', x):fill(7)
      torch.einsum('ij->ji', x)[1]:fill(5)
      assert.same({5, 7, 7}, {x[1][1], x[2][2], x[3][3]})
      assert.equal(5, x[3][1])
      local batch = torch.rand(2, 3, 4)
      assert.is_true(torch.einsum('bij,bkj->kib', batch, batch):isContiguous())
      assert.is_true(torch.einsum('bij->ji', batch):isContiguous())
   end)

   it('accepts sizes of 0', function()
      assert.equal(0, torch.einsum('i,i', torch.Tensor(), torch.Tensor()))
      local y = torch.einsum('ij,jk->ik', torch.Tensor(2, 0), torch.Tensor(0, 3))
      assert.same({{0, 0, 0}, {0, 0, 0}}, y:totable())
      assert.same({3, 0}, torch.einsum('ij->ji', torch.Tensor(0, 3)):size():totable())
   end)

   it('rejects equations that are not valid or do not fit', function()
      local x, v = torch.rand(2, 3), torch.rand(2)
      for _, case in ipairs{
         {"it is for 2 tensors, got 1", 'ij,jk->ik', x},
         {"got '1', wanted letters, '...', ',' and '->'", 'i1', x},
         {"got '-', wanted letters", 'i->j->k', x},
         {"got ',', wanted letters", 'ij->i,j', x},
         {"'...i...' has more than one '...'", '...i...', x},
         {'list 1 has 3 dimensions, tensor 1 is a torch.DoubleTensor of size 2x3', 'ijk', x},
         {'list 2 has 1 dimensions, tensor 2 is', 'ij,j', x, x},
         {"'i' has sizes 2 and 3 in tensor 1", 'ii', x},
         {"'j' has size 2 in tensor 2, and 3 in an earlier one", 'ij,jk', x, x},
         {"a dimension of '...' has size 2 in tensor 2, and 3 in an earlier one", 'i...,...', x, v},
         {"the output has 'k' and no tensor has it", 'ij->ik', x},
         {"the output has 'i' twice", 'ij->ii', x},
      } do
         local ok, why = pcall(torch.einsum, unpack(case, 2))
         assert.is_false(ok)
         assert.matches("einsum: argument 'equation' is '" .. case[2] .. "': " .. case[1], why, 1,
            true)
      end
      assert.error_matches(function() torch.einsum('i,i', v, v:float()) end,
         '^einsum: tensor 2 is a torch.FloatTensor of size 2, wanted a torch.DoubleTensor as')
      assert.error_matches(function() torch.einsum('i,i', v, 3) end,
         "^einsum: argument '3' is of type number, wanted a tensor")
      assert.error_matches(function() torch.einsum(v, v) end, '^einsum: wanted equation tensors')
   end)
end)
