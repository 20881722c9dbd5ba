local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local criterions = require 'spec.support.criterions'

-- Converts a tree of tensors to the types of one device.
local function onDevice(tree, typename)
   if torch.isTensor(tree) then
      return tree:type(tree:type():find('Long') and 'torch.CudaLongTensor' or typename)
   elseif type(tree) == 'table' then
      local result = {}
      for k, v in pairs(tree) do result[k] = onDevice(v, typename) end
      return result
   end
   return tree
end

describe('nn.DataParallelCriterion', function()
   if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end

   local most = same.most(8)
   local double = 'torch.CudaDoubleTensor'

   same.seeded(5)

   -- Returns a network that returns its input, tensor or table, with outputs left on their devices.
   local function through(n)
      return nn.DataParallelTable(1, false, false, {gather = false}):type(double)
         :add(nn.Identity():cudaDouble(), same.range(n))
   end

   for _, case in ipairs(criterions) do
      if not case.whole then
         it('with ' .. case.name .. ' is that of one device', function()
            local one = case.make():type(double)
            local original = one:clone()
            for n = 1, most do
               local net = through(n)
               local many = nn.DataParallelCriterion(one, {devices = same.range(n)})
               for _, rows in ipairs{1, 2, n, 2 * n + 1} do
                  local input = onDevice(case.input(rows), double)
                  local target = case.target and onDevice(case.target(rows), double)
                  local loss = original:forward(input, target)
                  local gradient = original:backward(input, target)
                  local function check(got, gradInput)
                     assert.near(loss, got, 1e-12 * math.max(1, math.abs(loss)))
                     same.close(gradient, gradInput, 1e-12)
                  end
                  -- outputs on their devices
                  local outputs = net:forward(input)
                  local got = many:forward(outputs, target)
                  local parts = many:backward(outputs, target)
                  assert.equal(math.min(n, rows), #parts)
                  check(got, net:backward(input, parts))
                  -- joined in one tensor; the target in host memory
                  local host = torch.isTensor(target)
                     and target:type(dpt.comm.hostType(target:type())) or target
                  check(many:forward(input, host), many:backward(input, host))
               end
            end
         end)
      end
   end

   -- Returns a network of two linear layers.
   local function network() return nn.Sequential():add(nn.Linear(6, 8)):add(nn.Tanh())
      :add(nn.Linear(8, 4)):add(nn.LogSoftMax()) end

   it('trains as one device does, for batches of any size, by both dispatchers', function()
      for k, n in ipairs{2, math.min(3, most), most} do
         for _, weights in ipairs{false, torch.rand(4):add(0.2)} do
            local one = network():cudaDouble()
            local many = nn.DataParallelTable(1, true, false, {gather = false}):type(double)
               :add(one:clone(), same.range(n))
            if k == 2 then many:threads() end
            local make = weights and nn.ClassNLLCriterion(weights) or nn.ClassNLLCriterion()
            local single = make:type(double)
            local split = nn.DataParallelCriterion(single:clone())
            local p1, g1 = one:getParameters()
            local p2, g2 = many:getParameters()
            local s1 = {learningRate = 0.3, momentum = 0.9}
            local s2 = {learningRate = 0.3, momentum = 0.9}
            for step = 1, 10 do
               local rows = ({2 * n, 1, 9, n - 1, 15})[step % 5 + 1]
               local x = torch.randn(rows, 6):type(double)
               local y = torch.rand(rows):mul(4):floor():add(1) -- in host memory
               local function feval(net, criterion, gradients, target)
                  return function()
                     net:zeroGradParameters()
                     local output = net:forward(x)
                     local loss = criterion:forward(output, target)
                     net:backward(x, criterion:backward(output, target))
                     return loss, gradients
                  end
               end
               local _, a = dpt.optim.sgd(feval(one, single, g1, y:type(double)), p1, s1)
               local _, b = dpt.optim.sgd(feval(many, split, g2, y), p2, s2)
               assert.near(a[1], b[1], 1e-12)
            end
            same.close(p1, p2, 1e-11)
         end
      end
   end)

   it('accepts an empty batch and one with fewer rows than devices', function()
      local net = through(most)
      local many = nn.DataParallelCriterion(nn.MSECriterion():type(double))
      local empty = torch.CudaDoubleTensor()
      local outputs = net:forward(empty)
      assert.same({}, outputs)
      assert.equal(0, many:forward(outputs, empty))
      assert.equal(0, net:backward(empty, many:backward(outputs, empty)):nElement())
      assert.equal(0, many:forward(empty, empty))
      assert.equal(0, many:backward(empty, empty):nElement())
      local x, y = torch.randn(1, 3):type(double), torch.randn(1, 3):type(double)
      assert.near(nn.MSECriterion():type(double):forward(x, y), many:forward(net:forward(x), y),
         1e-14)
   end)

   it('cuts a target in proportion where an output has several rows for each sample', function()
      -- 3 rows of output for each sample: parts of 9, 6, 6 rows, where an even split gives 7, 7, 7
      local n = math.min(3, most)
      local net = nn.DataParallelTable(1, false, false, {gather = false}):type(double)
         :add(nn.View(-1, 4):cudaDouble(), same.range(n))
      local one = nn.CrossEntropyCriterion():type(double)
      local many = nn.DataParallelCriterion(one:clone())
      local x = torch.randn(7, 3, 4):type(double)
      local y = torch.rand(21):mul(4):floor():add(1):type(double)
      assert.near(one:forward(x:view(-1, 4), y), many:forward(net:forward(x), y), 1e-13)
      same.close(one:backward(x:view(-1, 4), y):viewAs(x),
         net:backward(x, many:backward(net.output, y)), 1e-13)
   end)

   it('follows parts that the user chose', function()
      local n = math.min(3, most)
      local net = nn.DataParallelTable(1, false, false, {gather = false}):type(double)
         :add(nn.SelectTable(1):cudaDouble(), same.range(n))
      net.splitSpec = {function(value) return value:split(2, 1) end} -- 2, 2 and 1 rows
      local x, y = torch.randn(2 * n - 1, 3):type(double), torch.randn(2 * n - 1, 3):type(double)
      local one = nn.MSECriterion():type(double)
      local many = nn.DataParallelCriterion(one:clone())
      local outputs = net:forward{x}
      assert.equal(1, outputs[n]:size(1))
      assert.near(one:forward(x, y), many:forward(outputs, y), 1e-14)
      local gradients = many:backward(outputs, y)
      same.close(one:backward(x, y), dpt.comm.gather(gradients, 1, 1), 1e-14)
   end)

   it("detects a script's changes to the criterion", function()
      local one = nn.ClassNLLCriterion(torch.rand(3):add(0.5)):type(double)
      local many = nn.DataParallelCriterion(one, {devices = {1, 2}})
      local x, y = torch.randn(5, 3):type(double), torch.Tensor{1, 2, 3, 1, 2}
      local function check(changed)
         local before = many.impl
         assert.near(one:clone():forward(x, y:type(double)), many:forward(x, y), 1e-14)
         assert.equal(changed, before ~= many.impl)
      end
      check(true)
      check(false)
      one.weights[2] = 7
      check(true)
      one.sizeAverage = false
      check(true)
      check(false)
   end)

   it('queues the losses of all devices before it waits for one', function()
      local classes, order = {}, {}
      local Watched, parent = torch.class('dptspec.Watched', 'nn.MSECriterion', classes)
      function Watched:updateLoss(...)
         order[#order + 1] = 'queue ' .. cutorch.getDevice()
         return parent.updateLoss(self, ...)
      end
      function Watched:readTerms(...)
         order[#order + 1] = 'wait ' .. cutorch.getDevice()
         return parent.readTerms(self, ...)
      end
      local x = torch.randn(4, 2):type(double)
      nn.DataParallelCriterion(classes.Watched():type(double), {devices = {1, 2}})
         :forward(x, x)
      assert.same({'queue 1', 'queue 2', 'wait 1', 'wait 2'}, order)
   end)

   it('G8: returns one number, weighted by samples, on any number of devices', function()
      local x, y = torch.randn(9, 3):type(double), torch.randn(9, 3):type(double)
      local loss = nn.MSECriterion():type(double):forward(x, y)
      local means = {}
      for n = 1, most do
         local many = nn.DataParallelCriterion(nn.MSECriterion():type(double),
            {devices = same.range(n)})
         local got = many:forward(x, y)
         assert.equal('number', type(got))
         assert.near(loss, got, 1e-14)
         assert.same({9, 3}, many:backward(x, y):size():totable())
         means[n] = 0
         for _, part in ipairs(dpt.comm.scatter(x - y, same.range(n))) do
            means[n] = means[n] + part:pow(2):mean() / n
         end
      end
      -- the mean of the devices' means differs
      if most > 1 then assert.is_true(math.abs(means[2] - loss) > 1e-6) end
   end)

   it('is copied and saved without its copies, and changes its type', function()
      local many = nn.DataParallelCriterion(nn.ClassNLLCriterion(torch.rand(4)):cuda(),
         {devices = {1, 2}})
      local x, y = torch.randn(5, 4), torch.Tensor{1, 2, 3, 4, 1}
      local loss = many:forward(x:cuda(), y)
      for _, other in ipairs{many:clone(), torch.deserialize(torch.serialize(many)),
         many:clone():cudaDouble()} do
         assert.equal('nn.DataParallelCriterion', torch.type(other))
         assert.near(loss, other:forward(x:type(other:type()), y), 1e-6)
         assert.same({1, 2}, other.gpuAssignments)
      end
   end)

   describe('raises one error message for', function()
      local function mse(options)
         return nn.DataParallelCriterion(nn.MSECriterion():type(double), options)
      end
      local x = torch.randn(4, 3):type(double)

      it('wrong arguments', function()
         assert.error_matches(function() nn.DataParallelCriterion(nn.Linear(1, 1)) end,
            'wants an nn.Criterion as argument 1, got nn.Linear')
         assert.error_matches(function() mse{devices = {1, 1}} end, 'device 1 twice')
         assert.error_matches(function() mse{devices = {99}} end, 'got device 99')
         assert.error_matches(function() mse{dimension = 2} end,
            'no option dimension, wanted devices or dim')
         assert.error_matches(function() mse{dim = 0} end, 'dim wants')
         assert.error_matches(function() mse(7) end, 'table of options')
      end)

      it('a criterion without a denominator, naming its replica', function()
         local many = nn.DataParallelCriterion(nn.L1HingeEmbeddingCriterion():type(double))
         local _, message = pcall(many.forward, many, {x, x}, 1)
         assert.matches('In replica 2 of .* on device 2 of nn.DataParallelCriterion:.*'
            .. 'nn.L1HingeEmbeddingCriterion cannot be computed in parts', message)
         assert.error_matches(function() many:backward({x, x}, 1) end, 'a forward before it')
      end)

      it('outputs in host memory, targets of other sizes', function()
         assert.error_matches(function() mse():forward(x:double(), x) end,
            'torch.DoubleTensor in host memory')
         assert.error_matches(function() mse{devices = {1, 2}}:forward(x, x:narrow(1, 1, 3)) end,
            'the target has 3 rows, which cannot be cut as the 4 of the output are')
      end)

      it('a class out of range, naming its replica, and remains usable', function()
         local many = nn.DataParallelCriterion(nn.ClassNLLCriterion():type(double),
            {devices = {1, 2}})
         local y = torch.Tensor{1, 2, 3, 4}
         local _, message = pcall(many.forward, many, x, y)
         assert.matches('In replica 2 of 2 on device 2 .*has class 4 at element 2', message)
         y[4] = 1
         assert.near(nn.ClassNLLCriterion():forward(x:double(), y), many:forward(x, y), 1e-13)
      end)

      it('gradients that do not belong to the outputs', function()
         local net = through(2)
         local function back(list) return function() net:backward(x, list) end end
         assert.error_matches(back(x), 'needs a forward before it')
         local outputs = net:forward(x)
         assert.error_matches(back(x), 'gradOutput must be .* an entry for each of the 2 replica')
         assert.error_matches(back{outputs[1]}, 'got a list of 1')
         assert.error_matches(back{outputs[2], outputs[2]},
            'gradOutput%[1%] has a torch.CudaDoubleTensor on device 2, wanted on device 1')
      end)
   end)
end)
