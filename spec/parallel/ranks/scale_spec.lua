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

   local function backward(net, look, gradOutput)
      local input = torch.randn(2, 3):float()
      net:forward(input)
      return scale.within(look, net.backward, net, input, gradOutput
         or torch.randn(2, 2):float(), 0.5)
   end

   local function heeded(by) return by end
   local function ignored() return 1 end

   it("finds a script's modules alone", function()
      assert.same({}, scale.look(nn.Sequential():add(nn.Linear(3, 2)), 'net').list)
      local net, module = network(heeded)
      local list = scale.look(net, 'net').list
      assert.equal(1, #list)
      assert.equal(module, list[1].module)
      assert.equal(4, list[1].number)
   end)

   it('lets those pass that heed it, once they have added something', function()
      for _, name in ipairs{false, 'backward'} do
         local net, module = network(heeded, name or nil)
         local look, method = scale.look(net, 'net'), rawget(module, name or 'accGradParameters')
         net:zeroGradParameters()
         backward(net, look, torch.zeros(2, 2):float())
         assert.equal(1, #look.list)
         backward(net, look)
         assert.equal(0, #look.list)
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
         local look = scale.look(one, 'net')
         if i == 2 then look.list = {} end
         scale.within(look, one.backward, one, input, gradOutput, 0.5)
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
      local look, input = scale.look(net, 'net'), torch.randn(2, 3)
      assert.equal(1, #look.list)
      net:zeroGradParameters()
      net:forward(input)
      scale.within(look, net.backward, net, input, torch.ones(2, 2))
      assert.equal(0, #look.list)
      assert.is_true((net:get(1).gradWeight - torch.ones(2, 2) * input * 2):abs():max() < 1e-12)
   end)

   it('follows what a script sets or removes later', function()
      local net, module = network(heeded)
      local look, input = scale.look(net, 'net'), torch.ones(2, 3):float()
      local function gradientOf(method)
         module.accGradParameters = method
         net:zeroGradParameters()
         for _ = 1, 2 do
            net:forward(input)
            scale.within(look, net.backward, net, input, torch.ones(2, 2):float(), 1)
            assert.equal(method, rawget(module, 'accGradParameters'))
         end
         return module.gradBias[1]
      end
      assert.equal(0, gradientOf(function() end)) -- frozen
      assert.equal(200, gradientOf(function(self, _, _, by) self.gradBias:add(100 * by) end))
      assert.equal(4, gradientOf(nil))
      for message, method in pairs{
         ["ignores the argument 'scale'"] = function(self, _, _, _) self.gradBias:add(100) end,
         ["without the argument 'scale'"] = function(self) self.gradBias:add(100) end,
      } do
         assert.error_matches(function() gradientOf(method) end, message)
      end
   end)

   it('leaves no hook on a module that stands twice in the network', function()
      local net, module = network(heeded)
      local twice = nn.Sequential():add(nn.ConcatTable():add(net):add(net)):add(nn.CAddTable())
         :float()
      local method = rawget(module, 'accGradParameters')
      twice:zeroGradParameters()
      backward(twice, scale.look(twice, 'net'))
      assert.equal(method, rawget(module, 'accGradParameters'))
   end)

   it('names those that ignore it, and leaves no hook', function()
      for _, name in ipairs{false, 'backward'} do
         local net, module = network(ignored, name or nil)
         local method = rawget(module, name or 'accGradParameters')
         assert.error_matches(function() backward(net, scale.look(net, 'net')) end,
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
      assert.error_matches(function() scale.look(net, 'net') end, "net: module 4, a nn.Linear,"
         .. " has a method accGradParameters without the argument 'scale'", 1, true)
      module.accGradParameters = function() end -- it adds nothing
      assert.same({}, scale.look(net, 'net').list)
   end)
end)
