--- Scripts that define their own modules and criterions.
local torch, nn, optim = require('dpt').torch, require('dpt').nn, require('dpt').optim
local places = require 'spec.support.places'
require 'spec.support.userclasses'

local function network()
   return nn.Sequential():add(nn.Linear(5, 6)):add(nn.SpecScale(6)):add(nn.SpecSwish(0.7))
      :add(nn.SpecResidual(nn.Linear(6, 6))):add(nn.Linear(6, 2))
end

local function train(place)
   local net = place.net(network(), function() require 'spec.support.userclasses' end)
   local criterion = place.move(nn.SpecCosh())
   local x, y = place.move(torch.randn(8, 5)), place.move(torch.randn(8, 2))
   local parameters, gradients = net:getParameters()
   local losses = {}
   for i = 1, 12 do
      local _, fs = optim.adadelta(function()
         net:zeroGradParameters()
         local loss = criterion:forward(net:forward(x), y)
         net:backward(x, criterion:backward(net.output, y))
         return loss, gradients
      end, parameters, {rho = 0.9, eps = 1e-3})
      losses[i] = fs[1]
   end
   return losses, {parameters, net.output, net.gradInput}
end

describe('a script with its own classes', function()
   it('trains the same at every place', function() places.agree(train, 1e-3) end)

   it('saves, copies, prints and checks them', function()
      local net = network():double()
      local x = torch.randn(3, 5):double()
      assert.truthy(tostring(net):find('nn.SpecScale(6)', 1, true))
      local y = net:forward(x):clone()
      local again = torch.deserialize(torch.serialize(net:clearState()))
      assert.equal(0, (again:forward(x) - y):abs():max())
      assert.equal('nn.SpecSwish', torch.type(again:get(3)))
      assert.equal(0, (net:clone():forward(x) - y):abs():max())
      assert.is_true(nn.Jacobian.testJacobian(net, x) < 1e-5)
      local scale = nn.SpecScale(4):double()
      assert.is_true(nn.Jacobian.testJacobianParameters(scale, torch.randn(3, 4):double(),
         scale.weight, scale.gradWeight) < 1e-5)
      assert.equal(1, #net:findModules('nn.SpecResidual'))
   end)

   it('changes methods of a class and of one object', function()
      local calls, old = 0, nn.Identity.updateOutput
      nn.Identity.updateOutput = function(self, input)
         calls = calls + 1
         return old(self, input)
      end
      finally(function() nn.Identity.updateOutput = old end)
      local net = nn.Sequential():add(nn.Identity()):add(nn.Linear(2, 2))
      net:get(2).accGradParameters = function() end -- frozen, as finetuning scripts do
      local x = torch.randn(3, 2)
      net:zeroGradParameters()
      net:backward(x, net:forward(x))
      assert.equal(1, calls)
      assert.equal(0, net:get(2).gradWeight:abs():max())
   end)
end)
