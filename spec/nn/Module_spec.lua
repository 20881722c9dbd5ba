--- nn.Module: methods that all layers have.
local function mlp()
   return nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(nn.Linear(4, 2))
end

local function same(a, b) return (a - b):abs():max() == 0 end

describe('nn.Module', function()
   it('returns parameters with their gradients, or nil', function()
      local w, gw = nn.Linear(3, 2):parameters()
      assert.are.equal(2, #w)
      assert.are.equal(2, #gw)
      assert.is_nil((nn.Tanh():parameters()))
      assert.are.equal(1, #(nn.Linear(3, 2, false):parameters()))
   end)

   it('is forward and backward when called', function()
      local m = nn.Linear(3, 2)
      local x = torch.rand(4, 3)
      assert.are.equal(m.output, m(x))
      local out, gradInput = m(x, torch.rand(4, 2))
      assert.are.equal(m.output, out)
      assert.are.equal(m.gradInput, gradInput)
   end)

   it('returns one tensor object as output for ever', function()
      local m = nn.Linear(3, 2)
      local first = m:forward(torch.rand(4, 3))
      assert.are.equal(first, m:forward(torch.rand(5, 3)))
      assert.are.equal(5, first:size(1))
   end)

   it('descends by updateParameters', function()
      local m = nn.Linear(2, 2)
      local before = m.weight:clone()
      m.gradWeight:fill(2)
      m.gradBias:fill(0)
      m:updateParameters(0.25)
      assert.is_true(same(before - 0.5, m.weight))
      m:zeroGradParameters()
      assert.are.equal(0, m.gradWeight:abs():max())
   end)

   it('updates equally by accUpdateGradParameters, alone and shared', function()
      for _, make in ipairs{
         function() return nn.Linear(3, 2), torch.rand(4, 3) end,
         function() return nn.SpatialConvolution(1, 2, 2, 2), torch.rand(2, 1, 3, 3) end,
         function() return nn.CMul(3), torch.rand(4, 3) end,
         function() return nn.Add(3), torch.rand(4, 3) end,
         function() return nn.LookupTable(5, 2), torch.LongTensor{1, 4, 1} end,
         function() return nn.TemporalConvolution(3, 2, 2), torch.rand(4, 3) end,
      } do
         local m, x = make()
         for name, difference in pairs(nn.Jacobian.testAllUpdate(m, x,
            m.weight and 'weight' or 'bias',
            m.weight and 'gradWeight' or 'gradBias')) do
            assert.is_true(difference < 1e-9, torch.type(m) .. ' ' .. name .. ' ' .. difference)
         end
      end
   end)

   it('is unchanged after a file, by nn.Jacobian.testIO, which does not change the input',
      function()
      local ids = torch.LongTensor{1, 4, 1}
      assert.same({0, 0}, {nn.Jacobian.testIO(nn.LookupTable(5, 2), ids)})
      assert.same({1, 4, 1}, ids:totable())
      local Wrong, parent = torch.class('moduleSpec.Keeps', 'nn.Linear', {})
      function Wrong:clearState() parent.clearState(self) end
      local function testIO()
         local make = torch.getconstructortable 'moduleSpec.Keeps'
         return nn.Jacobian.testIO(make(3, 2), torch.ones(3))
      end
      assert.error_matches(testIO, 'clearState did not return self')
      function Wrong:clearState() return parent.clearState(self) end
      function Wrong:backward() error 'not called' end
      assert.same({0, 0}, {testIO()})
      function Wrong:__write(file)
         file:writeObject {weight = self.weight + 1, bias = self.bias}
      end
      function Wrong:__read(file)
         parent.__init(self, 3, 2)
         local fields = file:readObject()
         self.weight, self.bias = fields.weight, fields.bias
      end
      assert.is_true(testIO() > 0.5)
   end)

   it('clones without sharing, or shares the named fields', function()
      local a = mlp()
      local b, c = a:clone(), a:clone('weight')
      a:get(1).weight:fill(7)
      a:get(1).bias:fill(8)
      assert.is_true(b:get(1).weight:max() < 7)
      assert.are.equal(7, c:get(1).weight:min())
      assert.is_true(c:get(1).bias:max() < 8)
      assert.is_true(c:get(1).shared)
   end)

   it('keeps shared tensors shared through a change of type', function()
      local a = nn.Linear(2, 2)
      local net = nn.Sequential():add(a):add(a:clone('weight', 'gradWeight')):float()
      net:get(1).weight:fill(3)
      assert.are.equal(3, net:get(2).weight:min())
      assert.are.equal('torch.FloatTensor', net:type())
      assert.are.equal('torch.FloatTensor', torch.type(net:get(2).output))
      local cache = {}
      local m = nn.Linear(2, 2)
      local n = m:clone('weight')
      m:float(cache)
      n:float(cache)
      m.weight:fill(5)
      assert.are.equal(5, n.weight:min())
   end)

   it('walks, lists, finds and replaces modules', function()
      local net = nn.Sequential():add(nn.Concat(1):add(nn.Tanh()):add(nn.ReLU()))
         :add(nn.Linear(2, 2))
      local names = {}
      net:apply(function(m) names[#names + 1] = torch.type(m) end)
      assert.are.same({'nn.Sequential', 'nn.Concat', 'nn.Tanh', 'nn.ReLU', 'nn.Linear'}, names)
      assert.are.equal(5, #net:listModules())
      local found, containers = net:findModules('nn.ReLU')
      assert.are.equal(1, #found)
      assert.are.equal('nn.Concat', torch.type(containers[1]))
      net:replace(function(m) return torch.type(m) == 'nn.Tanh' and nn.Sigmoid() or m end)
      assert.are.equal('nn.Sigmoid', torch.type(net:get(1):get(1)))
   end)

   it('sets training and evaluation in every module', function()
      local net = nn.Sequential():add(nn.Dropout()):add(nn.Sequential():add(nn.Tanh()))
      net:evaluate()
      assert.is_false(net:get(2):get(1).train)
      net:training()
      assert.is_true(net:get(1).train)
   end)

   it('forgets its state by clearState', function()
      local net = mlp()
      local x = torch.rand(5, 3)
      local out = net:forward(x):clone()
      net:backward(x, torch.rand(5, 2))
      assert.are.equal(net, net:clearState())
      assert.are.equal(0, net.output:nElement())
      assert.are.equal(0, net:get(1).output:nElement())
      assert.are.equal(0, net:get(2).gradInput:nElement())
      assert.is_true(same(out, net:forward(x)))
   end)

   it('raises for unknown modules and methods', function()
      assert.has_error(function() return nn.NoSuchModule() end)
      assert.has_error(function() return nn.Linear(2, 2):noSuchMethod() end)
   end)

   it('computes no gradient for the input if gradInput is nil', function()
      for _, case in ipairs{{nn.Linear(3, 2), torch.rand(4, 3)},
         {nn.SpatialConvolution(1, 2, 2, 2), torch.rand(2, 1, 3, 3)}} do
         local m, x = case[1], case[2]
         m.gradInput = nil
         local out = m:forward(x)
         assert.is_nil(m:backward(x, out:clone()))
      end
   end)
end)
