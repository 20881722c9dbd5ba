local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local networks, randomInput = same.networks, same.randomInput

same.dispatched('Of nn.DataParallelTable', function()
   local most = same.most(8)
   same.seeded(11)

   local function table(net) return nn.DataParallelTable(1, true):add(net, same.range(most)) end

   it('applyToReplicas calls a function for every replica on its device', function()
      local many = table(networks.convolution.make():cuda())
      local factor = 3
      local results = many:applyToReplicas(function(module, i)
         module.mark = factor * i
         return {module.mark, require('cutorch').getDevice()}, 'one result'
      end)
      assert.equal(most, #results)
      for i, result in ipairs(results) do assert.same({3 * i, i}, result) end
      for i, mark in ipairs(many:applyToReplicas(function(module) return module.mark end)) do
         assert.equal(3 * i, mark)
      end
      assert.equal(1, cutorch.getDevice())
      assert.matches(('In replica %d of %d.*hoppla'):format(most, most),
         same.raised(many.applyToReplicas, many, function(_, i)
            if i == most then error 'hoppla' end
         end))
      for _, f in ipairs{{}, 'updateOutput', false} do
         assert.error_matches(function() many:applyToReplicas(f) end,
            'applyToReplicas wants a function as argument 1, got ' .. type(f))
      end
      assert.error_matches(function()
         nn.DataParallelTable(1):applyToReplicas(function() end)
      end, 'nothing was added')
   end)

   it('clone returns another network of the same values', function()
      local many = table(networks.convolution.make():cuda())
      local input = randomInput({2, 6, 6}, most + 1)
      local output = many:forward(input):clone()
      local copy = many:clone()
      same.bits(output, copy:forward(input))
      copy:getParameters():zero()
      same.bits(output, many:forward(input))
      assert.equal(0, copy:forward(input):ne(0):sum())
      local outer = nn.Sequential():add(many):clone()
      same.bits(output, outer:forward(input))
      assert.error_matches(function() many:clone('weight') end, 'clone without arguments')
   end)

   it('listModules and get return replica 1', function()
      local net = networks.linear.make():cuda()
      local many = table(net)
      many:forward(randomInput({5}, most))
      local list = many:listModules()
      assert.equal(many, list[1])
      assert.equal(net, list[2])
      assert.equal(net, many:get(1))
      assert.equal(net, many.modules[1])
      assert.equal(1, #many.modules)
      local replicas = many.impl.modules
      many:listModules()
      nn.Sequential():add(many):listModules()
      assert.equal(replicas, many.impl.modules)
   end)

   it('training and evaluate reach every replica', function()
      local many = table(nn.Sequential():add(nn.Dropout(0.5)):cuda())
      local input = torch.CudaTensor(2 * most, 50):fill(1)
      many:evaluate()
      same.bits(input, many:forward(input))
      many:training()
      local output = many:forward(input)
      for row = 1, 2 * most do assert.is_true(output[row]:eq(0):sum() > 0) end
   end)

   it('a step allocates no memory from the system', function()
      local many = table(networks.convolution.make():cuda())
      local input = randomInput({2, 6, 6}, 3 * most - 1)
      local function taken()
         local sum = 0
         for i = 1, most do sum = sum + cutorch.memoryStats(i).segments end
         return sum
      end
      local function step()
         many:zeroGradParameters()
         same.pass(many, input)
         many:updateParameters(0.01)
      end
      for _ = 1, 3 do step() end
      cutorch.synchronizeAll()
      local before = taken()
      for _ = 1, 30 do step() end
      assert.equal(before, taken())
   end)

   it('tostring names the devices and the network', function()
      local many = table(nn.Tanh():cuda())
      assert.equal('DataParallelTable: ' .. most .. ' x nn.Tanh', tostring(many))
   end)

   it('type converts, and raises for types that cannot be on devices', function()
      local net = networks.linear.make()
      local many = nn.DataParallelTable(1, true):add(net, same.range(most))
      assert.equal('torch.CudaTensor', many:type())
      assert.equal(many, many:type('torch.CudaDoubleTensor'))
      local input = randomInput({5}, 3, 'torch.CudaDoubleTensor')
      same.compare(many:get(1):clone(), many, input, 1e-12)
      many:type('torch.CudaTensor')
      same.compare(many:get(1):clone(), many, randomInput({5}, 3), 1e-5)
      for _, name in ipairs{'Float', 'Double', 'CudaLong', 'CudaByte'} do
         name = 'torch.' .. name .. 'Tensor'
         assert.error_matches(function() many:type(name) end,
            'wants a floating type of devices, .* got ' .. name)
      end
      same.compare(many:get(1):clone(), many, randomInput({5}, 3), 1e-5)
   end)

   it("A21: require 'cunn' loads nn.DataParallelTable", function()
      assert.equal(nn.DataParallelTable, require('cunn').DataParallelTable)
   end)
end)
