--- Forms of nn's classes that Torch7 scripts use: batches and single samples, two inputs,
-- persistent objects, copies through files.
local check = require 'spec.support.jacobian'
local torch, nn = torch, nn

local function random(...)
   local size = {...}
   return function() return torch.rand(unpack(size)):mul(2):add(-1) end
end

-- Calls f for host and device with a type name and a function that converts tensors to it.
local function eachSide(f)
   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor'} do
      f(typename, function(t) return t:type(typename) end)
   end
end

describe('For scripts of Torch7', function()
   before_each(function() torch.manualSeed(17) end)

   for name, size in pairs{BatchNormalization = {3}, SpatialBatchNormalization = {3, 2, 4},
      VolumetricBatchNormalization = {3, 2, 2, 1}} do
      it(name .. ' takes one sample in evaluation and returns a batch of one', function()
         eachSide(function(typename, on)
            local m = nn[name](3):type(typename)
            m.running_mean:copy(torch.rand(3))
            local x = on(random(unpack(size))())
            assert.error_matches(function() m:forward(x) end, 'dimensions')
            m:evaluate()
            local y = m:forward(x):clone()
            assert.same(#size + 1, y:dim())
            local g = on(random(unpack(size))())
            local gradient = m:backward(x, g):clone()
            local batch = x:view(1, unpack(size))
            assert.equal(0, (m:forward(batch) - y):abs():max())
            assert.equal(0, (m:backward(batch, g:viewAs(batch)) - gradient):abs():max())
            assert.equal(#size, x:dim())
         end)
      end)
   end

   it('nn.PReLU selects the plane dimension in batches and in an image', function()
      for _, size in ipairs{{3}, {2, 3}, {3, 2, 4}, {2, 3, 4}, {2, 3, 2, 2}} do
         check.module(function()
            local m = nn.PReLU(3)
            m.weight:copy(torch.Tensor{0.1, 0.2, 0.3})
            return m
         end, random(unpack(size)))
      end
      local m = nn.PReLU(2)
      m.weight[2] = 0.5
      local x = torch.Tensor(2, 1, 2):fill(-1)
      assert.same({{{-0.25, -0.25}}, {{-0.5, -0.5}}}, m:forward(x):totable())
      assert.same({{{-0.25}, {-0.5}}}, m:forward(x:view(1, 2, 2):narrow(3, 1, 1)):totable())
   end)

   it('full convolutions use the size of a second input', function()
      eachSide(function(typename, on)
         for _, case in ipairs{{nn.SpatialFullConvolution(2, 3, 3, 2, 2, 3), {2, 2, 3}, {6, 8}},
            {nn.VolumetricFullConvolution(1, 2, 2, 3, 2, 2, 2, 3), {1, 2, 2, 2}, {5, 6, 6}}} do
            local m, x = case[1]:type(typename), on(random(unpack(case[2]))())
            local target = on(torch.rand(unpack(case[3])))
            local y = m:forward{x, target}
            for d, n in ipairs(case[3]) do assert.equal(n, y:size(d + 1)) end
            local gradInput = m:backward({x, target}, y:clone())
            assert.is_true(gradInput[1]:isSameSizeAs(x) and gradInput[2]:isSameSizeAs(target))
            assert.equal(0, gradInput[2]:abs():max())
            assert.equal(1, gradInput[2]:storage():size())
         end
      end)
   end)

   it('fractional pooling keeps its random numbers, and volumes have T last', function()
      eachSide(function(typename, on)
         local m = nn.VolumetricFractionalMaxPooling(2, 2, 3, 0.5, 0.6, 0.4):type(typename)
         local x = on(torch.rand(2, 2, 10, 8, 9))
         assert.same({2, 2, 4, 4, 4}, m:forward(x):size():totable())
         assert.equal('nn.VolumetricFractionalMaxPooling(0x0x0, 2,2,3)', tostring(m))
         local s = nn.SpatialFractionalMaxPooling(2, 2, 3, 4):type(typename):fixPoolingRegions()
         s:initSampleBuffer_(x:select(5, 1))
         local samples = s.randomSamples:clone()
         assert.same({2, 2, 4, 3}, s:forward(x:select(5, 1)):size():totable())
         assert.equal(0, (samples - s.randomSamples):abs():max())
         s:empty()
         assert.is_nil(s.randomSamples)
      end)
   end)

   it('nn.Parallel calls as many modules as there are slices', function()
      local m = nn.Parallel(2, 1)
      for _ = 1, 3 do m:add(nn.Linear(2, 2)) end
      local x = torch.rand(2, 2)
      local y = m:forward(x)
      assert.same({4}, y:size():totable())
      assert.is_true(m:backward(x, y:clone()):isSameSizeAs(x))
      assert.error_matches(function() m:forward(torch.rand(2, 4)) end, '4 slices .* at most 3')
   end)

   it('planes that a connection table does not name are not used', function()
      for _, class in ipairs{'SpatialConvolutionMap', 'SpatialFullConvolutionMap'} do
         check.module(function() return nn[class](torch.Tensor{{1, 2}, {2, 1}}, 2, 2) end,
            random(4, 3, 3))
         local m = nn[class](torch.Tensor{{1, 1}}, 2, 2)
         m:decayParameters(0.5)
         check.module(function() return m:clone() end, random(2, 2, 3, 4))
      end
   end)

   it('helper methods that derived classes call exist', function()
      local linear, table = nn.Linear(2, 3), nn.LookupTable(4, 2)
      linear:updateAddBuffer(torch.rand(5, 2))
      assert.equal(5, linear.addBuffer:sum())
      local input = torch.LongTensor{{1, 2}, {3, 4}}
      assert.is_true(rawequal(input, table:makeInputContiguous(input)))
      local copy = table:makeInputContiguous(input:t())
      assert.same({{1, 3}, {2, 4}}, copy:totable())
      assert.is_true(copy:isContiguous() and rawequal(copy, table._input))
      assert.equal('torch.LongTensor', table:makeInputContiguous(torch.Tensor{1, 2}):type())
      assert.equal('torch.CudaLongTensor',
         table:cuda():makeInputContiguous(torch.CudaTensor{1, 2}):type())
   end)

   it('views are the same tensor objects at every call', function()
      for _, m in ipairs{nn.View(6), nn.Reshape(6), nn.Unsqueeze(2), nn.Squeeze(), nn.Collapse(2),
         nn.Contiguous()} do
         local x = torch.rand(2, 3)
         local y = m:forward(x)
         local g = m:backward(x, y:clone())
         local z = x:clone():mul(2)
         assert.is_true(rawequal(y, m:forward(z)))
         assert.is_true(rawequal(g, m:backward(z, y:clone())))
         -- if the memory cannot be viewed with another shape, the input keeps its values
         local before, turned = z:clone(), torch.rand(3, 2):t()
         m:forward(turned)
         assert.equal(0, (z - before):abs():max())
         assert.equal(turned:sum(), m.output:sum())
      end
   end)

   it('nn.FlattenTable keeps its table while the input holds the same tensors', function()
      local m, a, b = nn.FlattenTable(), torch.rand(2), torch.rand(3)
      local y = m:forward{a, {b}}
      assert.is_true(rawequal(y, m:forward{a, {b}}))
      assert.is_false(rawequal(y, m:forward{a, b}))
      assert.is_false(rawequal(y, m:forward{a, {b, a}}))
      assert.same(3, #m.output)
   end)

   it('nn.FeatureLPPooling has no gradient where everything is zero', function()
      eachSide(function(typename, on)
         local m = nn.FeatureLPPooling(3, 1, 2, false):type(typename)
         local x = on(torch.zeros(6))
         m:forward(x)
         assert.equal(0, m:backward(x, on(torch.ones(4))):abs():max())
      end)
   end)

   it('a change of nll.sizeAverage stays, one of sizeAverage reaches nll', function()
      local criterion, x, target = nn.CrossEntropyCriterion(), torch.rand(4, 3), torch.ones(4)
      local mean = criterion:forward(x, target)
      criterion.nll.sizeAverage = false
      assert.is_true(math.abs(criterion:forward(x, target) - 4 * mean) < 1e-12)
      criterion.nll.sizeAverage, criterion.sizeAverage = true, false
      assert.is_true(math.abs(criterion:forward(x, target) - 4 * mean) < 1e-12)
   end)

   it('criterions accept a number as target, and use the first of several classes for a vector',
      function()
      eachSide(function(typename, on)
         local x, one = on(torch.rand(3)), on(torch.rand(1))
         for name, case in pairs{ClassNLLCriterion = {x, 2}, CrossEntropyCriterion = {x, 2},
            MultiMarginCriterion = {x, 2}, HingeEmbeddingCriterion = {one, -1},
            MarginCriterion = {one, -1}, MSECriterion = {one, 0.5},
            CosineEmbeddingCriterion = {{x, x:clone()}, -1}, L1HingeEmbeddingCriterion =
            {{x, x:clone():mul(2)}, -1}, MarginRankingCriterion = {{one, on(torch.rand(1))}, 1}} do
            local criterion = nn[name]():type(typename)
            local loss, target = criterion:forward(case[1], case[2]), on(torch.Tensor{case[2]})
            local gradient = criterion:backward(case[1], case[2])
            gradient = (torch.isTensor(gradient) and gradient or gradient[1]):clone()
            assert.equal(loss, nn[name]():type(typename):forward(case[1], target))
            local again = nn[name]():type(typename)
            again:forward(case[1], target)
            again = again:backward(case[1], target)
            assert.equal(0, ((torch.isTensor(again) and again or again[1]) - gradient):abs():max())
         end
         local nll = nn.ClassNLLCriterion():type(typename)
         assert.equal(nll:forward(x, 3), nll:forward(x, on(torch.Tensor{3, 1, 2})))
         assert.equal(-1, nll:backward(x, on(torch.Tensor{3, 1, 2}))[3])
         local deep, entropy = x:view(1, 3, 1), nn.CrossEntropyCriterion():type(typename)
         assert.equal(entropy:forward(x, 3), entropy:forward(deep, on(torch.Tensor{{3, 1, 2}})))
         assert.is_true(entropy:backward(deep, on(torch.Tensor{{3, 1, 2}})):isSameSizeAs(deep))
      end)
   end)

   it('nn.CrossEntropyCriterion treats a column as a vector if there is one target', function()
      eachSide(function(typename, on)
         local vector = nn.CrossEntropyCriterion():type(typename)
         local criterion, x = vector:clone(), on(torch.rand(3))
         local column, loss = x:view(3, 1), vector:forward(x, 3)
         local gradient = vector:backward(x, 3)
         for _, target in ipairs{3, on(torch.Tensor{3})} do
            assert.equal(loss, criterion:forward(column, target))
            local g = criterion:backward(column, target)
            assert.same({3, 1}, g:size():totable())
            assert.equal(0, (g:view(3) - gradient):abs():max())
         end
         assert.equal(0, criterion:forward(column, on(torch.ones(3)))) -- rows of one class
         assert.equal(0, criterion:forward(column:narrow(1, 1, 1), 1))
      end)
   end)

   it('nn.SparseLinear computes a gradient for every element on request', function()
      eachSide(function(typename, on)
         local m = nn.SparseLinear(4, 2, true):type(typename)
         local rows = on(torch.Tensor{{1, 0.5}, {3, 2}})
         local g = on(torch.Tensor{1, -1})
         m:forward(rows)
         local wanted = (m.weight:t() * g):double()
         local one = m:updateGradInput(rows, g)[1]:double()
         assert.same({1, 2, 3, 4}, one:select(2, 1):totable())
         assert.is_true((one:select(2, 2) - wanted):abs():max() < 1e-12)
         local batch = rows:view(1, 2, 2)
         m:forward(batch)
         assert.same({1, 4, 2}, m:updateGradInput(batch, g:view(1, 2)):size():totable())
         assert.same({}, nn.SparseLinear(4, 2):updateGradInput(rows, g))
      end)
   end)

   it('recursiveType converts a table that leads back to itself once', function()
      local t = {torch.ones(2)}
      t.own = t
      assert.equal(t, nn.utils.recursiveType(t, 'torch.FloatTensor'))
      assert.equal('torch.FloatTensor', t[1]:type())
   end)

   it('recursiveType leaves objects of other classes alone', function()
      local classes = {}
      torch.class('torch7FormsSpec.Other', classes)
      local m, other = nn.Linear(2, 2), classes.Other()
      other.numbers = torch.LongTensor{1, 2}
      m.other, m.list = other, {torch.Tensor(1)}
      m:float()
      assert.equal('torch.LongTensor', other.numbers:type())
      assert.equal('torch.FloatTensor', m.list[1]:type())
   end)

   it('replace with a decorator continues inside the decorated module', function()
      local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Sequential():add(nn.Tanh()))
      local around = net:replace(function(m) return nn.NaN(m) end)
      assert.equal('nn.NaN', torch.type(around))
      assert.equal(4, #around:findModules('nn.NaN'))
      around:forward(torch.rand(2))
   end)

   -- Returns a class of containers constructed with a module or nil, and its constructor.
   local function container(name)
      local classes = {}
      local class, parent = torch.class('torch7FormsSpec.' .. name, 'nn.Container', classes)
      function class:__init(m)
         parent.__init(self)
         self:add(m)
      end
      return class, classes[name]
   end

   it('nn.Decorator.decorate hands its methods to a class with another parent', function()
      local Both, make = container 'Both'
      nn.Decorator.decorate(Both)
      local m = make(nn.Linear(2, 3))
      assert.equal(3, m:forward(torch.rand(2)):size(1))
      assert.equal('torch7FormsSpec.Both @ nn.Linear(2 -> 3)', tostring(m))
   end)

   it('a container ignores nil, unless it is an nn.Sequential', function()
      local Network, make = container 'Network'
      function Network:updateOutput(input) return input end
      assert.equal(0, make():size())
      assert.equal(1, make(nn.Identity()):size())
      for _, class in ipairs{'Concat', 'DepthConcat', 'Parallel', 'ConcatTable', 'ParallelTable',
         'MapTable', 'Container', 'Decorator', 'Bottle'} do
         local m = nn[class](class:find 'Concat' and 1 or nil)
         local before = m:size()
         assert.equal(m, m:add(nil))
         assert.equal(before, m:size(), class)
         assert.equal(before + 1, m:add(nn.Tanh()):size(), class)
         for _, wrong in ipairs{nn.Tanh, false, 'nn.Tanh'} do
            assert.error_matches(function() nn[class](class:find 'Concat' and 1 or nil):add(wrong)
            end, 'wanted a module', 1, true)
         end
      end
      local y = nn.ParallelTable():add(nn.Identity()):add(nil):add(nn.Abs()):forward{
         torch.Tensor{-1}, torch.Tensor{-2}}
      assert.same({{-1}, {2}}, {y[1]:totable(), y[2]:totable()})
      assert.error_matches(function() nn.Sequential():add(nil) end,
         "nn.Sequential: add: argument 'module' is nil, wanted a module", 1, true)
   end)

   it('a copy uses write and read of a class', function()
      local classes = {}
      local Lean, parent = torch.class('torch7FormsSpec.Lean', 'nn.Decorator', classes)
      function Lean:__init(m)
         parent.__init(self, m)
         self.cache = torch.rand(5)
      end
      function Lean:write(file)
         file:writeInt(7)
         file:writeObject{modules = self.modules, _type = self._type}
      end
      function Lean:read(file)
         self.version = file:readInt()
         for k, v in pairs(file:readObject()) do self[k] = v end
      end
      local inner = nn.Linear(2, 2)
      local net = nn.Sequential():add(classes.Lean(inner)):add(inner)
      local copy = net:clone()
      assert.is_nil(copy:get(1).cache)
      assert.equal(7, copy:get(1).version)
      assert.is_true(rawequal(copy:get(1):get(1), copy:get(2)))
      assert.is_false(rawequal(copy:get(2), inner))
      assert.is_true(torch.isTypeOf(copy:get(1), 'torch7FormsSpec.Lean'))
   end)

   it('diagonals of the Hessian agree with first derivatives', function()
      local out = io.popen('luajit spec/support/hessian.lua 2>&1'):read '*a'
      assert.is_true(out:find '%f[%w]ok%s*$' ~= nil, out)
   end)

   it("nn.BCECriterion's weights apply to the target's rows for any input size", function()
      local weights, ys = torch.Tensor{1, 0, 3}, torch.Tensor{1, 0, 1}
      local criterion = nn.BCECriterion(weights)
      local x, flat = torch.Tensor{{0.5}, {0.25}, {0.2}}, torch.Tensor{0.5, 0.25, 0.2}
      local wanted, gradient = criterion:forward(flat, ys), criterion:backward(flat, ys):clone()
      assert.is_true(math.abs(wanted - (-math.log(0.5) - 3 * math.log(0.2)) / 3) < 1e-9)
      assert.equal(wanted, criterion:forward(x, ys))
      assert.same(gradient:totable(), criterion:backward(x, ys):view(3):totable())
      local rows = torch.Tensor{{1, 0, 1}, {0, 1, 1}}
      local both = torch.Tensor(6):fill(0.5)
      assert.is_true(math.abs(criterion:forward(both, rows) - 8 * math.log(2) / 6) < 1e-9)
   end)

   it('nn.SparseJacobian looks at the values of rows {index, value}', function()
      local m = nn.SparseLinear(5, 3, false)
      local rows = torch.Tensor{{1, 0}, {4, 0}}
      assert.is_true(nn.SparseJacobian.testJacobianParameters(m, rows, m.weight, m.gradWeight)
         < 1e-6)
      assert.is_true(nn.SparseJacobian.testJacobianUpdateParameters(m, rows, m.bias) < 1e-6)
   end)
end)
