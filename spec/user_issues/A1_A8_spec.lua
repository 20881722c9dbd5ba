-- Rows A1 to A8: problems reported by users of nn.DataParallelTable (docs/user-issues.md); other
-- rows are in spec/nn/DataParallelTable_*_spec.lua.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local torture = require 'spec.support.torture'

-- Returns a network with integer weights: sums are exact, so their bits do not depend on the order.
local function wholeNetwork()
   local net = nn.Sequential():add(nn.Linear(5, 7)):add(nn.ReLU()):add(nn.Linear(7, 3))
   for k, t in ipairs((net:parameters())) do
      t:copy(torch.range(1, t:nElement()):fmod(5):add(-k))
   end
   return net:cuda()
end

local function whole(...) return torch.randn(...):mul(3):round():cuda() end

-- Returns a copy of a network on a device.
local function onto(device, net)
   return cutorch.withDevice(device, function() return net:clone() end)
end

local function subset(mask, n)
   local list = {}
   for i = 1, n do
      if math.floor(mask / 2 ^ (i - 1)) % 2 == 1 then list[#list + 1] = i end
   end
   return list
end

describe('users of DataParallelTable', function()
   local most = same.most(8)
   same.seeded(4)

   describe('A1: every set of devices', function()
      it('gives the bits of one device, gradients as well', function()
         local one, input, gradOutput = wholeNetwork(), whole(11, 5), whole(11, 3)
         one:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput)
         local _, gradient = one:clone():getParameters()
         for mask = 1, 2 ^ most - 1 do
            local list = subset(mask, most)
            local many = nn.DataParallelTable(1, true):add(onto(list[1], one), list)
            many:zeroGradParameters()
            same.bits(one.output, many:forward(input))
            same.bits(one.gradInput, many:backward(input, gradOutput))
            same.bits(gradient, select(2, many:getParameters()))
            same.checkReplicas(many)
         end
      end)

      it('gives them in deterministic mode for any numbers', function()
         finally(function() dpt.setDeterministic(false) end)
         dpt.setDeterministic(true)
         local one = nn.Sequential():add(nn.Linear(5, 7)):add(nn.Tanh()):add(nn.Linear(7, 3)):cuda()
         local input, gradOutput = torch.randn(11, 5):cuda(), torch.randn(11, 3):cuda()
         one:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput)
         local _, gradients = one:parameters()
         for mask = 1, 2 ^ most - 1 do
            local list = subset(mask, most)
            local many = nn.DataParallelTable(1, true):add(onto(list[1], one), list)
            many:zeroGradParameters()
            same.bits(one.output, many:forward(input))
            same.bits(one.gradInput, many:backward(input, gradOutput))
            same.close(gradients, select(2, many:parameters()), 1e-6)
         end
      end)

      it('trains for 1,000 steps like one device #devices3', function()
         local function train(list)
            torch.manualSeed(9)
            local net = nn.Sequential():add(nn.Linear(5, 8)):add(nn.Tanh()):add(nn.Linear(8, 2))
            net = onto(list[1], net:cuda())
            local many = nn.DataParallelTable(1, true):add(net, list)
            local inputs = torch.randn(14, 5)
            local targets = torch.tanh(inputs:narrow(2, 1, 2) * 2)
            targets = cutorch.withDevice(list[1], function() return targets:cuda() end)
            local criterion = nn.MSECriterion():cuda()
            local flat, gradient = many:getParameters()
            for _ = 1, torture(1000) do
               many:zeroGradParameters()
               local output = many:forward(inputs)
               criterion:forward(output, targets)
               many:backward(inputs, criterion:backward(output, targets))
               flat:add(-0.1, gradient)
            end
            return flat
         end
         local one = train{1}
         for _, list in ipairs{{2, 3}, {1, 4}, same.range(most), {most, 1, 2}} do
            if math.max(unpack(list)) <= most then same.close(one, train(list), 1e-3) end
         end
      end)
   end)

   it('A2: with every number of rows on 1 to 8 devices works step after step', function()
      local one = wholeNetwork()
      for n = 1, most do
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(n))
         for round = 1, 2 do -- up and down again: no step may affect the next
            for step = 0, 3 * n do
               local rows = round == 1 and step or 3 * n - step
               local input = rows > 0 and whole(rows, 5) or torch.CudaTensor()
               same.compare(one, many, input, 1e-6)
               for i = 1, n do
                  local share = math.floor(rows / n) + (i <= rows % n and 1 or 0)
                  local part = many.inputGpu[i]
                  assert.equal(share, part:dim() > 0 and part:size(1) or 0)
               end
            end
         end
      end
   end)

   it('A4: parameters are counted right after flatten, save, load, get(1) and wrap', function()
      local name = os.tmpname()
      finally(function() os.remove(name) end)
      local net = wholeNetwork()
      net:add(nn.Linear(3, 3):cuda()):add(nn.Linear(3, 3):cuda())
      net:get(5):share(net:get(4), 'weight', 'gradWeight', 'bias', 'gradBias') -- counted once
      local count = 5 * 7 + 7 + 7 * 3 + 3 + 3 * 3 + 3
      local inner = net:getParameters()
      assert.equal(count, inner:nElement())
      for _, dimension in ipairs{1, 2, 1} do
         local many = nn.DataParallelTable(dimension, true):add(net, same.range(most))
         local flat, gradient = many:getParameters()
         assert.equal(count, flat:nElement())
         assert.equal(count, gradient:nElement())
         torch.save(name, many)
         net = torch.load(name):get(1)
         same.bits(flat, (net:clone():getParameters()))
         flat, gradient = nn.DataParallelTable(dimension, true):add(net, same.range(most))
            :getParameters()
         assert.equal(count, flat:nElement())
         assert.equal(count, gradient:nElement())
         flat:fill(3)
         gradient:fill(7)
         for _, module in ipairs{net:get(1), net:get(3), net:get(4), net:get(5)} do
            assert.equal(0, module.weight:ne(3):sum() + module.bias:ne(3):sum())
            assert.equal(0, module.gradWeight:ne(7):sum() + module.gradBias:ne(7):sum())
         end
      end
   end)

   it('A5: a network of which a part is wrapped sends just that part', function()
      local inner = nn.Sequential():add(nn.Linear(4, 4)):add(nn.Linear(4, 4)):cuda()
      inner:get(2):share(inner:get(1), 'weight', 'gradWeight')
      local many = nn.DataParallelTable(1, true):add(inner, same.range(most))
      local outer = nn.Sequential():add(nn.Linear(300, 4):cuda()):add(many)
         :add(nn.Linear(4, 200):cuda())
      local flat, gradient = outer:getParameters()
      local unique = 4 * 4 + 4 + 4
      assert.equal(300 * 4 + 4 + unique + 4 * 200 + 200, flat:nElement())
      local input = torch.randn(2 * most, 300):cuda()
      outer:forward(input)
      for _ = 1, 3 do
         outer:zeroGradParameters()
         outer:forward(input)
         local before = same.copied()
         many:syncParameters()
         assert.equal(0, same.copied() - before)
         outer:backward(input, outer.output)
         flat:add(-0.01, gradient)
         before = same.copied()
         many:syncParameters()
         assert.equal((most - 1) * unique * 4, same.copied() - before)
      end
   end)

   it('A7: what was accumulated is one step of the joined batch', function()
      local one = wholeNetwork()
      local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
      local flat, gradient = many:getParameters()
      local input, gradOutput = whole(4 * most + 3, 5), whole(4 * most + 3, 3)
      one:zeroGradParameters()
      one:forward(input)
      one:backward(input, gradOutput)
      many:zeroGradParameters()
      local first = 1
      for _, rows in ipairs{1, most + 1, most, 2 * most + 1} do -- uneven parts
         many:forward(input:narrow(1, first, rows))
         many:backward(input:narrow(1, first, rows), gradOutput:narrow(1, first, rows))
         first = first + rows
      end
      same.bits(select(2, one:getParameters()), gradient)
      one:updateParameters(0.5)
      flat:add(-0.5, gradient)
      same.bits(one:forward(input), many:forward(input)) -- without a call of syncParameters
      local before = same.copied()
      for _ = 1, 3 do many:syncParameters() end
      assert.equal(0, same.copied() - before)
   end)

   describe('A8: clearState', function()
      local function network()
         return nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1))
            :add(nn.SpatialBatchNormalization(3)):add(nn.ReLU(true)):add(nn.SpatialMaxPooling(2, 2))
            :add(nn.View(27):setNumInputDims(3)):add(nn.Dropout(0.3)):add(nn.Linear(27, 4)):cuda()
      end

      for kind, choose in pairs(same.dispatchers) do
         it('1,000 times after a step leaves the live bytes flat, by ' .. kind, function()
            local many = choose(nn.DataParallelTable(1, true):add(network(), same.range(most)))
            local input = torch.randn(2 * most + 1, 2, 6, 6):cuda()
            local live = {}
            for step = 1, torture(1000) do
               many:zeroGradParameters()
               many:forward(input)
               many:backward(input, many.output)
               assert.equal(many, many:clearState())
               same.collect(many)
               for i = 1, most do
                  local bytes = same.liveBytes(i)
                  if step == 2 then live[i] = bytes end
                  if step > 2 then
                     assert.equal(live[i], bytes, ('device %d, step %d'):format(i, step))
                  end
               end
            end
         end)
      end

      it('reaches every replica, and the next forward works', function()
         local many = nn.DataParallelTable(1, true):add(network(), same.range(most))
         many:evaluate()
         local input = torch.randn(2 * most, 2, 6, 6):cuda()
         local output = many:forward(input):clone()
         many:clearState()
         many.impl:exec(function(replica)
            replica:apply(function(module)
               assert.equal(0, module.output:nElement())
               assert.equal(0, module.gradInput:nElement())
            end)
         end)
         same.bits(output, many:forward(input))
         many:backward(input, output)
      end)
   end)
end)
