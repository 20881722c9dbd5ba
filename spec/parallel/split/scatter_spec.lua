-- dpt.parallel.split.scatter: splits trees of tensors into parts for the replicas.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local module = require 'dpt.parallel.split.scatter'
local scatter = module.into
local same = require 'spec.support.parallel'

describe('dpt.parallel.split.scatter', function()
   local n = same.most(3)
   local plan, state, parts

   before_each(function()
      cutorch.setDevice(1)
      plan = {devices = same.range(n), dimension = 1, type = 'torch.CudaTensor'}
      state, parts = {}, {}
   end)

   local function joined(field)
      local list = {}
      for i = 1, n do
         local part = field and parts[i][field] or parts[i]
         if part:nElement() > 0 then
            assert.equal(i, part:getDevice())
            list[#list + 1] = part:double()
         end
      end
      return torch.cat(list, 1)
   end

   it('splits host and device tensors, keeping integers and element types', function()
      for from, to in pairs{['torch.DoubleTensor'] = 'torch.CudaTensor',
         ['torch.CudaDoubleTensor'] = 'torch.CudaDoubleTensor',
         ['torch.LongTensor'] = 'torch.CudaLongTensor'} do
         local x = torch.range(1, 14):resize(7, 2):type(from)
         local used, before = scatter(state, parts, x, plan, 'input')
         assert.equal(n, used)
         assert.equal(7, before[n + 1])
         assert.equal(to, parts[1]:type())
         same.bits(x:double(), joined())
      end
   end)

   it('reuses the memory of the parts in the next call', function()
      scatter(state, parts, torch.ones(9, 2), plan, 'input')
      local first = parts[1]:storage()
      scatter(state, parts, torch.ones(8, 2), plan, 'input')
      assert.is_true(parts[1]:storage() == first)
   end)

   it('gives the last replicas no rows if there are few', function()
      local used, before = scatter(state, parts, {torch.ones(1, 2), 'word'}, plan, 'input')
      assert.equal(1, used)
      assert.equal(1, before[2])
      for i = 1, n do assert.equal('word', parts[i][2]) end
      if n > 1 then assert.equal(0, parts[n][1]:nElement()) end
   end)

   it('applies a split spec to each entry', function()
      plan.spec = {x = 2, all = 'replicate', rows = 'list'}
      local input = {x = torch.range(1, 12):resize(2, 6), all = torch.ones(3),
         rows = torch.LongTensor{1, 2, 3, 4, 5, 6}}
      scatter(state, parts, input, plan, 'input')
      local count = 0
      for i = 1, n do
         assert.equal(3, parts[i].all:sum())
         assert.equal('table', type(parts[i].rows))
         count = count + parts[i].x:size(2)
         assert.equal(parts[i].x:size(2), #parts[i].rows)
      end
      assert.equal(6, count)
   end)

   it('splits a gradient like the outputs', function()
      if n < 2 then return pending('needs 2 devices') end
      plan.like = {torch.CudaTensor(1, 2), torch.CudaTensor(4, 2)}
      scatter(state, parts, torch.ones(5, 2), plan, 'gradOutput')
      assert.same({1, 4}, {parts[1]:size(1), parts[2]:size(1)})
      assert.error_matches(function()
         scatter(state, parts, torch.ones(6, 2), plan, 'gradOutput')
      end, 'gradOutput has 6 rows along dimension 1, the output has 5')
   end)

   it('detects whether parts belong to a value', function()
      local a, b = torch.rand(6, 2), torch.rand(6, 2)
      for _, case in ipairs{
         {a, {a, a:narrow(1, 1, 6)}, {b, a:t():t():narrow(1, 1, 5), a:float(), {a}, 3}},
         {{a, {b}, 3}, {{a, {b:view(6, 2)}, 3}},
            {{b, {b}, 3}, {a, {a}, 3}, {a, {b}, 4}, {a, {b, b}, 3}, {a}, a}},
         {3, {3}, {4, a, {a}}},
      } do
         scatter(state, parts, case[1], plan, 'input')
         for _, value in ipairs(case[2]) do assert.is_true(module.wasOf(state, parts, value)) end
         for _, value in ipairs(case[3]) do assert.is_false(module.wasOf(state, parts, value)) end
      end
      plan.spec = 'replicate'
      scatter(state, parts, a, plan, 'input')
      assert.is_true(module.wasOf(state, parts, a))
      assert.is_false(module.wasOf(state, parts, b))
      scatter(state, parts, torch.rand(6, 2), plan, 'input')
      collectgarbage()
      collectgarbage()
      -- another tensor, possibly at the same address
      assert.is_false(module.wasOf(state, parts, torch.rand(6, 2)))
   end)

   it('rejects a tensor that lacks the dimension, with its path', function()
      plan.dimension = 2
      assert.error_matches(function() scatter(state, parts, {{torch.ones(3)}}, plan, 'input') end,
         'input%[1%]%[1%] is a torch.DoubleTensor of 1 dimension.* along dimension 2')
   end)
end)
