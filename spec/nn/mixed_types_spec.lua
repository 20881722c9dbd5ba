-- Modules that copy their inputs accept inputs of other types, as in Torch7.

-- Returns the type, sizes and elements of a tensor, nested like the tables.
local function told(value)
   if type(value) == 'table' then
      local list = {}
      for i, entry in ipairs(value) do list[i] = told(entry) end
      return list
   end
   return {value:type():match '^torch%.(%w+)Tensor$', value:size():totable(), value:totable()}
end

-- Returns a tensor of a type, with elements 1, 2, ... plus `more`.
local function make(kind, sizes, more)
   local n = 1
   for _, size in ipairs(sizes) do n = n * size end
   return torch.range(1, n):add(more or 0):resize(torch.LongStorage(sizes)):type('torch.' .. kind
      .. 'Tensor')
end

-- Returns a module that converts its input to another type.
local function as(kind)
   return nn.Copy('torch.DoubleTensor', 'torch.' .. kind .. 'Tensor', true, true)
end

describe('A module that gets tensors of mixed types', function()
   -- the module's type, and three others
   local sets = {{'Double', 'Long', 'Float', 'Byte'}, {'Float', 'Double', 'Float', 'Int'}}
   if cutorch then
      table.insert(sets, {'Cuda', 'CudaLong', 'Cuda', 'Double'})
      table.insert(sets, {'CudaDouble', 'Cuda', 'CudaLong', 'Float'})
   end

   for _, set in ipairs(sets) do
      local own, a, b, c = unpack(set)
      local function typed(module) return module:type('torch.' .. own .. 'Tensor') end

      describe('(' .. table.concat(set, ', ') .. ')', function()
         it('joins them in its own type', function()
            local wanted = {own, {5, 2}, {{1, 2}, {3, 4}, {2, 3}, {1, 2}, {3, 4}}}
            local x = {make(a, {2, 2}), make(b, {1, 2}, 1), make(c, {2, 2})}
            local m = typed(nn.JoinTable(1))
            assert.same(wanted, told(m:forward(x)))
            assert.same({{a, {2, 2}, {{1, 2}, {3, 4}}}, {b, {1, 2}, {{5, 6}}},
               {c, {2, 2}, {{7, 8}, {9, 10}}}}, told(m:backward(x, make(own, {5, 2}))))
            m:forward{x[2], x[1]} -- gradients follow when the types of the inputs change
            assert.same({{b, {1, 2}, {{1, 2}}}, {a, {2, 2}, {{3, 4}, {5, 6}}}},
               told(m:backward({x[2], x[1]}, make(own, {3, 2}))))

            x = make('Double', {2, 2})
            for _, concat in ipairs{nn.Concat(1), nn.DepthConcat(1)} do
               typed(concat:add(as(a)):add(as(b)):add(as(c)))
               assert.same({own, {6, 2}, {{1, 2}, {3, 4}, {1, 2}, {3, 4}, {1, 2}, {3, 4}}},
                  told(concat:forward(x)))
            end
            local parallel = typed(nn.Parallel(1, 1):add(as(a)):add(as(b)))
            assert.same({own, {4}, {1, 2, 3, 4}}, told(parallel:forward(x)))
            x = make(a, {2})
            assert.same({own, {4}, {1, 2, 1, 2}},
               told(typed(nn.Concat(1):add(nn.Identity()):add(nn.Identity())):forward(x)))
         end)

         it('adds in the type of the tensor that is added', function()
            local m = typed(nn.CAddTensorTable())
            local x = {make(a, {2, 2}), {make(b, {2, 2}, 1), make(c, {4}, 2)}}
            assert.same({{a, {2, 2}, {{3, 5}, {7, 9}}}, {a, {2, 2}, {{4, 6}, {8, 10}}}},
               told(m:forward(x)))
            local gradInput = m:backward(x, {make(b, {2, 2}), make(c, {4})})
            assert.same({{a, {2, 2}, {{2, 4}, {6, 8}}}, {{a, {2, 2}, {{1, 2}, {3, 4}}},
               {a, {2, 2}, {{1, 2}, {3, 4}}}}}, told(gradInput))
         end)

         it('sums the gradients of tables in their type', function()
            for _, m in ipairs{nn.ConcatTable(), nn.Concat(1)} do
               typed(m:add(nn.SelectTable(1)):add(nn.SelectTable(1)))
               local x, g = {make(a, {2}), make(b, {2})}, {make(a, {2}), make(a, {2}, 1)}
               m:forward(x)
               if torch.isTypeOf(m, 'nn.Concat') then g = torch.cat(g[1], g[2]) end
               assert.same({{a, {2}, {3, 5}}, {b, {2}, {0, 0}}}, told(m:backward(x, g)))
            end
         end)

         it("returns slices and padded tensors in Torch7's type", function()
            local x = make(a, {3})
            local m = typed(nn.Narrow(1, 2, 2))
            assert.same({a, {2}, {2, 3}}, told(m:forward(x)))
            assert.same({a, {3}, {0, 1, 2}}, told(m:backward(x, make(own, {2}))))
            m = typed(nn.Padding(1, 2))
            assert.same({own, {5}, {1, 2, 3, 0, 0}}, told(m:forward(x)))
            m = typed(nn.SplitTable(1))
            x = make(own, {2, 2})
            m:forward(x)
            assert.same({own, {2, 2}, {{1, 2}, {2, 3}}},
               told(m:backward(x, {make(a, {2}), make(b, {2}, 1)})))

            m = typed(nn.SpatialZeroPadding(1, 0, 0, 0))
            x = make(a, {1, 1, 2})
            assert.same({own, {1, 1, 3}, {{{0, 1, 2}}}}, told(m:forward(x)))
            assert.same({own, {1, 1, 2}, {{{2, 3}}}}, told(m:backward(x, make(b, {1, 1, 3}))))
            m = typed(nn.PixelShuffle(2))
            x = make(a, {4, 1, 1})
            assert.same({a, {1, 2, 2}, {{{1, 2}, {3, 4}}}}, told(m:forward(x)))
            assert.same({a, {4, 1, 1}, {{{1}}, {{2}}, {{3}}, {{4}}}},
               told(m:backward(x, make(own, {1, 2, 2}))))
         end)

         it("has gradients of the inputs' types, or names the type that does not fit", function()
            local x = {make(own, {2}), make(own, {2})}
            for _, name in ipairs{'CAddTable', 'CSubTable', 'CMulTable', 'CDivTable', 'CMaxTable',
               'CMinTable'} do
               local m = typed(nn[name]())
               m:forward(x)
               local gradInput = m:backward(x, make(own, {2}))
               assert.same({own, own}, {told(gradInput)[1][1], told(gradInput)[2][1]}, name)
               local other = own == 'Double' and 'Float' or 'Double'
               assert.error_matches(function() m:forward{x[1], make(other, {2})} end,
                  "argument '%w+' is a torch%.%w+Tensor, wanted a torch%.%w+Tensor", name)
            end
            if own == 'Double' or own == 'Float' then
               local ratio = nn.DistanceRatioCriterion():type('torch.DoubleTensor')
               ratio:forward(x)
               assert.same({{own, {2}, {0.25, 0.25}}, {own, {2}, {-0.25, -0.25}}},
                  told(ratio:backward(x)))
            end
         end)
      end)
   end

   if cutorch and cutorch.getDeviceCount() > 1 then
      it('returns the same in nn.DataParallelTable #devices2', function()
         local function network()
            return nn.Sequential():add(nn.ParallelTable():add(nn.Identity()):add(nn.Identity()))
               :add(nn.JoinTable(2)):add(nn.MulConstant(2)):cuda()
         end
         local x = {make('Cuda', {5, 2}), make('CudaLong', {5, 3})}
         local g = make('Cuda', {5, 5})
         local plain, split = network(), nn.DataParallelTable(1):add(network(), {1, 2})
         assert.same(told(plain:forward(x)), told(split:forward(x)))
         assert.same(told(plain:backward(x, g)), told(split:backward(x, g)))
         assert.same({'Cuda', 'CudaLong'}, {told(split.gradInput)[1][1],
            told(split.gradInput)[2][1]})
      end)
   end
end)
