local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

-- A module that does what a function says.
local classes = {}
local Methods, parentMethods = torch.class('dptspec.Probe', 'nn.Module', classes)
local Probe = classes.Probe
function Methods:__init(forward, backward)
   parentMethods.__init(self)
   self.does, self.undoes = forward, backward
end
function Methods:updateOutput(input)
   self.output = self.does(input, self)
   return self.output
end
function Methods:updateGradInput(input, gradOutput)
   self.gradInput = self.undoes(input, gradOutput, self)
   return self.gradInput
end

-- Networks, each with the size of a row of its input.
local networks = {
   linear = {size = {5}, make = function()
      return nn.Sequential():add(nn.Linear(5, 7)):add(nn.Tanh()):add(nn.Linear(7, 3))
   end},
   convolution = {size = {2, 6, 6}, make = function()
      return nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
         :add(nn.SpatialMaxPooling(2, 2)):add(nn.View(27):setNumInputDims(3))
         :add(nn.Linear(27, 4))
   end},
}

describe('nn.DataParallelTable', function()
   local most = math.min(cutorch.getDeviceCount(), 8)

   before_each(function()
      torch.manualSeed(11)
      cutorch.setDevice(1)
   end)

   local function randomInput(size, rows, type)
      if rows == 0 then return torch.getmetatable(type or 'torch.CudaTensor').new() end
      return torch.randn(rows, unpack(size)):type(type or 'torch.CudaTensor')
   end

   describe('on n devices', function()
      for name, network in pairs(networks) do
         for _, flat in ipairs{false, true} do
            it(('is one device, %s, flat %s'):format(name, flat), function()
               for n = 1, most do
                  local one = network.make():cuda()
                  local many = nn.DataParallelTable(1, flat):add(one:clone(), same.range(n))
                  for rows = 0, 3 * n do
                     same.compare(one, many, randomInput(network.size, rows), 1e-5)
                  end
               end
            end)
         end
      end

      it('is one device in double precision', function()
         for _, n in ipairs{1, math.min(3, most), most} do
            local one = networks.linear.make():cudaDouble()
            local many = nn.DataParallelTable(1, true):type('torch.CudaDoubleTensor')
               :add(one:clone(), same.range(n))
            for _, rows in ipairs{1, n, 2 * n + 1} do
               same.compare(one, many, randomInput({5}, rows, 'torch.CudaDoubleTensor'), 1e-13)
            end
         end
      end)

      it('gives the bits of one device in deterministic mode', function()
         finally(function() dpt.setDeterministic(false) end)
         dpt.setDeterministic(true)
         for _, network in pairs(networks) do
            for n = 1, most do
               local one = network.make():cuda()
               local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(n))
               for rows = 0, 3 * n do
                  local input = randomInput(network.size, rows)
                  if rows > 0 then
                     same.bits(one:forward(input), many:forward(input))
                     local gradOutput = one.output:clone():normal()
                     same.bits(one:backward(input, gradOutput), many:backward(input, gradOutput))
                  end
               end
            end
         end
      end)

      it('works for device lists in any order', function()
         if most < 4 then return pending('needs 4 devices') end
         local one = networks.linear.make():cuda()
         for _, list in ipairs{{2, 1}, {3}, {4, 2}, {2, 4, 3}, {1, 4}} do
            local module
            cutorch.withDevice(list[1], function() module = networks.linear.make():cuda() end)
            same.copyParameters(module, one)
            local many = nn.DataParallelTable(1, true):add(module, list)
            same.compare(one, many, randomInput({5}, 7), 1e-5)
            assert.equal(list[1], many.output:getDevice())
            assert.equal(1, cutorch.getDevice())
         end
      end)
   end)

   it('gives every device its rows', function()
      if most < 4 then return pending('needs 4 devices') end
      local many = nn.DataParallelTable(1):add(nn.Linear(5, 2):cuda(), {1, 2, 3, 4})
      many:forward(randomInput({5}, 9))
      for i, rows in ipairs{3, 2, 2, 2} do
         assert.equal(rows, many.inputGpu[i]:size(1))
         assert.equal(i, many.inputGpu[i]:getDevice())
         assert.equal(rows, many.impl.modules[i].output:size(1))
         assert.equal(i, many.impl.modules[i].output:getDevice())
      end
      assert.equal(9, many.output:size(1))
      assert.equal(1, many.output:getDevice())
   end)

   it('splits and joins along another dimension', function()
      local n = math.min(3, most)
      local many = nn.DataParallelTable(2):add(nn.MulConstant(2):cuda(), same.range(n))
      local input = torch.randn(4, 7, 2):cuda()
      same.bits(input * 2, many:forward(input))
      same.bits(input * 2, many:backward(input, input))
   end)

   describe('with tables', function()
      local function make()
         return nn.Sequential()
            :add(nn.ParallelTable():add(nn.Linear(4, 3)):add(
               nn.Sequential():add(nn.JoinTable(2)):add(nn.Linear(5, 3))))
            :add(nn.ConcatTable():add(nn.CAddTable()):add(nn.Identity()):add(nn.SelectTable(2)))
            :cuda()
      end

      local function input(rows)
         return {torch.randn(rows, 4):cuda(), {torch.randn(rows, 2):cuda(),
            torch.randn(rows, 3):cuda()}}
      end

      it('of tables in and out is one device', function()
         for n = 1, most do
            local one = make()
            local many = nn.DataParallelTable(1, n % 2 == 0):add(one:clone(), same.range(n))
            for _, rows in ipairs{1, n, n + 1, 3 * n} do
               same.compare(one, many, input(rows), 1e-5)
            end
         end
      end)

      it('hands what is no tensor to every replica', function()
         local x = torch.randn(3, 2):cuda()
         local many = nn.DataParallelTable(1):add(Probe(function(given)
            return {x = given.x, name = given.name, deep = {given.deep[1]}}
         end), same.range(most))
         local out = many:forward{x = x, name = 'train', deep = {7}}
         assert.same({'train', 7}, {out.name, out.deep[1]})
         same.bits(x, out.x)
      end)

      it('keeps empty tensors empty', function()
         local net = nn.Sequential():add(nn.SelectTable(2)):add(nn.Linear(4, 2)):cuda()
         local many = nn.DataParallelTable(1):add(net:clone(), same.range(most))
         local given = {torch.CudaTensor(), torch.randn(most, 4):cuda()}
         same.close(net:forward(given), many:forward(given), 1e-5)
         local gradOutput = net.output:clone():normal()
         same.close(net:backward(given, gradOutput)[2], many:backward(given, gradOutput)[2], 1e-5)
      end)
   end)

   describe('inputs', function()
      it('may be host tensors, which have been read on return', function()
         local one = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
         for _, type in ipairs{'torch.FloatTensor', 'torch.DoubleTensor'} do
            local host = torch.randn(2 * most + 1, 5):type(type)
            one.given = host:cuda()
            local expected = one:forward(one.given):clone()
            local output = many:forward(host)
            host:fill(0 / 0)
            same.close(expected, output, 1e-5)
            local gradOutput = torch.randn(2 * most + 1, 3):type(type)
            local wanted = one:backward(one.given, gradOutput:cuda())
            local got = many:backward(host, gradOutput)
            gradOutput:fill(0 / 0)
            same.close(wanted, got, 1e-5)
         end
      end)

      it('keep their integers', function()
         local table = nn.LookupTable(20, 3):cuda()
         local many = nn.DataParallelTable(1, true):add(table:clone(), same.range(most))
         local given = torch.LongTensor(2 * most + 1, 4)
         given:random(20)
         same.bits(table:forward(given:type('torch.CudaLongTensor')), many:forward(given))
      end)

      it('may be changed by a module that works in place', function()
         local many = nn.DataParallelTable(1):add(nn.ReLU(true):cuda(), same.range(most))
         local input = torch.randn(2 * most, 3):cuda()
         local before = input:clone()
         many:forward(input)
         same.bits(before, input)
      end)
   end)

   describe('gradInput', function()
      it('is left out where it is nil', function()
         local many = nn.DataParallelTable(1, true):add(nn.Linear(5, 2):cuda(), same.range(most))
         many.gradInput = nil
         local input = randomInput({5}, most)
         assert.is_nil(many:backward(input, many:forward(input)))
         assert.is_nil(many.gradInput)
         assert.is_true(select(2, many:getParameters()):ne(0):sum() > 0)
      end)

      it('is zero where the network gives none', function()
         local table = nn.LookupTable(9, 3):cuda()
         local many = nn.DataParallelTable(1):add(table, same.range(most))
         local given = torch.CudaTensor(most, 2):fill(3)
         local gradInput = many:backward(given, many:forward(given))
         same.bits(given:clone():zero(), gradInput)
      end)

      it('and gradients come in two calls as well', function()
         local one = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
         local input, gradOutput = randomInput({5}, most + 1), randomInput({3}, most + 1)
         one:zeroGradParameters()
         many:zeroGradParameters()
         one:forward(input)
         many:forward(input)
         same.close(one:updateGradInput(input, gradOutput), many:updateGradInput(input, gradOutput),
            1e-5)
         local _, got = many:getParameters()
         assert.equal(0, got:ne(0):sum())
         one:accGradParameters(input, gradOutput, 0.25)
         many:accGradParameters(input, gradOutput, 0.25)
         same.close(select(2, one:getParameters()), got, 1e-5)
      end)
   end)

   describe('parameters', function()
      it('A7: several backwards are one of the joined batch, nothing moves in between', function()
         local one = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
         local flat, gradient = many:getParameters()
         local joined, gradOutputs = randomInput({5}, 12), randomInput({3}, 12)
         one:zeroGradParameters()
         one:forward(joined)
         one:backward(joined, gradOutputs)
         many:forward(joined)
         gradient:zero()
         for part = 1, 3 do
            local input = joined:narrow(1, 4 * part - 3, 4)
            many:forward(input)
            many:backward(input, gradOutputs:narrow(1, 4 * part - 3, 4))
            assert.is_true(many.needsSync)
         end
         same.close(select(2, one:getParameters()), gradient, 1e-5)
         local before = same.copied()
         many:syncParameters()
         assert.equal(before, same.copied())
         assert.is_false(many.needsSync)
         flat:add(-0.1, gradient)
         many:syncParameters()
         assert.equal(before + (most - 1) * flat:nElement() * 4, same.copied())
      end)

      it('A5: a sync moves the bytes of the unique parameters, a second one none', function()
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

      it('A5: the count sees one copy more', function()
         if most < 2 then return pending('needs 2 devices') end
         local many = nn.DataParallelTable(1, true):add(nn.Linear(6, 6):cuda(), {1, 2})
         local flat = many:getParameters()
         many:syncParameters()
         flat:mul(2)
         local planted = cutorch.withDevice(2, function() return torch.CudaTensor(flat:size()) end)
         local before = same.copied()
         many:syncParameters()
         planted:copy(flat)
         assert.equal(2 * 42 * 4, same.copied() - before)
      end)

      it('are synced by the next forward, whoever wrote to them', function()
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
               one:zeroGradParameters()
               outer:zeroGradParameters()
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
            for k, t in ipairs{many.impl.modules[i]:parameters()} do
               local whole = k == 1 and values or gradients
               for _, view in ipairs(t) do
                  assert.is_true(view:storage() == whole:storage())
               end
            end
         end
      end)

      it('may be replaced', function()
         local net = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1):add(net, same.range(most))
         many:forward(randomInput({5}, most))
         net:get(3).weight = torch.CudaTensor(3, 7):normal()
         net:get(3).gradWeight = torch.CudaTensor(3, 7):zero()
         same.compare(net:clone(), many, randomInput({5}, 2 * most), 1e-5)
         net:add(nn.Linear(3, 2):cuda())
         same.compare(net:clone(), many, randomInput({5}, 2 * most), 1e-5)
      end)

      it('A6: zeroing the flat gradient is zeroGradParameters', function()
         local many = nn.DataParallelTable(1, true):add(nn.Linear(5, 2):cuda(), same.range(most))
         local _, gradient = many:getParameters()
         local input = randomInput({5}, 2 * most)
         local function step()
            many:forward(input)
            many:backward(input, many.output)
            return gradient:clone()
         end
         many:zeroGradParameters()
         local first = step()
         gradient:zero()
         same.bits(first, step())
         same.close(first * 2, step(), 1e-6)
         same.checkReplicas(many)
      end)

      it('A22: may be missing', function()
         local net = nn.Sequential():add(nn.Tanh()):add(nn.MulConstant(3)):cuda()
         for _, flat in ipairs{false, true} do
            local many = nn.DataParallelTable(1, flat):add(net:clone(), same.range(most))
            many:syncParameters() -- makes the replicas
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

      it('are updated, reset and synced by its methods', function()
         local one = networks.linear.make():cuda()
         for _, flat in ipairs{false, true} do
            local base = one:clone()
            local many = nn.DataParallelTable(1, flat):add(one:clone(), same.range(most))
            for _ = 1, 3 do
               local input, gradOutput = randomInput({5}, most + 2), randomInput({3}, most + 2)
               for _, m in ipairs{base, many} do
                  m:zeroGradParameters()
                  m:forward(input)
                  m:backward(input, gradOutput)
                  m:updateParameters(0.1)
               end
            end
            local input = randomInput({5}, most + 2)
            same.close(base:forward(input), many:forward(input), 1e-4)
            many:reset()
            same.checkReplicas(many)
         end
      end)
   end)

   it('A1: is one device on every set of devices', function()
      local one = networks.linear.make():cuda()
      local input = randomInput({5}, 11)
      local n = math.min(most, 4)
      for mask = 1, 2 ^ n - 1 do
         local list = {}
         for i = 1, n do
            if math.floor(mask / 2 ^ (i - 1)) % 2 == 1 then list[#list + 1] = i end
         end
         local module
         cutorch.withDevice(list[1], function() module = networks.linear.make():cuda() end)
         same.copyParameters(module, one)
         local many = nn.DataParallelTable(1, true):add(module, list)
         for _ = 1, 3 do same.compare(one, many, input, 1e-5) end
      end
   end)

   it('A2: trains with fewer rows than devices', function()
      local net = networks.linear.make():cuda()
      local many = nn.DataParallelTable(1, true):add(net, same.range(most))
      local one = many:get(1):clone()
      for _ = 1, 20 do
         for rows = 0, most - 1 do same.compare(one, many, randomInput({5}, rows), 1e-5) end
      end
   end)

   it('trains like one device, and twice alike', function()
      local function train(devices)
         torch.manualSeed(5)
         local net = networks.convolution.make():cuda()
         local many = nn.DataParallelTable(1, true):add(net, same.range(devices))
         local criterion = nn.CrossEntropyCriterion():cuda()
         local flat, gradient = many:getParameters()
         local state = {learningRate = 0.05, momentum = 0.9}
         local inputs, targets = torch.randn(70, 2, 6, 6), torch.Tensor(70):random(4)
         for _ = 1, 3 do
            for first = 1, 70, 16 do
               local rows = math.min(16, 71 - first)
               local target = targets:narrow(1, first, rows):cuda()
               dpt.optim.sgd(function()
                  many:zeroGradParameters()
                  local output = many:forward(inputs:narrow(1, first, rows):float())
                  criterion:forward(output, target)
                  many:backward(inputs, criterion:backward(output, target))
                  return criterion.output, gradient
               end, flat, state)
            end
         end
         return flat
      end
      local four = train(math.min(4, most))
      same.close(train(1), four, 1e-4)
      same.bits(four, train(math.min(4, most)))
   end)

   it('stands inside other modules', function()
      local function make(inner)
         return nn.Sequential():add(nn.Linear(4, 6):cuda()):add(inner):add(nn.Linear(3, 2):cuda())
      end
      local inner = nn.Sequential():add(nn.Linear(6, 3)):add(nn.Tanh()):cuda()
      local one = make(inner:clone())
      local many = make(nn.DataParallelTable(1, true):add(inner, same.range(most)))
      same.copyParameters(many, one)
      for rows = 1, most + 1 do
         local input, gradOutput = randomInput({4}, rows), randomInput({2}, rows)
         one:zeroGradParameters()
         many:zeroGradParameters()
         same.close(one:forward(input), many:forward(input), 1e-5)
         same.close(one:backward(input, gradOutput), many:backward(input, gradOutput), 1e-5)
         local _, expected = one:parameters()
         local _, got = many:parameters()
         same.close(expected, got, 1e-5)
      end
   end)

   describe('methods of modules:', function()
      -- What module k of each replica gave, on device 1.
      local function flatOutputs(many, k)
         local list = {}
         for i = 1, many.used do
            list[i] = cutorch.withDevice(1, function()
               local output = many:get(i):get(k).output
               return torch.CudaTensor(output:size()):copy(output)
            end)
         end
         return list
      end

      local function table(net) return nn.DataParallelTable(1, true):add(net, same.range(most)) end

      it('clone gives another network of the same values', function()
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

      it('findModules, listModules and get see replica 1', function()
         local net = networks.linear.make():cuda()
         local many = table(net)
         many:forward(randomInput({5}, most))
         local list = many:listModules()
         assert.equal(#net:listModules() + 1, #list)
         assert.equal(many, list[1])
         assert.equal(net, list[2])
         assert.equal(1, #many:findModules('nn.Tanh'))
         assert.equal(net, many:get(1))
         assert.equal(net, many.modules[1])
         assert.equal(1, #many.modules)
         local replicas = many.impl.modules
         many:listModules()
         nn.Sequential():add(many):listModules()
         assert.equal(replicas, many.impl.modules)
      end)

      it('H22: dropout drops what one device would', function()
         local net = nn.Sequential():add(nn.Dropout(0.4)):add(nn.Linear(30, 20))
            :add(nn.Dropout(0.3)):cuda()
         local many = table(net:clone())
         for rows = 1, 2 * most do
            local input = randomInput({30}, rows)
            same.close(net:forward(input), many:forward(input), 1e-5)
            assert.equal(net.output:eq(0):sum(), many.output:eq(0):sum())
            same.bits(net:get(1).output, torch.cat(flatOutputs(many, 1), 1))
         end
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

      it('evaluate uses the running statistics of replica 1', function()
         local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4)):cuda()
         local many = table(net)
         local input = randomInput({3}, 3 * most)
         for _ = 1, 3 do -- the rows of every replica have other statistics
            for row = 1, 3 * most do input[row]:mul(1 + row) end
            many:training()
            many:forward(input)
            many:evaluate()
            local one = net:clone()
            same.close(one:forward(input), many:forward(input), 1e-5)
            many.impl:exec(function(module)
               same.bits(net:get(2).running_mean, module:get(2).running_mean)
               same.bits(net:get(2).running_var, module:get(2).running_var)
            end)
            local before = same.copied()
            many:evaluate()
            many:syncParameters()
            assert.equal(before, same.copied())
            net:get(2).running_mean:add(1) -- also when they are written to later
            same.close(one:forward(input):add(-1, net:get(2).weight:clone()
               :cdiv(torch.sqrt(net:get(2).running_var + 1e-5)):view(1, 4):expand(3 * most, 4)),
               many:forward(input), 1e-4)
         end
      end)

      it('apply changes every replica', function()
         local many = table(nn.Sequential():add(nn.MulConstant(2)):cuda())
         local input = randomInput({3}, 2 * most)
         many:forward(input)
         many:apply(function(module)
            if module.constant_scalar then module.constant_scalar = 5 end
         end)
         same.close(input * 5, many:forward(input), 1e-6)
         local one = networks.linear.make():cuda()
         many = table(one:clone())
         same.compare(one, many, randomInput({5}, most), 1e-5)
         many:apply(function() end)
         same.compare(one, many, randomInput({5}, most), 1e-5)
      end)

      it('clearState lets memory go and works on', function()
         local many = table(networks.convolution.make():cuda())
         local input = randomInput({2, 6, 6}, 2 * most)
         local live = {}
         for step = 1, 8 do
            many:forward(input)
            many:backward(input, many.output)
            assert.equal(many, many:clearState())
            assert.equal(0, many.output:nElement())
            collectgarbage()
            collectgarbage()
            local bytes = 0
            for i = 1, most do bytes = bytes + same.liveBytes(i) end
            live[step] = bytes
         end
         assert.equal(live[2], live[8])
         assert.is_true(live[2] > 0)
      end)

      it('a step takes no memory from the system', function()
         local many = table(networks.convolution.make():cuda())
         local input = randomInput({2, 6, 6}, 3 * most - 1)
         local function taken()
            local sum = 0
            for i = 1, most do sum = sum + cutorch.memoryStats(i).segments end
            return sum
         end
         local function step()
            many:zeroGradParameters()
            many:backward(input, many:forward(input))
            many:updateParameters(0.01)
         end
         for _ = 1, 3 do step() end
         cutorch.synchronizeAll()
         local before = taken()
         for _ = 1, 30 do step() end
         assert.equal(before, taken())
      end)

      it('tostring', function()
         local many = table(nn.Tanh():cuda())
         assert.equal('DataParallelTable: ' .. most .. ' x nn.Tanh', tostring(many))
      end)

      it('type converts, of a host type raises', function()
         local net = networks.linear.make()
         local many = nn.DataParallelTable(1, true):add(net, same.range(most))
         assert.equal('torch.CudaTensor', many:type())
         assert.equal(many, many:type('torch.CudaDoubleTensor'))
         local input = randomInput({5}, 3, 'torch.CudaDoubleTensor')
         same.compare(many:get(1):clone(), many, input, 1e-12)
         many:type('torch.CudaTensor')
         same.compare(many:get(1):clone(), many, randomInput({5}, 3), 1e-5)
         for _, name in ipairs{'float', 'double'} do
            assert.error_matches(function() many[name](many) end, 'replicas live on devices')
         end
         same.compare(many:get(1):clone(), many, randomInput({5}, 3), 1e-5)
      end)
   end)

   describe('A20: add', function()
      it('takes a number or a list', function()
         local net = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1)
         for i = 1, most do many:add(net:clone(), i) end
         assert.equal(1, #many.modules)
         assert.same(same.range(most), many.gpuAssignments)
         same.compare(net, many, randomInput({5}, 2 * most), 1e-5)
      end)

      it('says what is wrong', function()
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

   it('A21: comes with require of cunn', function()
      assert.equal(nn.DataParallelTable, require('cunn').DataParallelTable)
   end)

   describe('says what to do instead', function()
      local many
      before_each(function()
         many = nn.DataParallelTable(1):add(nn.Linear(5, 2):cuda(), same.range(most))
      end)

      it('of share and accUpdateGradParameters', function()
         assert.error_matches(function() many:share(nn.Tanh(), 'weight') end, 'share get%(1%)')
         assert.error_matches(function() many:accUpdateGradParameters() end,
            'call backward and then updateParameters')
      end)

      it('of a missing dimension or module, or a backward too early', function()
         assert.error_matches(function() nn.DataParallelTable() end, 'dimension to split along')
         assert.error_matches(function() nn.DataParallelTable(1):forward(torch.CudaTensor(2)) end,
            'call add')
         assert.error_matches(function() many:backward(nil, torch.CudaTensor(2)) end,
            'backward needs a forward before it')
         assert.error_matches(function() nn.DataParallelTable(1, false, true) end,
            'flat parameters')
      end)

      it('of a network that is not on the first device', function()
         local host = nn.DataParallelTable(1):add(nn.Linear(5, 2), {1})
         assert.error_matches(function() host:forward(torch.CudaTensor(1, 5)) end,
            'in host memory, wanted it on device 1')
         if most < 2 then return end
         local other = nn.DataParallelTable(1):add(nn.Linear(5, 2):cuda(), {2, 1})
         assert.error_matches(function() other:forward(torch.CudaTensor(1, 5)) end,
            'torch.CudaTensor on device 1, wanted it on device 2')
         assert.equal(1, cutorch.getDevice())
      end)

      it('of an input that cannot be split', function()
         local wide = nn.DataParallelTable(2):add(nn.Identity():cuda(), {1})
         local given = {torch.CudaTensor(3, 2), torch.CudaTensor(3)}
         assert.error_matches(function() wide:forward(given) end,
            'input%[2%] is a torch.CudaTensor of 1 dimension')
      end)

      it('of outputs of different forms', function()
         if most < 2 then return pending('needs 2 devices') end
         local odd = nn.DataParallelTable(1):add(Probe(function(input)
            return {a = {input, input:getDevice() == 2 and 'two' or input}}
         end), {1, 2})
         assert.error_matches(function() odd:forward(torch.CudaTensor(2, 2):zero()) end,
            'result%[a%]%[2%]: replica 1 gave a torch.CudaTensor, replica 2 a string')
      end)
   end)

   describe('an error in a replica', function()
      it('names replica, device and module, and the table works on', function()
         if most < 3 then return pending('needs 3 devices') end
         local armed = false
         local function fails(value, self)
            if armed == value:getDevice() then error('the fuse is blown') end
            self.keep = value
            return value
         end
         local net = nn.Sequential():add(nn.Linear(5, 5)):add(nn.Sequential():add(nn.Tanh())
            :add(Probe(fails, function(_, gradOutput, self) return fails(gradOutput, self) end)))
            :cuda()
         local many = nn.DataParallelTable(1, true):add(net, {1, 2, 3})
         local one = nn.Sequential():add(net:get(1):clone()):add(nn.Tanh():cuda())
         local input = randomInput({5}, 7)
         for round = 1, 3 do
            armed = round
            local where = ('In replica %d of 3 on device %d of nn.DataParallelTable:\n'
               .. 'In 2 module of nn.Sequential:\nIn 2 module of nn.Sequential:\n')
               :format(round, round)
            local ok, message = pcall(many.forward, many, input)
            assert.is_false(ok)
            assert.is_truthy(message:find(where, 1, true))
            assert.is_truthy(message:find('the fuse is blown\nstack traceback:', 1, true))
            assert.equal(1, cutorch.getDevice())
            armed = false
            many:forward(input)
            armed = round
            ok, message = pcall(many.backward, many, input, input)
            assert.is_false(ok)
            assert.is_truthy(message:find(where, 1, true))
            armed = false
            same.compare(one, many, input, 1e-5)
         end
      end)

      it('found by queued work comes back at the next wait', function()
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

   it('sends the parameters again where a copy of them failed', function()
      local lib = require('dpt.ffi').lib
      local input = torch.randn(2 * most, 5):cuda()
      for fault = 1, most - 1 do
         local many = nn.DataParallelTable(1, true):add(nn.Linear(5, 3):cuda(), same.range(most))
         local wanted = many:forward(input):clone()
         many:getParameters():mul(2)
         many:forward(input)
         many:getParameters():mul(0.5)
         cutorch.synchronizeAll()
         lib.fault_set('copy:' .. fault) -- the first copies are those of the parameters
         finally(function() lib.fault_set('') end)
         assert.error_matches(function()
            many:forward(input)
            cutorch.synchronizeAll()
         end, 'DPT_FAULT')
         same.bits(wanted, many:forward(input))
      end
   end)

   it('asks for NCCL in vain, says so and copies', function()
      local command = "luajit -e \"package.path='./lua/?.lua;./lua/?/init.lua;'..package.path"
         .. " require 'dpt' for i = 1, 2 do local m = nn.DataParallelTable(1, true, true)"
         .. " :add(nn.Linear(2, 2):cuda(), {1}) m:forward(torch.CudaTensor(3, 2):zero())"
         .. " assert(m.usenccl == false) end print('done')\" 2>&1"
      local pipe = io.popen(command)
      local text = pipe:read('*a')
      pipe:close()
      assert.matches('^dpt: NCCL [^\n]+copies[^\n]*\ndone\n$', text)
   end)
end)
