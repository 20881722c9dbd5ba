-- The public behaviours that the original suite for nn.DataParallelTable relied on.
local dpt = require 'dpt'
local torch, nn, cutorch, optim = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim
local gpu = require 'spec.support.gpu'
local same = require 'spec.support.parallel'
local original = require 'spec.support.original'
local close, random, linear = original.close, original.random, original.linear

-- Returns a network that maps a table of image planes to a table of two numbers.
local function planes(size)
   local function narrows(dimension, count)
      local split = nn.ConcatTable()
      for i = 1, count do split:add(nn.Narrow(dimension, i, 1)) end
      return split
   end
   local net = nn.Sequential():add(nn.JoinTable(2))
      :add(nn.SpatialConvolutionMM(3, 8, 5, 5, 1, 1, 2)):add(nn.Threshold())
      :add(nn.SpatialConvolutionMM(8, 8, 5, 5, 1, 1, 2)):add(nn.Threshold())
      :add(nn.SpatialMaxPooling(4, 4)):add(nn.Reshape(size * size * 8 / 16))
      :add(nn.Linear(size * size * 8 / 16, 2)):add(narrows(2, 2))
   return net, function(inner, typename)
      return nn.Sequential():add(narrows(2, 3):type(typename)):add(inner)
         :add(nn.JoinTable(2):type(typename))
   end
end

original.each('nn.DataParallelTable as it was', function(typename, n, dispatch, table)
   it('trains on tables as one device does, also from a file', function()
      -- Floats of cuDNN depend on the number of rows, sums of gradients on the number of devices,
      -- and a maximum that rounding moves to a neighbour changes gradients by more than this
      -- tolerance. On a GPU, float sums therefore have a fixed order, and both networks continue
      -- from the same parameters after every step; doubles show there that several steps agree too.
      local floats, every = gpu.isHere and typename == 'torch.CudaTensor', 4
      if floats then
         every = 1
         dpt.setDeterministic(true)
         finally(function() dpt.setDeterministic(os.getenv 'DPT_DETERMINISTIC' == '1') end)
      end
      local inner, around = planes(16)
      for _, rows in ipairs{2 * n, 9, 15} do
         local one = around(inner:clone(), typename):type(typename)
         local many = around(table(inner), typename)
         many:clearState()
         many = torch.deserialize(torch.serialize(many))
         dispatch(many:findModules('nn.DataParallelTable')[1])
         local input = torch.rand(rows, 3, 16, 16):type(typename)
         local target = torch.rand(rows, 2):type(typename)
         local criterion = nn.MSECriterion():type(typename)
         local nets = {one, many}
         local flat, gradient, states = {}, {}, {}
         for k, net in ipairs(nets) do
            flat[k], gradient[k] = net:getParameters()
            states[k] = {learningRate = 0.1, momentum = 0.9, dampening = 0, nesterov = true}
         end
         for step = 1, 10 do
            for k, net in ipairs(nets) do
               optim.sgd(function()
                  net:zeroGradParameters()
                  local output = net:forward(input)
                  local loss = criterion:forward(output, target)
                  net:backward(input, criterion:backward(output, target))
                  return loss, gradient[k]
               end, flat[k], states[k])
               assert.equal(1, cutorch.getDevice())
            end
            many:get(2):syncParameters()
            close(one.output, many.output, typename)
            close(one.gradInput, many.gradInput, typename)
            close(flat[1], flat[2], typename)
            close(gradient[1], gradient[2], typename)
            if step % every == 0 then -- steps amplify rounding errors
               local from = many:get(2):get(1):parameters()
               for k, t in ipairs(one:parameters()) do t:copy(from[k]) end
            end
         end
      end
   end)

   it('accepts batches with fewer rows than devices', function()
      local net = nn.SpatialConvolution(3, 3, 3, 5):type(typename)
      local many = table(net)
      for _, rows in ipairs{n - 1, 2 * n - 1} do
         local input = random(typename, rows, 3, 10, 10)
         close(net:forward(input), many:forward(input), typename)
         local gradOutput = random(typename, rows, 3, 6, 8)
         close(net:updateGradInput(input, gradOutput),
            many:updateGradInput(input, gradOutput), typename)
      end
   end)

   it('accepts empty tensors in tables', function()
      local net = nn.Sequential():add(nn.SelectTable(2)):add(nn.Linear(10, 2)):type(typename)
      local many = table(net)
      local input = {torch.Tensor():type(typename), torch.ones(n, 10):type(typename)}
      close(net:forward(input), many:forward(input), typename)
      local gradOutput = random(typename, n, 2)
      close(net:backward(input, gradOutput)[2], many:backward(input, gradOutput)[2], typename)
   end)

   it('rejects types of the host', function()
      local many = table(nn.SpatialConvolution(3, 3, 3, 5))
      local wanted = 'wants a floating type of devices'
      assert.error_matches(function() many:type(typename:gsub('Cuda', 'Float')) end, wanted)
      assert.error_matches(function() many:float() end, wanted)
      assert.equal(many, many:type(typename))
   end)

   it('syncs by itself if the script forgets it', function()
      local net = nn.Sequential():add(nn.Linear(10, 10)):add(nn.ReLU(true))
         :add(nn.Linear(10, 10)):type(typename)
      local criterion, nets = nn.MSECriterion():type(typename), {net, table(net)}
      local flat, gradient = {}, {}
      for k, m in ipairs(nets) do flat[k], gradient[k] = m:getParameters() end
      for _ = 1, 10 do
         local input, target = random(typename, n, 10), random(typename, n, 10)
         for k, m in ipairs(nets) do
            optim.sgd(function()
               m:zeroGradParameters()
               local loss = criterion:forward(m:forward(input), target)
               m:backward(input, criterion:backward(m.output, target))
               return loss, gradient[k]
            end, flat[k], {learningRate = 1, momentum = 0})
         end
      end
      close(flat[1], flat[2], typename)
   end)

   it('is saved after getParameters', function()
      local many = table(nn.Linear(10, 10):type(typename))
      many:getParameters()
      many = dispatch(torch.deserialize(torch.serialize(many:clearState())))
      local input = random(typename, n, 10)
      assert.not_equal(0, many:forward(input):sum())
      many:getParameters()
      many.flattenedParams[1][1]:zero()
      many:syncParameters()
      assert.equal(0, many:forward(input):sum())
   end)

   it('returns the parameters of its own part in a flat network', function()
      local many = dispatch(nn.DataParallelTable(1, true, true)):type(typename)
      many:add(nn.Linear(10, 5):type(typename), same.range(n))
      local outer = nn.Sequential():add(nn.Linear(10, 10):type(typename)):add(many)
      outer:getParameters()
      outer:forward(random(typename, 7, 10))
      assert.equal(55, many.flattenedParams[1][1]:size(1))
      assert.equal(55, many.flattenedParams[1][2]:size(1))
   end)

   it('shows the modules of one network', function()
      local net = linear(typename)
      local modules = table(net, {1}, true):listModules()
      assert.equal(#net:listModules() + 1, #modules)
      assert.equal('nn.DataParallelTable', torch.type(modules[1]))
      assert.equal('nn.Sequential', torch.type(modules[2]))
      assert.equal(1, #modules[1]:findModules('nn.ReLU'))
   end)

   it('needs no gradInput', function()
      local net = nn.Sequential():add(nn.LookupTable(10, 10)):add(nn.Linear(10, 7))
         :add(nn.ReLU()):type(typename)
      local many = table(net, {1}, true)
      local input = torch.Tensor(5):random(10):type(typename)
      close(net:forward(input), many:forward(input), typename)
      local gradOutput = random(typename, 5, 7)
      assert.equal(net:backward(input, gradOutput):nElement(),
         many:backward(input, gradOutput):nElement())
   end)

   -- Returns three batches of 8 rows.
   local function batches()
      local inputs, gradOutputs = {}, {}
      for i = 1, 3 do
         inputs[i], gradOutputs[i] = random(typename, 8, 3), random(typename, 8, 7)
      end
      return inputs, gradOutputs
   end

   it('accumulates gradients', function()
      local net, inputs, gradOutputs = linear(typename), batches()
      local function run(m)
         m:zeroGradParameters()
         for i, input in ipairs(inputs) do
            m:forward(input)
            m:backward(input, gradOutputs[i])
         end
         m:updateParameters(0.5)
         return m:forward(inputs[1])
      end
      local expected = run(net:clone())
      for _, flat in ipairs{false, true} do
         close(expected, run(table(net, {1, flat}, true)), typename)
      end
   end)

   it('applies functions between steps', function()
      local net, inputs, gradOutputs = linear(typename), batches()
      local function run(m)
         m:apply(function() end)
         for i, input in ipairs(inputs) do
            m:zeroGradParameters()
            m:forward(input)
            m:backward(input, gradOutputs[i])
            m:updateParameters(0.1)
            m:apply(function() end)
         end
         return m:forward(inputs[1])
      end
      local expected = run(net:clone())
      for _, flat in ipairs{false, true} do
         close(expected, run(table(net, {1, flat}, true)), typename)
      end
   end)
end)
