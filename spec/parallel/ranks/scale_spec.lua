-- dpt.parallel.ranks.scale: modules of a script that ignore how much a gradient counts.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local scale = require 'dpt.parallel.ranks.scale'

describe('dpt.parallel.ranks.scale', function()
   -- A linear layer of a script, which adds `factor(scale)` times its gradient.
   local function network(factor, name)
      local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(nn.Linear(4, 2)):float()
      local module = net:get(3)
      module[name or 'accGradParameters'] = function(self, input, gradOutput, by)
         if name then self:updateGradInput(input, gradOutput) end
         nn.Linear.accGradParameters(self, input, gradOutput, factor(by or 1))
         return self.gradInput
      end
      return net, module
   end

   local function backward(net, list, gradOutput)
      local input = torch.randn(2, 3):float()
      net:forward(input)
      return scale.within('net', list, net.backward, net, input,
         gradOutput or torch.randn(2, 2):float(), 0.5)
   end

   local function heeded(by) return by end
   local function ignored() return 1 end

   it("finds a script's modules alone", function()
      assert.same({}, scale.foreign(nn.Sequential():add(nn.Linear(3, 2)), 'net'))
      local net, module = network(heeded)
      local list = scale.foreign(net, 'net')
      assert.equal(1, #list)
      assert.equal(module, list[1].module)
      assert.equal(4, list[1].number)
   end)

   it('lets those pass that heed it, once they have added something', function()
      for _, name in ipairs{false, 'backward'} do
         local net, module = network(heeded, name or nil)
         local list, method = scale.foreign(net, 'net'), rawget(module, name or 'accGradParameters')
         net:zeroGradParameters()
         backward(net, list, torch.zeros(2, 2):float())
         assert.equal(1, #list)
         backward(net, list)
         assert.equal(0, #list)
         assert.equal(method, rawget(module, name or 'accGradParameters'))
         assert.is_true(module.gradWeight:norm() > 0)
      end
   end)

   it('adds to gradients what there is to be added once', function()
      local net = network(heeded)
      local other = net:clone()
      local input, gradOutput = torch.randn(2, 3):float(), torch.randn(2, 2):float()
      for i, one in ipairs{net, other} do
         one:zeroGradParameters()
         one:forward(input)
         scale.within('net', i == 1 and scale.foreign(one, 'net') or {}, one.backward, one, input,
            gradOutput, 0.5)
      end
      assert.same(other:get(3).gradWeight:totable(), net:get(3).gradWeight:totable())
      assert.same(other:get(1).gradWeight:totable(), net:get(1).gradWeight:totable())
   end)

   it('looks at modules in the middle of a pass, with their transient fields', function()
      local Caches = torch.class('nn.ScaleSpecCaches_', 'nn.Linear')
      Caches.transient = {'cache'}
      function Caches:updateOutput(input)
         self.cache = input * 2
         return nn.Linear.updateOutput(self, input)
      end
      function Caches:accGradParameters(_, gradOutput, factor)
         nn.Linear.accGradParameters(self, self.cache, gradOutput, factor)
      end
      local net = nn.Sequential():add(nn.ScaleSpecCaches_(3, 2))
      local list, input = scale.foreign(net, 'net'), torch.randn(2, 3)
      assert.equal(1, #list)
      net:zeroGradParameters()
      net:forward(input)
      scale.within('net', list, net.backward, net, input, torch.ones(2, 2))
      assert.equal(0, #list)
      assert.is_true((net:get(1).gradWeight - torch.ones(2, 2) * input * 2):abs():max() < 1e-12)
   end)

   it('names those that ignore it, and leaves no hook', function()
      for _, name in ipairs{false, 'backward'} do
         local net, module = network(ignored, name or nil)
         local method = rawget(module, name or 'accGradParameters')
         assert.error_matches(function() backward(net, scale.foreign(net, 'net')) end,
            "net: module 4, a nn.Linear, ignores the argument 'scale' of "
               .. (name or 'accGradParameters'), 1, true)
         assert.equal(method, rawget(module, name or 'accGradParameters'))
      end
   end)

   it('names those that have no such argument', function()
      local net, module = network(heeded)
      module.accGradParameters = function(self, input, gradOutput)
         return self, input, gradOutput
      end
      assert.error_matches(function() scale.foreign(net, 'net') end, "net: module 4, a nn.Linear,"
         .. " has a method accGradParameters without the argument 'scale'", 1, true)
      module.accGradParameters = function() end -- it adds nothing
      assert.same({}, scale.foreign(net, 'net'))
   end)
end)
