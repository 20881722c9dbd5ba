local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local networks, randomInput = same.networks, same.randomInput

same.dispatched('nn.DataParallelTable: Parameters', function()
   local most = same.most(8)
   same.seeded(11)

   it('A5: are moved once by a sync, their unique bytes, and not by a second one', function()
      for _, flat in ipairs{false, true} do
         local net = nn.Sequential():add(nn.Linear(6, 6)):add(nn.Tanh()):add(nn.Linear(6, 6))
            :add(nn.BatchNormalization(6)):cuda()
         net:get(3):share(net:get(1), 'weight', 'gradWeight') -- tied: counted once
         local many = nn.DataParallelTable(1, flat):add(net, same.range(most))
         many:syncParameters()
         local unique = (6 * 6 + 6 + 6 + 6 + 6) * 4
         many:parameters()[1]:mul(2)
         local before = same.copied()
         many:syncParameters()
         assert.equal((most - 1) * unique, same.copied() - before)
         before = same.copied()
         many:syncParameters()
         assert.equal(0, same.copied() - before)
         same.checkReplicas(many)
      end
   end)

   it('are synchronized by the next forward after any write', function()
      local many = nn.DataParallelTable(1, true):add(nn.Linear(5, 2):cuda(), same.range(most))
      local input = randomInput({5}, 2 * most)
      many:forward(input)
      many:getParameters():zero()
      assert.equal(0, many:forward(input):ne(0):sum())
      many.flattenedParams[1][1]:fill(1)
      many:syncParameters()
      many:get(1).bias:fill(2)
      local expected = input:sum(2):add(2)
      same.close(torch.cat(expected, expected, 2), many:forward(input), 1e-5)
   end)

   -- dpnn's getParameters collects the parameters of all modules that it finds this way.
   it('are those of replica 1 in any plain table of the fields', function()
      local inner = nn.Sequential():add(nn.Linear(4, 4)):cuda()
      local many = nn.DataParallelTable(1, true):add(inner, same.range(most))
      many:forward(torch.CudaTensor(most, 4):fill(1))
      local own = {}
      for _, module in ipairs(many:listModules()) do own[module] = true end
      local function look(t)
         for _, value in pairs(t) do
            if torch.isTypeOf(value, 'nn.Module') then
               assert.is_true(own[value])
            elseif torch.type(value) == 'table' then
               look(value)
            end
         end
      end
      look(many)
   end)

   it('A3: are the same memory for a network and for the table in it', function()
      for _, tied in ipairs{false, true} do
         for _, order in ipairs{'outer first', 'inner first'} do
            local inner = nn.Sequential():add(nn.Linear(4, 4)):add(nn.Linear(4, 4)):cuda()
            if tied then inner:get(2):share(inner:get(1), 'weight', 'gradWeight') end
            local many = nn.DataParallelTable(1, true):add(inner, same.range(most))
            local outer = nn.Sequential():add(nn.Linear(3, 4):cuda()):add(many)
            local flat, part, gradient, partGradient
            if order == 'outer first' then
               flat, gradient = outer:getParameters()
               part, partGradient = many:getParameters()
            else
               many:getParameters()
               flat, gradient = outer:getParameters()
               part, partGradient = many:getParameters()
            end
            local count = tied and 24 or 40
            assert.equal(16 + count, flat:nElement())
            assert.equal(count, part:nElement())
            assert.is_true(part:storage() == flat:storage())
            assert.is_true(partGradient:storage() == gradient:storage())
            flat:fill(3)
            assert.equal(0, part:ne(3):sum())
            assert.equal(0, inner:get(2).weight:ne(3):sum())
            part:fill(4)
            assert.equal(0, inner:get(1).bias:ne(4):sum())
            assert.equal(count, flat:eq(4):sum())
            for i = 2, most do
               assert.equal(count, many.flattenedParams[i][1]:nElement())
               assert.equal(count, many.flattenedParams[i][2]:storage():size())
            end
            local one = nn.Sequential():add(outer:get(1):clone()):add(inner:clone())
            if tied then one:get(2):get(2):share(one:get(2):get(1), 'weight', 'gradWeight') end
            local input = randomInput({3}, 5)
            same.zero(one, outer)
            same.close(one:forward(input), outer:forward(input), 1e-5)
            same.close(one:backward(input, one.output), outer:backward(input, one.output), 1e-5)
            same.close(select(2, one:getParameters()), gradient, 1e-5)
         end
      end
   end)

   it('are one flat tensor for each replica, the same at every call', function()
      local net = networks.linear.make():cuda()
      local many = nn.DataParallelTable(1):add(net, same.range(most))
      local flat, gradient = many:getParameters()
      assert.equal(5 * 7 + 7 + 7 * 3 + 3, flat:nElement())
      many:forward(randomInput({5}, 3))
      many:flattenParameters()
      local again, gradientAgain = many:getParameters()
      assert.is_true(flat:isSetTo(again) and gradient:isSetTo(gradientAgain))
      assert.is_true(flat:isSetTo(many.flattenedParams[1][1]))
      for i = 1, most do
         local values, gradients = many.flattenedParams[i][1], many.flattenedParams[i][2]
         assert.equal(i, values:getDevice())
         for k, t in ipairs{many.impl:get(i):parameters()} do
            local whole = k == 1 and values or gradients
            for _, view in ipairs(t) do
               assert.is_true(view:storage() == whole:storage())
            end
         end
      end
   end)

   it('E1: flat tensors from before a change are rejected by optimizers', function()
      local many = nn.DataParallelTable(1):add(networks.linear.make():cuda(), same.range(most))
      local flat, gradient = many:getParameters()
      local function step(x, g) dpt.optim.sgd(function() return 0, g end, x, {}) end
      step(flat, gradient)
      many:get(1):add(nn.Linear(3, 2):cuda())
      many:forward(randomInput({5}, most))
      assert.error_matches(function() step(flat, gradient) end, 'call getParameters again')
      local outer = nn.Sequential():add(nn.Linear(5, 5):cuda()):add(many)
      local inner, innerGradient = many:getParameters()
      step(inner, innerGradient)
      step(outer:getParameters())
      assert.error_matches(function() step(inner, innerGradient) end, 'moved elsewhere')
      step(many:getParameters())
   end)

   it('A6: have a flat gradient, and zeroing it is zeroGradParameters', function()
      local many = nn.DataParallelTable(1, true):add(nn.Linear(5, 2):cuda(), same.range(most))
      local _, gradient = many:getParameters()
      local input = randomInput({5}, 2 * most)
      local function step()
         same.pass(many, input)
         return gradient:clone()
      end
      many:zeroGradParameters()
      local first = step()
      gradient:zero()
      same.bits(first, step())
      same.close(first * 2, step(), 1e-6)
      assert.is_true(many.needsSync)
      local before = same.copied()
      many:syncParameters()
      assert.equal(before, same.copied()) -- no parameter was written to
      assert.is_false(many.needsSync)
      same.checkReplicas(many)
   end)

   it('A22: may be missing, in a network that has none', function()
      local net = nn.Sequential():add(nn.Tanh()):add(nn.MulConstant(3)):cuda()
      for _, flat in ipairs{false, true} do
         local many = nn.DataParallelTable(1, flat):add(net:clone(), same.range(most))
         many:syncParameters() -- creates the replicas
         local before = same.copied()
         many:zeroGradParameters()
         many:updateParameters(1)
         many:syncParameters()
         assert.equal(before, same.copied())
         assert.equal(0, (many:getParameters()):nElement())
         same.compare(net, many, randomInput({5}, 2 * most + 1), 1e-6)
         many:training()
         many:evaluate()
         many:clearState()
         same.compare(net, many:clone(), randomInput({5}, most), 1e-6)
      end
   end)

   it('are reset on all replicas', function()
      for _, flat in ipairs{false, true} do
         local many = nn.DataParallelTable(1, flat):add(networks.linear.make():cuda(),
            same.range(most))
         many:forward(randomInput({5}, most + 2))
         local before = many:get(1):get(1).weight:clone()
         many:reset()
         assert.is_true((many:get(1):get(1).weight - before):abs():max() > 0)
         same.checkReplicas(many)
      end
   end)

   it("stay in another table's flat tensor unless a script requests flat ones", function()
      local trunk = nn.Linear(5, 4)
      local one = nn.Sequential():add(trunk):add(nn.Tanh()):add(nn.Linear(4, 3))
      local two = nn.Sequential():add(trunk):add(nn.Tanh()):add(nn.Linear(4, 2))
      nn.Container():add(one):add(two):cuda()
      local base = nn.ConcatTable():add(one):add(two):clone()
      local tables = {}
      for i, net in ipairs{one, two} do
         tables[i] = nn.DataParallelTable(1, true):add(net, same.range(most))
      end
      -- Runs one step of table i with update(...), and of one device; all tables see the new trunk.
      local function train(i, update, ...)
         local input, gradOutput = randomInput({5}, most + 2), randomInput({4 - i}, most + 2)
         for _, net in ipairs{base:get(i), tables[i]} do
            net:zeroGradParameters()
            same.pass(net, input, gradOutput)
         end
         base:get(i):updateParameters(0.1)
         update(...)
         for k, many in ipairs(tables) do
            same.close(base:get(k):forward(input), many:forward(input), 1e-5)
         end
      end
      local config = {learningRate = 0.1}
      local function sgd(x, dx) optim.sgd(function() return 0, dx end, x, config) end

      local x, dx = tables[1]:getParameters()
      for _ = 1, 2 do
         train(1, sgd, x, dx)
         train(2, tables[2].updateParameters, tables[2], 0.1)
      end
      assert.is_nil(tables[2].flattenedParams)
      assert.equal(4, #tables[2]:moduleParameters()[1][1])
      local y, dy = tables[2]:getParameters() -- needs the trunk
      assert.error_matches(function() sgd(x, dx) end, 'parameters that have moved elsewhere')
      for _ = 1, 2 do
         train(2, sgd, y, dy)
         train(1, tables[1].updateParameters, tables[1], 0.1)
      end
      local z, dz = nn.Container():add(tables[1]):add(tables[2]):getParameters()
      assert.equal(24 + 15 + 10, z:nElement())
      for _ = 1, 2 do
         dz:zero()
         train(1, sgd, z, dz)
         dz:zero()
         train(2, sgd, z, dz)
      end
   end)

   it('that were on a wrong device for a while are laid out again', function()
      if most < 2 then return pending('needs 2 devices') end
      local one = networks.linear.make():cuda()
      local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
      same.compare(one, many, randomInput({5}, most), 1e-5)
      local layer = many:get(1):get(1)
      local bias = layer.bias
      layer.bias = cutorch.withDevice(2, function() return bias:clone() end)
      assert.error_matches(function() many:syncParameters() end, 'on device 2, wanted')
      layer.bias = bias
      same.compare(one, many, randomInput({5}, most), 1e-5)
   end)
end)
