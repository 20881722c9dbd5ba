local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local core = require 'dpt.tensor.core'
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'
local networks, randomInput = same.networks, same.randomInput

same.dispatched('nn.DataParallelTable', function()
   local most = same.most(8)
   same.seeded(11)

   describe('nn.DataParallelTable on n devices', function()
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

      it('is one device in the reduced types, where sums are exact', function()
         for kind, typename in pairs(core.realNames) do
            if kind > core.ON_DEVICE and core.elementOf(kind).isReduced then
               local one, rows = nn.Linear(5, 3), 2 * most + 1
               for _, t in ipairs(one:parameters()) do t:random(-2, 2) end
               one:type(typename)
               local many = nn.DataParallelTable(1, true):type(typename)
                  :add(one:clone(), same.range(most))
               local input = torch.Tensor(rows, 5):random(0, 3):type(typename)
               local gradOutput = torch.Tensor(rows, 3):random(-2, 2):type(typename)
               same.zero(one, many)
               same.bits(one:forward(input), many:forward(input))
               same.bits(one:backward(input, gradOutput), many:backward(input, gradOutput))
               same.bits(select(2, one:parameters()), select(2, many:parameters()))
            end
         end
      end)

      it('returns the bits of one device in deterministic mode', function()
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
   end)

   it('hands every device its rows', function()
      if most < 4 then return pending('needs 4 devices') end
      local many = nn.DataParallelTable(1):add(nn.Linear(5, 2):cuda(), {1, 2, 3, 4})
      many:forward(randomInput({5}, 9))
      for i, rows in ipairs{3, 2, 2, 2} do
         assert.equal(rows, many.inputGpu[i]:size(1))
         assert.equal(i, many.inputGpu[i]:getDevice())
         assert.equal(rows, many.impl:get(i).output:size(1))
         assert.equal(i, many.impl:get(i).output:getDevice())
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

   it('A1: is one device on every set of devices, in any order', function()
      local one = networks.linear.make():cuda()
      local input = randomInput({5}, 11)
      local n = math.min(most, 4)
      local lists = n < 4 and {} or {{2, 1}, {4, 2}, {2, 4, 3}}
      for mask = 1, 2 ^ n - 1 do
         local list = {}
         for i = 1, n do
            if math.floor(mask / 2 ^ (i - 1)) % 2 == 1 then list[#list + 1] = i end
         end
         lists[#lists + 1] = list
      end
      for _, list in ipairs(lists) do
         local module = cutorch.withDevice(list[1], function()
            return networks.linear.make():cuda()
         end)
         same.copyParameters(module, one)
         local many = nn.DataParallelTable(1, true):add(module, list)
         for _ = 1, 3 do same.compare(one, many, input, 1e-5) end
         assert.equal(list[1], many.output:getDevice())
         assert.equal(1, cutorch.getDevice())
      end
   end)

   it('trains like one device, and reproducibly', function()
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
                  local input = inputs:narrow(1, first, rows):float()
                  local output = many:forward(input)
                  criterion:forward(output, target)
                  many:backward(input, criterion:backward(output, target))
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

   it('works inside other modules', function()
      local function make(inner)
         return nn.Sequential():add(nn.Linear(4, 6):cuda()):add(inner):add(nn.Linear(3, 2):cuda())
      end
      local inner = nn.Sequential():add(nn.Linear(6, 3)):add(nn.Tanh()):cuda()
      local one = make(inner:clone())
      local many = make(nn.DataParallelTable(1, true):add(inner, same.range(most)))
      same.copyParameters(many, one)
      for rows = 1, most + 1 do
         local input, gradOutput = randomInput({4}, rows), randomInput({2}, rows)
         same.zero(one, many)
         same.close(one:forward(input), many:forward(input), 1e-5)
         same.close(one:backward(input, gradOutput), many:backward(input, gradOutput), 1e-5)
         same.close(select(2, one:parameters()), select(2, many:parameters()), 1e-5)
      end
   end)

   it('sends the parameters again if a copy of them failed', function()
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

   it('copies, with a line on stderr, if NCCL is requested but missing', function()
      local text = run.lua([[
         require 'dpt'
         for i = 1, 2 do
            local m = nn.DataParallelTable(1, true, true):add(nn.Linear(2, 2):cuda(), {1})
            m:forward(torch.CudaTensor(3, 2):zero())
            assert(m.usenccl == false)
         end
         print 'done']], {DPT_DEVICES = 'host:1'})
      assert.matches('^dpt: NCCL [^\n]+copies[^\n]*\ndone\n$', text)
   end)
end)
