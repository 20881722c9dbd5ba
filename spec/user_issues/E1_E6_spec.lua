-- Rows E1 to E6: problems reported with nn's flat parameters, types and clones
-- (docs/user-issues.md).
local dpt = require 'dpt'
local torch, nn, cutorch, optim = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim
local same = require 'spec.support.parallel'

local function live(device)
   collectgarbage()
   collectgarbage()
   return cutorch.memoryStats(device).live
end

-- Returns by how many bytes the memory of device grew at most while f ran.
local function peak(device, f)
   local before = live(device)
   cutorch.resetPeakMemory(device)
   f()
   return cutorch.memoryStats(device).peak - before
end

describe('users of nn', function()
   local most = same.most(4)
   same.seeded(4)

   local function mlp() return nn.Sequential():add(nn.Linear(3, 4)):add(nn.Linear(4, 2)) end

   describe('E1: getParameters', function()
      it('gives the same storage again while the structure is the same', function()
         for _, net in ipairs{mlp(), mlp():cuda(),
            nn.DataParallelTable(1, true):add(mlp():cuda(), same.range(most))} do
            local p, g = net:getParameters()
            for _ = 1, 3 do
               local q, h = net:getParameters()
               assert.is_true(p:isSetTo(q) and g:isSetTo(h))
               assert.is_true(p:storage() == q:storage())
            end
            p:fill(5)
            assert.equal(0, net:get(1).weight and net:get(1).weight:ne(5):sum()
               or net:get(1):get(1).weight:ne(5):sum())
            assert.is_true(pcall(optim.sgd, function() return 0, g end, p, {learningRate = 0.1}))
         end
      end)

      it('after a change marks the old ones: descent on them raises', function()
         for _, wrap in ipairs{function(net) return net end,
            function(net) return nn.DataParallelTable(1, true):add(net, same.range(most)) end} do
            local inner = mlp():cuda()
            local net = wrap(inner)
            local p, g = net:getParameters()
            local values = p:clone()
            inner:add(nn.Linear(2, 2):cuda())
            local q, h = net:getParameters()
            assert.equal(p:nElement() + 6, q:nElement())
            same.bits(values, p) -- still readable
            for _, method in ipairs{'sgd', 'adam', 'rmsprop', 'lbfgs'} do
               assert.error_matches(function()
                  optim[method](function() return 0, g end, p, {maxIter = 1})
               end, 'optim.' .. method .. ": argument 'x' holds parameters that have moved")
            end
            assert.is_true(pcall(optim.sgd, function() return 0, h end, q, {}))
         end
      end)

      it('of a network around another marks what the inner one gave', function()
         local inner = mlp()
         local p, g = inner:getParameters()
         local outer = nn.Sequential():add(inner):add(nn.Linear(2, 2))
         outer:getParameters()
         assert.error_matches(function() optim.sgd(function() return 0, g end, p, {}) end,
            'call getParameters again')
         local q, h = inner:getParameters()
         optim.sgd(function() return 0, h end, q, {})
      end)
   end)

   it('E2: flattening takes as much as the parameters at most, and nothing where they are flat',
      function()
         local function big()
            local net = nn.Sequential()
            for _ = 1, 6 do net:add(nn.Linear(512, 512)) end
            return net:cuda()
         end
         local bytes = 2 * 6 * (512 * 512 + 512) * 4 -- including gradients
         local net = big()
         assert.is_true(peak(1, function() net:getParameters() end) <= bytes + 64 * 512)
         assert.equal(0, peak(1, function() net:getParameters() end))
         local many = nn.DataParallelTable(1, true):add(big(), same.range(most))
         many:syncParameters()
         for i = 1, most do
            assert.is_true(peak(i, function() many:getParameters() end) <= bytes + 64 * 512)
            assert.equal(0, peak(i, function() many:getParameters() end))
         end
         -- tensors with gaps in memory keep their values
         local wide = torch.randn(20, 40):cuda()
         local linear = nn.Linear(10, 20):cuda()
         linear.weight:set(wide:narrow(2, 11, 10))
         local p = linear:getParameters()
         assert.equal(220, p:storage():size())
         same.bits(wide:narrow(2, 11, 10), linear.weight)
         same.bits(wide:narrow(2, 11, 10):clone():view(-1), p:narrow(1, 1, 200))
      end)

   it('E3: tied weights are there once, at one place, and their gradients are summed once',
      function()
         local net = nn.Sequential():add(nn.Linear(4, 4)):add(nn.Tanh()):add(nn.Linear(4, 4)):cuda()
         net:get(3):share(net:get(1), 'weight', 'gradWeight')
         local many = nn.DataParallelTable(1, true):add(net, same.range(most))
         local a, b = nn.Linear(4, 4):cuda(), nn.Linear(4, 4):cuda() -- equal, but not tied
         for from, to in pairs{[net:get(1)] = a, [net:get(3)] = b} do
            same.copyParameters(to, from)
         end
         local apart = nn.Sequential():add(a):add(nn.Tanh():cuda()):add(b)
         local p, g = many:getParameters()
         assert.same({4 * 4 + 8, 4 * 4 + 8}, {p:nElement(), g:nElement()})
         for i = 1, most do
            local replica = many:get(i)
            for _, layer in ipairs{replica:get(1), replica:get(3)} do
               assert.equal(replica:get(1).weight:storageOffset(), layer.weight:storageOffset())
               for _, name in ipairs{'Weight', 'Bias'} do
                  assert.equal(layer[name:lower()]:storageOffset(),
                     layer['grad' .. name]:storageOffset())
               end
            end
            assert.is_true(replica:get(1).weight:isSetTo(replica:get(3).weight))
         end
         local x, gradOutput = torch.randn(9, 4):cuda(), torch.randn(9, 4):cuda()
         for _, one in ipairs{many, apart} do
            one:zeroGradParameters()
            one:forward(x)
            one:backward(x, gradOutput)
         end
         same.close(torch.add(a.gradWeight, b.gradWeight), net:get(1).gradWeight, 1e-5)
         same.close(a.gradBias, net:get(1).gradBias, 1e-5)
      end)

   it('E4: parameters of two types are a flat tensor for each, or an error that says whose',
      function()
         local net = nn.Sequential():add(nn.Linear(3, 4):cuda())
            :add(nn.Copy('torch.CudaTensor', 'torch.CudaDoubleTensor'))
            :add(nn.Sequential():add(nn.Linear(4, 2):cudaDouble()))
         assert.error_matches(function() net:getParameters() end,
            'parameter 1 is a torch.CudaTensor and 3 a torch.CudaDoubleTensor:'
               .. ' modules%[1%].weight and modules%[3%].modules%[1%].weight$')
         local many = nn.DataParallelTable(1, true):add(net, same.range(most))
         many:forward(torch.randn(2 * most, 3):cuda())
         for i = 1, most do
            local flat = many.flattenedParams[i]
            assert.same({'torch.CudaTensor', 16, 'torch.CudaDoubleTensor', 10}, {flat[1]:type(),
               flat[2]:nElement(), flat[3]:type(), flat[4]:nElement()})
         end
         assert.error_matches(function() many:getParameters() end,
            'torch.CudaTensor and torch.CudaDoubleTensor; flattenedParams has all')
      end)

   it('E6: a clone takes the memory of parameters and buffers', function()
      local function network()
         return nn.Sequential():add(nn.Linear(300, 200)):add(nn.BatchNormalization(200))
            :add(nn.ConcatTable():add(nn.Linear(200, 50)):add(nn.Identity())):cuda()
      end
      local parameters = 300 * 200 + 200 + 2 * 200 + 200 * 50 + 50
      local bytes = (2 * parameters + 2 * 200) * 4
      local net = network()
      local x = torch.randn(1000, 300):cuda()
      for _, wrapped in ipairs{false, true} do
         if wrapped then net = nn.DataParallelTable(1, true):add(network(), same.range(most)) end
         local output = net:forward(x)
         net:backward(x, output)
         net:clearState()
         local before = {}
         for i = 1, most do before[i] = live(i) end
         local copy = net:clone()
         local more = live(1) - before[1]
         assert.is_true(more >= bytes and more < bytes + 32 * 512, more .. ' bytes for ' .. bytes)
         for i = 2, most do assert.equal(before[i], live(i)) end
         assert.equal(torch.type(net), torch.type(copy)) -- keeps copy alive
      end
   end)
end)
