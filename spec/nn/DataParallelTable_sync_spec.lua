-- Changes that a script makes to a network between steps reach all replicas at the next step.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local same = require 'spec.support.parallel'

local function make()
   return nn.Sequential():add(nn.Linear(5, 6)):add(nn.ReLU()):add(nn.Dropout(0.5))
      :add(nn.Linear(6, 6)):add(nn.Sequential():add(nn.MulConstant(2)):add(nn.Tanh()))
      :add(nn.Linear(6, 3)):cuda()
end

-- Each modifies a network already in use: a plain one, or replica 1 of a parallel one.
local changes = {
   ['replaces modules'] = function(net)
      net:replace(function(m) return torch.type(m) == 'nn.ReLU' and nn.Tanh():cuda() or m end)
   end,
   ['inserts a module'] = function(net) net:insert(nn.Sigmoid():cuda(), 2) end,
   ['inserts a module with parameters inside another'] = function(net)
      local layer = nn.Linear(6, 6):cuda()
      layer.weight:fill(0.1)
      layer.bias:fill(0.2)
      net:get(5):insert(layer, 2)
   end,
   ['removes a module'] = function(net) net:remove(2) end,
   ['puts another module into the list'] = function(net)
      net:get(5).modules[2] = nn.Exp():cuda()
   end,
   ['sets a constant'] = function(net) net:get(5):get(1).constant_scalar = 3 end,
   ['freezes a layer'] = function(net) net:get(4).accGradParameters = function() end end,
   ['overrides a method with an upvalue'] = function(net)
      local factor = 0.5
      net:get(2).updateOutput = function(self, input)
         self.output = input * factor
         return self.output
      end
   end,
   ['changes the class of an object'] = function(net)
      setmetatable(net:get(2), torch.getmetatable 'nn.Tanh')
   end,
   ['gives a weight other strides'] = function(net)
      local weight = net:get(4).weight
      weight:set(weight:storage(), weight:storageOffset(), 6, 1, 6, 6)
   end,
   ['resizes weights'] = function(net)
      local first, last = net:get(4), net:get(6)
      first.weight:resize(4, 6)
      first.gradWeight:resize(4, 6)
      first.bias:resize(4)
      first.gradBias:resize(4)
      last.weight:resize(3, 4)
      last.gradWeight:resize(3, 4)
   end,
   ['moves a weight to another storage'] = function(net)
      local layer = net:get(4)
      layer.weight:set(layer.weight:clone():mul(2))
      layer.gradWeight:set(layer.gradWeight:clone())
   end,
   ['sets another weight'] = function(net)
      local layer = net:get(4)
      layer.weight, layer.gradWeight = layer.weight:clone():mul(2), layer.gradWeight:clone()
   end,
}

same.dispatched('nn.DataParallelTable follows a script that', function(form)
   local most = same.most(4)
   same.seeded(11)

   -- One table for all tests, because starting workers takes longer than the tests themselves.
   local shared

   local function pair(flat)
      local one = make()
      one:get(3).p = 0
      shared = shared or nn.DataParallelTable(1):add(one, same.range(most))
      shared.modules[1], shared.flattenParams = one:clone(), flat
      shared.impl:applyChanges()
      shared:resetTransient()
      return one, shared
   end

   teardown(function() shared.impl:close() end)

   local function input(rows) return torch.randn(rows or 2 * most + 1, 5):cuda() end

   for name, change in pairs(changes) do
      it(name, function()
         for _, flat in ipairs{false, true} do
            local one, many = pair(flat)
            same.compare(one, many, input(), 1e-5)
            change(one)
            change(many:get(1))
            same.compare(one, many, input(), 1e-5)
            same.compare(one, many, input(most - 1), 1e-5)
         end
      end)
   end

   it('applies a dropout probability of 0', function()
      for _, change in ipairs{
         function(net) net:findModules('nn.Dropout')[1].p = 0 end,
         function(net) net:findModules('nn.Dropout')[1].train = false end,
         function(net) net:get(3):evaluate() end,
      } do
         local one, many = pair(true)
         many:get(1):get(3).p = 0.5
         many:forward(input())
         change(one)
         change(many:get(1))
         same.compare(one, many, input(), 1e-5)
      end
   end)

   it('calls replace, apply and findModules of the table itself', function()
      local one, many = pair(true)
      same.compare(one, many, input(), 1e-5)
      for _, net in ipairs{one, many} do
         assert.equal(net, net:replace(function(m)
            return torch.type(m) == 'nn.ReLU' and nn.Tanh():cuda() or m
         end))
      end
      same.compare(one, many, input(), 1e-5)
      for _, net in ipairs{one, many} do
         net:apply(function(m) if m.constant_scalar then m.constant_scalar = -1 end end)
         assert.equal(1, #net:findModules 'nn.MulConstant')
      end
      same.compare(one, many, input(), 1e-5)
      -- the whole network may be replaced
      for _, net in ipairs{one, many:get(1)} do net:remove() end
      many.modules[1] = nn.Sequential():add(many.modules[1])
      same.compare(one, many, input(), 1e-5)
   end)

   it('changes settings again and again, without new replicas', function()
      if most < 2 then return pending('needs 2 devices') end
      local one, many = pair(true)
      same.compare(one, many, input(), 1e-5)
      local replicas, parameters = many.impl.modules, many:getParameters()
      for step = 1, 3 do
         for _, net in ipairs{one, many:get(1)} do
            net:get(5):get(1).constant_scalar, net:get(2).note = step, step < 3 and 'a' or nil
         end
         same.compare(one, many, input(), 1e-5)
      end
      assert.equal(replicas, many.impl.modules)
      assert.equal(parameters, many:getParameters())
      for _, note in ipairs(many.impl:exec(function(m) return {m:get(2).note} end)) do
         assert.same({}, note)
      end
   end)

   it('changes entries of tables inside a module', function()
      local one, many = pair(true)
      for _, net in ipairs{one, many:get(1)} do
         local module = net:get(2)
         module.settings = {scale = {2, 3}}
         function module:updateOutput(given)
            self.output = given * self.settings.scale[2]
            return self.output
         end
         function module:updateGradInput(_, gradOutput)
            self.gradInput = gradOutput * self.settings.scale[2]
            return self.gradInput
         end
      end
      same.compare(one, many, input(), 1e-5)
      for _, net in ipairs{one, many:get(1)} do net:get(2).settings.scale[2] = 0.5 end
      same.compare(one, many, input(), 1e-5)
      for _, net in ipairs{one, many:get(1)} do net:get(2).settings = {scale = {0, 7}} end
      same.compare(one, many, input(), 1e-5)
   end)

   it('changes something between a forward and its backward', function()
      local one, many = pair(true)
      local x = input()
      for _, net in ipairs{one, many} do
         net:zeroGradParameters()
         net:forward(x)
      end
      for _, net in ipairs{one, many:get(1)} do
         net:get(4).accGradParameters = function() end
      end
      local gradOutput = one.output:clone():normal()
      same.close(one:backward(x, gradOutput), many:backward(x, gradOutput), 1e-5)
      same.close(select(2, one:parameters()), select(2, many:parameters()), 1e-5)
      if most < 2 then return end
      many:forward(x)
      many:get(1):remove(2)
      assert.error_matches(function() many:backward(x, gradOutput) end,
         'backward: the network was changed after its forward.*call forward again')
      one:remove(2)
      same.compare(one, many, x, 1e-5)
   end)

   it('flattens the network between a forward and its backward', function()
      local one, many = pair(false)
      local x = input()
      for _, net in ipairs{one, many} do
         net:zeroGradParameters()
         net:forward(x)
      end
      local _, gradient = nn.Sequential():add(many):getParameters()
      local gradOutput = one.output:clone():normal()
      one:backward(x, gradOutput)
      many:backward(x, gradOutput)
      same.close(select(2, one:getParameters()), gradient, 1e-5)
   end)

   it('writes to parameters of replicas by exec, which the next sync repairs', function()
      local one, many = pair(true)
      same.compare(one, many, input(), 1e-5)
      local ways = {
         function(m, i) if i > 1 then m:get(1).weight:fill(0) end end,
         function(m, i)
            if i > 1 then
               m:get(1).weight:set(m:get(1).weight:clone())
               m:get(1).gradWeight:set(m:get(1).gradWeight:clone():fill(1))
            end
         end,
         function(m, i) if i > 1 then m:get(4).gradBias:fill(9) end end,
      }
      for _, way in ipairs(ways) do
         many.impl:exec(way)
         many:syncParameters()
         same.checkReplicas(many)
         same.compare(one, many, input(), 1e-5)
      end
   end)

   it("sets fields by exec, which keep each replica's value", function()
      local _, many = pair(true)
      many:forward(input())
      many.impl:exec(function(m, i) m.mark = i end)
      many:forward(input())
      many:get(1):get(2).note = 'new'
      many:forward(input())
      for i, mark in ipairs(many.impl:exec(function(m) return {m.mark, m:get(2).note} end)) do
         assert.same({i, 'new'}, mark)
      end
   end)

   it('copies no bytes and no replicas without a change', function()
      local _, many = pair(true)
      local x = input()
      local function step()
         same.pass(many, x)
      end
      step()
      local replicas, moved = many.impl.modules, many.copiedBytes.parameters
      local plans = many.snapshot.objects
      for _ = 1, 3 do step() end
      assert.equal(replicas, many.impl.modules)
      assert.equal(moved, many.copiedBytes.parameters)
      assert.equal(plans, many.snapshot.objects) -- the same lists
   end)

   it('reaches replicas that are rebuilt between passes, with the update after it', function()
      local one, many = pair(true)
      same.compare(one, many, input(), 1e-5)
      for _, net in ipairs{one, many} do
         local first = net == many and many:get(1) or one
         first:get(4).note = torch.CudaTensor(2):fill(1)
         net:evaluate() -- replicas are copied again
         for _, t in ipairs(first:parameters()) do t:mul(0.5) end
      end
      local x = input()
      assert.is_true((one:forward(x) - many:forward(x)):abs():max() < 1e-5)
      same.checkReplicas(many)
   end)

   it('accesses a replica before the first forward', function()
      local _, many = pair(true)
      assert.equal('nn.Sequential', torch.type(many:get(most)))
      same.bits(many:get(1):parameters()[1], many:get(most):parameters()[1])
   end)

   it('sets values that can be sent, and copies the replicas again for others', function()
      if form ~= 'threads' or most < 2 then return end
      local one, many = pair(true)
      same.compare(one, many, input(), 1e-5)
      local routine = coroutine.create(function() end)
      many:get(1):get(5):get(2).updateOutput = function(_, given) return routine and given end
      for _ = 1, 2 do
         assert.error_matches(function() many:forward(input()) end, 'modules%[5%]%.modules%[2%]'
            .. '%.updateOutput of replica 1 was set and cannot be set on the other replicas: .*'
            .. 'routine')
      end
      many:get(1):get(5):get(2).updateOutput = nil
      same.compare(one, many, input(), 1e-5)
   end)
end)
