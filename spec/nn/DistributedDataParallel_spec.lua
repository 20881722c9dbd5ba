-- nn.DistributedDataParallel in a world of one rank (DistributedDataParallel/sync,
-- DistributedDataParallel/inner, DistributedDataParallel/check, DistributedDataParallel/no_sync,
-- DistributedDataParallel/join, DistributedDataParallel/fields, DistributedDataParallel/gradients,
-- DistributedDataParallel/options); spec/distributed/training_spec.lua has several.
local dpt = require 'dpt'
local torch, nn, optim = dpt.torch, dpt.nn, dpt.optim

describe('nn.DistributedDataParallel of one rank', function()
   local input, gradOutput = torch.randn(5, 3):float(), torch.randn(5, 2):float()

   local function network()
      torch.manualSeed(3)
      return nn.Sequential():add(nn.Linear(3, 4)):add(nn.Dropout(0.2)):add(nn.Tanh())
         :add(nn.Linear(4, 2)):float()
   end

   it('belongs around nn.DataParallelTable, not into it', function()
      if dpt.cutorch.getDeviceCount() == 0 then return pending 'there is no device' end
      local inner = nn.Sequential():add(nn.DistributedDataParallel(nn.Linear(2, 1):cuda()))
      local wanted = 'write nn%.DistributedDataParallel%(nn%.DataParallelTable%(1%):add%(network'
      assert.error_matches(function() nn.DataParallelTable(1):add(inner, {1}) end, wanted)
      local many = nn.DataParallelTable(1):add(nn.Sequential():add(nn.Linear(3, 2):cuda()), {1})
      many:forward(torch.CudaTensor(2, 3):fill(1))
      many:get(1):add(inner)
      many:apply(function() end)
      assert.error_matches(function() many:forward(torch.CudaTensor(2, 3):fill(1)) end, wanted)
      inner:double()
      assert.error_matches(function() nn.DataParallel(inner, {devices = {1}}) end,
         'write nn%.DistributedDataParallel%(nn%.DataParallel%(network%)%) around all')
      assert.equal('torch.DoubleTensor', inner:get(1):get(1).weight:type()) -- it was not modified
   end)

   it('must wrap modules that copy a module', function()
      local wanted = 'copies would not add up gradients: take it out and write'
         .. ' nn%.DistributedDataParallel%(network%) around all'
      local inner = nn.DistributedDataParallel(nn.Linear(2, 1))
      assert.error_matches(function() nn.MapTable(inner) end, wanted)
      assert.error_matches(function()
         nn.Sequencer(nn.Sequential():add(inner)):forward(torch.ones(3, 2, 2))
      end, wanted)
   end)

   it('is the network inside', function()
      local bare = network()
      local net = nn.DistributedDataParallel(network())
      local x, dx = net:getParameters()
      local y, dy = bare:getParameters()
      for _, one in ipairs{net, bare} do
         torch.manualSeed(5)
         one:training()
         one:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput, 0.5)
         one:updateGradInput(input, gradOutput)
         one:accGradParameters(input, gradOutput)
         one:updateParameters(0.1)
      end
      assert.same(dy:totable(), dx:totable())
      assert.same(y:totable(), x:totable())
      assert.same(bare.output:totable(), net.output:totable())
      assert.same(bare.gradInput:totable(), net.gradInput:totable())
      assert.equal(2, #net:findModules 'nn.Linear')
      assert.equal('torch.FloatTensor', net:type())
      assert.equal('torch.DoubleTensor', net:double():get(1):get(1).weight:type())
      net:evaluate()
      assert.is_false(net:get(1):get(2).train)
      local count = 0
      net:apply(function() count = count + 1 end)
      assert.equal(5, count)
      net:clearState()
      assert.equal(0, net.output:nElement())
      assert.matches('rank 0 of 1 x nn.Sequential', tostring(net), 1, true)
   end)

   it('is written to files, and copied, as the network inside', function()
      local inner = network()
      local net = nn.DistributedDataParallel(inner)
      local loaded = torch.deserialize(torch.serialize{net = net, inner = inner})
      assert.equal('nn.Sequential', torch.type(loaded.net))
      assert.is_true(rawequal(loaded.net, loaded.inner))
      assert.same(inner:get(1).weight:totable(), loaded.net:get(1).weight:totable())
      assert.equal('nn.Sequential', torch.type(net:clone()))
      assert.equal('nn.Sequential', torch.type(require 'dpt.clone'{net}[1]))
   end)

   it('calls the inner noSync and syncGradients with one rank', function()
      local net = nn.DistributedDataParallel(network())
      local x, dx = net:getParameters()
      net:zeroGradParameters()
      assert.equal(7, net:noSync(function()
         net:forward(input)
         net:backward(input, gradOutput)
         return 7
      end))
      net:syncGradients()
      local before = x:clone()
      optim.sgd(function() return 0, dx end, x, {learningRate = 1})
      assert.is_true((before - dx - x):abs():max() < 1e-6)
      assert.error_matches(function() net:noSync(error, 'inside') end, 'inside')
   end)

   it('clips gradients and detects values that are not finite', function()
      local net = nn.DistributedDataParallel(network())
      local _, dx = net:getParameters()
      dx:fill(0)
      dx[1], dx[dx:nElement()] = 3, -4
      assert.near(5, net:clipGradNorm(10), 1e-6)
      assert.equal(3, dx[1])
      assert.near(5, net:clipGradNorm(1), 1e-6)
      assert.near(0.6, dx[1], 1e-6)
      assert.is_false(net:foundInf())
      for _, bad in ipairs{1 / 0, -1 / 0, 0 / 0} do
         dx[dx:nElement()] = bad
         assert.is_true(net:foundInf())
         net:clipGradNorm(1)
         assert.near(0.6, dx[1], 1e-6)
      end
      dx:fill(1e-5) -- large enough to show the 1e-6 of PyTorch's formula
      local norm = dx:norm()
      net:clipGradNorm(1e-6)
      assert.near(1e-5 * 1e-6 / (norm + 1e-6), dx[1], 1e-12)
      assert.error_matches(function() net:meanLoss(3.5) end, 'meanLoss before forward')
      net:forward(input)
      assert.equal(3.5, net:meanLoss(3.5))
      assert.error_matches(function() net:clipGradNorm(0) end,
         "clipGradNorm: argument 'maxNorm' is 0, wanted a number above 0", 1, true)
      assert.error_matches(function() net:meanLoss {} end,
         'wants a number as argument 1, got table')
   end)

   it('joins only its own batches', function()
      local net = nn.DistributedDataParallel(network())
      local keys = {}
      for key, value in net:join(pairs{a = 1, b = 2}) do keys[key] = value end
      assert.same({a = 1, b = 2}, keys)
      assert.error_matches(function() net:join(3) end, 'join wants a function as argument 1')
   end)

   it('rejects add on the wrapper, and backward before forward', function()
      local net = nn.DistributedDataParallel(network())
      for _, name in ipairs{'add', 'insert', 'remove'} do
         assert.error_matches(function() net[name](net, nn.Tanh(), 1) end,
            name .. ' would change what is around the network')
      end
      assert.error_matches(function() net:backward(input, gradOutput) end,
         'nn.DistributedDataParallel: backward before forward')
   end)

   it('reports wrong arguments', function()
      local function wrong(message, ...)
         local given = {...}
         assert.error_matches(function() nn.DistributedDataParallel(unpack(given, 1, 2)) end,
            message, 1, true)
      end
      wrong('wants an nn.Module as argument 1, got number', 3)
      wrong('wants a table of options as argument 2, got number', network(), 3)
      wrong('there is no option bucket, wanted buffers, checkAlike, evenBatches, group, hook,'
         .. ' overlap, reduce or sampler', network(), {bucket = 3})
      wrong("option reduce wants 'samples', 'ranks' or 'sum', got 'mean'", network(),
         {reduce = 'mean'})
      wrong("option hook wants 'half', 'bfloat16' or a function, got 'bf16'", network(),
         {hook = 'bf16'})
      wrong('option sampler wants what distributed.sampler returned, got 3', network(),
         {sampler = 3})
      wrong('got a network with another one of it inside: take that out',
         nn.Sequential():add(nn.DistributedDataParallel(network())))
      assert.error_matches(function()
         nn.DistributedDataParallel(network()):accUpdateGradParameters()
      end, 'would change each rank by its own rows alone')
      local net = nn.DistributedDataParallel(network(), {checkAlike = 2})
      assert.error_matches(function() net:checkAlike(3) end,
         "checkAlike: argument 'state' is of type number, wanted a table or nil")
   end)
end)
