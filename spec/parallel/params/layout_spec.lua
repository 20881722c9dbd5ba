-- dpt.parallel.params.layout: positions of the replicas' parameters and gradients in memory.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local layout = require 'dpt.parallel.params.layout'

describe('dpt.parallel.params.layout', function()
   before_each(function() cutorch.setDevice(1) end)

   local function make()
      return nn.Sequential():add(nn.Linear(3, 4)):add(nn.Linear(4, 2)):cuda()
   end

   it('lists parameters and gradients, with false for a gradient that is missing', function()
      local net = make()
      local list = layout.describe(net)
      assert.equal(4, list.n)
      assert.is_true(rawequal(net:get(1).weight, list[1]))
      assert.is_true(rawequal(net:get(1).gradWeight, list[5]))
      local layer = net:get(1)
      layer.gradWeight = nil
      assert.same({layer.weight, layer.bias, false, layer.gradBias, n = 2}, layout.describe(layer))
      assert.same({n = 0}, layout.describe(nn.Tanh()))
   end)

   it('detects tensors that have moved or were replaced', function()
      local net = make()
      local list = layout.recordPlaces(layout.describe(net))
      assert.is_false(layout.hasMoved(list) or layout.isOther(list, net))
      net:get(1).weight:set(net:get(1).weight:clone())
      assert.is_true(layout.hasMoved(list))
      assert.is_false(layout.isOther(list, net))
      net:get(2).bias = net:get(2).bias:clone()
      assert.is_true(layout.isOther(list, net))
      net:remove(2)
      assert.is_true(layout.isOther(list, net))
   end)

   it('raises for a tensor on another device, with the call that moves it', function()
      local net = make()
      net:get(2):float()
      assert.error_matches(function() layout.checkDevice(layout.describe(net), 1) end,
         'parameter 3 of the network is a torch.FloatTensor in host memory, wanted it on device 1')
      assert.error_matches(function() layout.checkDevice(layout.describe(net), 0) end,
         'parameter 1 of the network is a torch.CudaTensor on device 1, wanted it in host memory,'
            .. ' as those before: network:float()', 1, true)
      net:get(2):cuda()
      net:get(1).gradBias = torch.FloatTensor(4)
      assert.error_matches(function() layout.plan(layout.describe(net)) end,
         'parameter 2 is a torch.CudaTensor and its gradient a torch.FloatTensor')
   end)

   it('plans one group of parameters and one of gradients for each type', function()
      local net = make()
      net:add(nn.Linear(2, 2):type 'torch.CudaDoubleTensor')
      local plan, pieces = layout.plan(layout.describe(net))
      local got = {}
      for h, group in ipairs(plan) do got[h] = group.type .. ' ' .. group.total end
      assert.same({'torch.CudaTensor 26', 'torch.CudaTensor 26', 'torch.CudaDoubleTensor 6',
         'torch.CudaDoubleTensor 6'}, got)
      assert.equal(4, #pieces[1]) -- not flat: one piece per tensor
      layout.flatten(layout.describe(net), 'spec')
      plan, pieces = layout.plan(layout.describe(net))
      assert.equal(26, plan[1].total)
      assert.equal(1, #pieces[1])
   end)

   it('leaves tensors in a flat one shared with another network, or flattens all', function()
      local one = make()
      local two = nn.Sequential():add(one:get(2)):add(nn.Linear(2, 3):cuda())
      one:getParameters()
      local function storages(list)
         local seen, count = {}, 0
         for i = 1, list.n do
            local key = torch.pointer(list[i]:storage())
            count = count + (seen[key] and 0 or 1)
            seen[key] = true
         end
         return count
      end
      local list = layout.describe(two)
      local trunk = list[1]:storage()
      layout.flatten(list, 'spec')
      assert.is_true(list[1]:storage() == trunk)
      assert.equal(2, storages(list))
      local noted = layout.recordPlaces(list)
      layout.flatten(list, 'spec') -- tensors in two storages stay there
      assert.is_false(layout.hasMoved(noted))
      layout.flatten(list, 'spec', true)
      assert.equal(1, storages(list))
      assert.equal(2, storages(layout.describe(one)))
   end)

   it('allocates nothing if a replica is already flat', function()
      local net = make()
      net:getParameters()
      local list = layout.describe(net)
      local plan = layout.plan(list)
      local copy = net:clone()
      local before = copy:parameters()[1]:storage()
      local flat = layout.flattenReplica(copy, 2, plan)
      assert.equal(torch.pointer(before), torch.pointer(flat[1]:storage()))
      copy:get(1).weight:set(copy:get(1).weight:clone())
      flat = layout.flattenReplica(copy, 2, plan)
      assert.is_false(torch.pointer(before) == torch.pointer(flat[1]:storage()))
      assert.is_false(layout.flats(make(), 2, plan)[1])
   end)
end)
