-- Gradients that noSync left on replicas: an update uses the whole sum or raises.
local dpt = require 'dpt'
local torch, nn, optim, cutorch = dpt.torch, dpt.nn, dpt.optim, dpt.cutorch
local same = require 'spec.support.parallel'
local Fuse = require('spec.support.modules').Fuse

same.dispatched('nn.DataParallelTable after noSync', function()
   local most = same.most(3)
   local one, many, parameters, gradients, x, g

   before_each(function()
      torch.manualSeed(9)
      cutorch.setDevice(1)
      one = nn.Sequential():add(nn.Linear(4, 5)):add(nn.Tanh()):add(Fuse())
         :add(nn.Linear(5, 2)):cuda()
      many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
      x, g = torch.randn(7, 4):cuda(), torch.randn(7, 2):cuda()
      parameters, gradients = many:getParameters()
      same.zero(one, many)
   end)

   local function pass(net)
      same.pass(net, x, g)
   end

   local function gather()
      pass(one)
      many:noSync(pass, many)
   end

   it("optim's functions use the whole sum", function()
      for _, name in ipairs{'sgd', 'adam', 'rmsprop', 'lbfgs', 'cg'} do
         local mine, theirs = one:getParameters()
         for _ = 1, 2 do
            local config = {learningRate = 0.1, maxIter = 1}
            same.zero(one, many)
            optim[name](function() pass(one) return 0, theirs end, mine, config)
            config = {learningRate = 0.1, maxIter = 1}
            optim[name](function()
               many:noSync(pass, many)
               return 0, gradients
            end, parameters, config)
            same.close(mine, parameters, 1e-5)
         end
      end
   end)

   it('optim.FistaLS, which evaluates at its own points, uses the whole sum', function()
      local function minimize(net, step)
         local point, gradient = net:getParameters()
         local function zero() return 0 end
         return (optim.FistaLS(function(at)
            point:copy(at)
            net:zeroGradParameters()
            step(net)
            return net.output:dot(g), gradient
         end, zero, zero, point, {maxiter = 3, L = 100}))
      end
      same.close(minimize(one, pass), minimize(many, function() many:noSync(pass, many) end),
         1e-5)
   end)

   it('an opfunc that returns a copy of one part raises', function()
      if most < 2 then return pending('needs 2 devices') end
      local before = parameters:clone()
      assert.error_matches(function()
         optim.sgd(function()
            many:noSync(pass, many)
            return 0, gradients:clone()
         end, parameters, {})
      end, 'copy of one replica.s part.*call syncGradients%(%) in opfunc')
      same.bits(before, parameters)
   end)

   it('updateParameters uses the whole sum, also when called from outside', function()
      local outer = nn.Sequential():add(many)
      gather()
      one:updateParameters(0.1)
      outer:updateParameters(0.1)
      same.close(one:getParameters(), parameters, 1e-5)
      same.checkReplicas(many)
   end)

   it('an update by hand raises at the next forward, until gradients are cleared', function()
      gather()
      parameters:add(-0.1, gradients)
      for _ = 1, 2 do
         assert.error_matches(function() many:forward(x) end,
            'parameters were written to while replicas hold parts of the gradients')
      end
      many:zeroGradParameters()
      same.compare(many:get(1):clone(), many, x, 1e-5)
   end)

   it('writes of a pass to parameters do not count as an update', function()
      local net = nn.LookupTable(9, 3, nil, 0.5):cuda()
      local table = nn.DataParallelTable(1, true):add(net, same.range(most))
      local words = torch.CudaTensor{{1, 2}, {3, 4}, {5, 6}}
      table:noSync(function()
         for _ = 1, 3 do table:backward(words, table:forward(words)) end
      end)
      table:syncGradients()
   end)

   local function arm(blows)
      many.impl:exec(function(replica) replica:get(3).blows = blows end)
   end

   it('a backward that fails before it adds anything keeps pending gradients', function()
      gather()
      one:zeroGradParameters()
      pass(one)
      pass(one)
      many:forward(x)
      for _, method in ipairs{'noSync', 'outside'} do
         assert.is_false(pcall(method == 'noSync' and function()
            many:noSync(function() many:backward(x, {}) end)
         end or function() many:backward(x, {}) end))
      end
      many:backward(x, g)
      same.close(select(2, one:getParameters()), gradients, 1e-5)
      same.checkReplicas(many)
   end)

   it('a backward that fails after it has added something invalidates the sum', function()
      gather()
      many:forward(x)
      arm{updateGradInput = {[most] = 'blown'}}
      assert.error_matches(function() many:backward(x, g) end, 'blown')
      arm{}
      local lost = 'a backward failed after it had added to gradients'
      for _, f in ipairs{
         function() many:syncGradients() end,
         function() many:updateParameters(0.1) end,
         function() optim.sgd(function() return 0, gradients end, parameters, {}) end,
         function()
            same.pass(many, x, g)
         end,
      } do
         assert.error_matches(f, lost)
      end
      many:zeroGradParameters()
      same.compare(many:get(1):clone(), many, x, 1e-5)
   end)
end)
