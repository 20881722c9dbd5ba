local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local networks, randomInput = same.networks, same.randomInput

same.dispatched('nn.DataParallelTable', function()
   local most = same.most(8)
   same.seeded(11)

   describe('A20: nn.DataParallelTable.add', function()
      it('accepts a device number or a list of them', function()
         local net = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1)
         for i = 1, most do many:add(net:clone(), i) end
         assert.equal(1, #many.modules)
         assert.same(same.range(most), many.gpuAssignments)
         same.compare(net, many, randomInput({5}, 2 * most), 1e-5)
      end)

      it('raises one error message for wrong arguments', function()
         local net = nn.Tanh():cuda()
         for message, arguments in pairs{
            ['device number or a table of them as argument 2, got nil'] = {net},
            ['nn.Module as argument 1, got number'] = {7, {1}},
            ['got device 99 as entry 2 of argument 2'] = {net, {1, 99}},
         } do
            assert.error_matches(function() nn.DataParallelTable(1):add(unpack(arguments)) end,
               message)
         end
         assert.error_matches(function()
            nn.DataParallelTable(1):add(net, {1}):add(net, {1})
         end, 'called once')
      end)
   end)

   it('nn.DataParallelTable checks fields, functions and factors', function()
      local many = nn.DataParallelTable(1):add(nn.Linear(5, 3):cuda(), same.range(most))
      local x, g = randomInput({5}, 2 * most), randomInput({3}, 2 * most)
      for name, value in pairs{weights = {1, 'a'}, outputDevice = 99, gather = 3, buffers = 'x'} do
         local before = many[name]
         many[name] = value
         assert.error_matches(function() many:forward(x) end, 'option ' .. name .. ' wants ')
         many[name] = before
      end
      many:forward(x)
      for message, f in pairs{
         ["Linear: argument 'scale', wanted a number, got string"] =
            function() many:backward(x, g, 'a') end,
         ["updateParameters: argument 'learningRate', wanted a number, got nil"] =
            function() many:updateParameters() end,
         ['noSync wants a function as argument 1, got nil'] = function() many:noSync() end,
         ['insert would change what is around the network: do it to get%(1%)'] =
            function() many:insert(nn.Tanh(), 1) end,
         ['remove would change what is around the network'] = function() many:remove(1) end,
      } do
         assert.error_matches(f, message)
      end
   end)

   describe('nn.DataParallelTable says what to do instead', function()
      local many
      before_each(function()
         many = nn.DataParallelTable(1):add(nn.Linear(5, 2):cuda(), same.range(most))
      end)

      it('for share and accUpdateGradParameters', function()
         assert.error_matches(function() many:share(nn.Tanh(), 'weight') end, 'share get%(1%)')
         assert.error_matches(function() many:accUpdateGradParameters() end,
            'call backward and then updateParameters')
      end)

      it('for a missing dimension or module, or a backward before forward', function()
         assert.error_matches(function() nn.DataParallelTable() end, 'dimension to split along')
         assert.error_matches(function() nn.DataParallelTable(1):forward(torch.CudaTensor(2)) end,
            'call add')
         assert.error_matches(function() many:backward(nil, torch.CudaTensor(2)) end,
            'backward needs a forward before it')
         assert.error_matches(function() nn.DataParallelTable(1, false, true) end,
            'flat parameters')
      end)

      it('for a network that is not on the first device', function()
         local host = nn.DataParallelTable(1):add(nn.Linear(5, 2), {1})
         assert.error_matches(function() host:forward(torch.CudaTensor(1, 5)) end,
            'in host memory, wanted it on device 1')
         if most < 2 then return end
         local other = nn.DataParallelTable(1):add(nn.Linear(5, 2):cuda(), {2, 1})
         assert.error_matches(function() other:forward(torch.CudaTensor(1, 5)) end,
            'torch.CudaTensor on device 1, wanted it on device 2.*moveTo%(network, 2%)')
         assert.equal(1, cutorch.getDevice())
         local one = other:get(1):clone()
         nn.utils.moveTo(other:get(1), 2) -- as the error suggests
         local input = randomInput({5}, 3)
         same.close(one:forward(input), other:forward(input), 1e-6)
         assert.equal(2, other.output:getDevice())
      end)
   end)

   it('An error of queued work is raised by the next wait', function()
      local many = nn.DataParallelTable(1):add(nn.LookupTable(10, 3):cuda(), same.range(most))
      local good = torch.CudaLongTensor(2 * most, 2):fill(4)
      local bad = good:clone()
      bad[2 * most][2] = 11
      assert.error_matches(function()
         local output = many:forward(bad)
         return output:sum()
      end, '11')
      cutorch.synchronizeAll()
      local output = many:forward(good)
      assert.equal(2 * most, output:size(1))
      assert.equal(output[1][1][1], output[2 * most][2][3 - 2])
   end)
end)
