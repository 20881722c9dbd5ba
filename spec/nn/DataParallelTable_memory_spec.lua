-- Layouts of parameters: with gaps, without gradients, and the memory that flattening needs.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local run = require 'spec.support.run'
local same = require 'spec.support.parallel'

same.dispatched('nn.DataParallelTable takes', function(form)
   local most = same.most(4)
   same.seeded(13)

   -- Returns a network in which a weight and its gradient are columns of larger tensors.
   local function strided()
      local net = nn.Sequential():add(nn.Linear(5, 4)):add(nn.Linear(4, 3)):cuda()
      local layer = net:get(1)
      layer.weight:set(torch.CudaTensor(4, 9):normal():narrow(2, 3, 5))
      layer.gradWeight:set(torch.CudaTensor(4, 9):zero():narrow(2, 3, 5))
      assert(not layer.weight:isContiguous())
      return net
   end

   it('parameters with gaps and trains them', function()
      for _, flat in ipairs{false, true} do
         local one = strided()
         local many = nn.DataParallelTable(1, flat):add(strided(), same.range(most))
         same.copyParameters(many, one)
         for _ = 1, 2 do
            same.compare(one, many, torch.randn(9, 5):cuda(), 1e-5)
            one:updateParameters(0.1)
            many:updateParameters(0.1)
         end
         same.close(one:parameters(), many:parameters(), 1e-5)
         assert.equal(flat, many:get(1):get(1).weight:isContiguous())
         local parameters, gradients = many:getParameters()
         for _, t in ipairs{parameters, gradients} do
            assert.same({39}, t:size():totable())
            assert.is_true(t:isContiguous())
         end
         same.compare(one, many, torch.randn(9, 5):cuda(), 1e-5)
      end
      -- one such layer alone
      local layer = strided():get(1)
      layer.bias, layer.gradBias = nil, nil
      local many = nn.DataParallelTable(1, true):add(layer, same.range(most))
      assert.same({20}, many:getParameters():size():totable())
      same.compare(layer:clone(), many, torch.randn(9, 5):cuda(), 1e-5)
   end)

   it('a network without gradients, for inference', function()
      for _, flat in ipairs{false, true} do
         for _, layers in ipairs{{1, 3}, {1}} do
            local one = nn.Sequential():add(nn.Linear(5, 4)):add(nn.Tanh()):add(nn.Linear(4, 3))
               :cuda()
            local many = nn.DataParallelTable(1, flat):add(one:clone(), same.range(most))
            for _, k in ipairs(layers) do
               local layer = many:get(1):get(k)
               layer.gradWeight, layer.gradBias = nil, nil
            end
            many:evaluate()
            for _ = 1, 2 do
               local x = torch.randn(9, 5):cuda()
               same.close(one:forward(x), many:forward(x), 1e-5)
               for _, net in ipairs{one, many:get(1)} do net:get(1).weight:mul(0.5) end
            end
            if #layers == 1 then
               assert.error_matches(function() many:getParameters() end,
                  'wants a gradient for every parameter')
            end
         end
      end
   end)

   it('a network in which some layers have no gradients, and trains the others', function()
      local one = nn.Sequential():add(nn.Linear(5, 4)):add(nn.Tanh()):add(nn.Linear(4, 3)):cuda()
      local frozen = one:get(1)
      frozen.gradWeight, frozen.gradBias = nil, nil
      for _, method in ipairs{'accGradParameters', 'zeroGradParameters', 'updateParameters'} do
         frozen[method] = function() end
      end
      for _, flat in ipairs{false, true} do
         local many = nn.DataParallelTable(1, flat):add(one:clone(), same.range(most))
         local x = torch.randn(9, 5):cuda()
         for _ = 1, 3 do
            for _, net in ipairs{one, many} do
               net:zeroGradParameters()
               same.pass(net, x)
            end
            same.close(one:get(3).gradWeight, many:get(1):get(3).gradWeight, 1e-5)
            one:updateParameters(0.1)
            many:updateParameters(0.1)
            same.close(one:parameters(), many:parameters(), 1e-5)
         end
      end
   end)

   -- In a separate process: workers of other specs free memory when their states end.
   it('memory for the parameters once for each replica, when they become flat', function()
      assert.equal('nothing else', run.lua(([=[
         local dpt = require 'dpt'
         local nn, same = dpt.nn, require 'spec.support.parallel'
         local most = math.min(dpt.cutorch.getDeviceCount(), 4)
         local net = nn.Sequential():add(nn.Linear(200, 400)):add(nn.Linear(400, 300)):cuda()
         local bytes = 2 * 4 * (200 * 400 + 400 + 400 * 300 + 300)
         local many = same.dispatchers['%s'](nn.DataParallelTable(1)):add(net, same.range(most))
         collectgarbage()
         collectgarbage()
         collectgarbage 'stop'
         local before = {}
         for i = 1, most do before[i] = same.liveBytes(i) end
         many:getParameters()
         for i = 1, most do
            local more = same.liveBytes(i) - before[i]
            if more > 1.1 * bytes or i > 1 and more < bytes then
               print(('device %%d: %%.2f times'):format(i, more / bytes))
            end
         end
         io.write 'nothing else'
      ]=]):format(form)))
   end)

   it('outputs that were not joined before, and writes to none of them', function()
      local net = nn.ConcatTable():add(nn.ConcatTable():add(nn.Linear(5, 2)):add(nn.ReLU()))
         :add(nn.ConcatTable():add(nn.Linear(5, 3)):add(nn.Tanh())):cuda()
      local one = net:clone()
      local many = nn.DataParallelTable(1, true, false, {gather = false}):add(net, same.range(most))
      local x = torch.randn(9, 5):cuda()
      many:forward(x)
      for _, gather in ipairs{true, false, true} do
         many.gather = gather
         local output = many:forward(x)
         if gather then
            assert.is_false(rawequal(many.outputGpu[1], output))
            local kept = many.outputGpu[1][2][1]:clone()
            same.close(one:forward(x), output, 1e-5)
            same.bits(kept, many.outputGpu[1][2][1])
         end
      end
   end)
end)
