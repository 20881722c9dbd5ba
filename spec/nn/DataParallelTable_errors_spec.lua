local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local networks, Probe, randomInput = same.networks, same.Probe, same.randomInput

same.dispatched('nn.DataParallelTable', function()
   local most = same.most(8)
   same.seeded(11)

   describe('A20: nn.DataParallelTable.add', function()
      it('takes the number of a device or a list of them', function()
         local net = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1)
         for i = 1, most do many:add(net:clone(), i) end
         assert.equal(1, #many.modules)
         assert.same(same.range(most), many.gpuAssignments)
         same.compare(net, many, randomInput({5}, 2 * most), 1e-5)
      end)

      it('raises one error message for wrong arguments', function()
         local net = nn.Tanh():cuda()
         local function adds(...)
            local arguments = {...}
            return function() nn.DataParallelTable(1):add(unpack(arguments)) end
         end
         assert.error_matches(adds(net), 'device number or a table of them as argument 2, got nil')
         assert.error_matches(adds(net, {}), 'argument 2')
         assert.error_matches(adds(net, 'one'), 'argument 2, got string')
         assert.error_matches(adds(7, {1}), 'nn.Module as argument 1, got number')
         assert.error_matches(adds(net, {1, 99}), 'got device 99 as entry 2 of argument 2')
         assert.error_matches(adds(net, {1, 1.5}), 'got device 1.5 as entry 2')
         assert.error_matches(adds(net, {1, 1}), 'got device 1 twice')
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

      it('for a missing dimension or module, or a backward too early', function()
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
         nn.utils.moveTo(other:get(1), 2) -- what the error says
         local input = randomInput({5}, 3)
         same.close(one:forward(input), other:forward(input), 1e-6)
         assert.equal(2, other.output:getDevice())
      end)

      it('for an input that cannot be split', function()
         local wide = nn.DataParallelTable(2):add(nn.Identity():cuda(), {1})
         local given = {torch.CudaTensor(3, 2), torch.CudaTensor(3)}
         assert.error_matches(function() wide:forward(given) end,
            'input%[2%] is a torch.CudaTensor of 1 dimension')
      end)

      it('for outputs of different forms', function()
         if most < 2 then return pending('needs 2 devices') end
         local odd = nn.DataParallelTable(1):add(Probe(function(input)
            return {a = {input, input:getDevice() == 2 and 'two' or input}}
         end), {1, 2})
         assert.error_matches(function() odd:forward(torch.CudaTensor(2, 2):zero()) end,
            'result%[a%]%[2%]: replica 1 returned a torch.CudaTensor, replica 2 a string')
      end)
   end)

   describe('An error in a replica', function()
      it('names replica, device and module, and the table works on', function()
         if most < 3 then return pending('needs 3 devices') end
         local function fails(value, self)
            if self.armed == value:getDevice() then error('the fuse is blown') end
            self.keep = value
            return value
         end
         local net = nn.Sequential():add(nn.Linear(5, 5)):add(nn.Sequential():add(nn.Tanh())
            :add(Probe(fails, function(_, gradOutput, self) return fails(gradOutput, self) end)))
            :cuda()
         local many = nn.DataParallelTable(1, true):add(net, {1, 2, 3})
         local function arm(armed)
            many.impl:exec(function(replica) replica:get(2):get(2).armed = armed end)
         end
         local one = nn.Sequential():add(net:get(1):clone()):add(nn.Tanh():cuda())
         local input = randomInput({5}, 7)
         for round = 1, 3 do
            arm(round)
            local where = ('In replica %d of 3 on device %d of nn.DataParallelTable:\n'
               .. 'In 2 module of nn.Sequential:\nIn 2 module of nn.Sequential:\n')
               :format(round, round)
            local ok, message = pcall(many.forward, many, input)
            assert.is_false(ok)
            assert.is_truthy(message:find(where, 1, true))
            assert.is_truthy(message:find('the fuse is blown\nstack traceback:', 1, true))
            assert.equal(1, cutorch.getDevice())
            arm(false)
            many:forward(input)
            arm(round)
            ok, message = pcall(many.backward, many, input, input)
            assert.is_false(ok)
            assert.is_truthy(message:find(where, 1, true))
            arm(false)
            same.compare(one, many, input, 1e-5)
         end
      end)

      it('that queued work finds is raised by the next wait', function()
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
end)
