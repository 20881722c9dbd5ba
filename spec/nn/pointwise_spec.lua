--- Element-wise and row-wise layers: gradients, devices, in place.
local check = require 'spec.support.jacobian'

-- returns values away from the kinks of the functions
local function values(low, high, ...)
   local size = {...}
   return function()
      local t = torch.rand(unpack(size)):mul(high - low):add(low)
      return t:apply(function(v)
         local near = math.floor(v * 2 + 0.5) / 2
         return math.abs(v - near) < 1e-3 and v + 2e-3 or v
      end)
   end
end

local layers = {
   Abs = {{}}, Exp = {{}}, Square = {{}}, Sigmoid = {{}}, Tanh = {{}}, SoftSign = {{}},
   LogSigmoid = {{}}, TanhShrink = {{}}, SoftPlus = {{}, {2}}, Threshold = {{}, {0.5, -1}},
   ReLU = {{}}, ReLU6 = {{}}, HardTanh = {{}, {-0.5, 0.75}}, Clamp = {{-1, 0.5}},
   HardShrink = {{}, {0.7}}, SoftShrink = {{}, {0.7}}, ELU = {{}, {0.5}}, GELU = {{}, {'tanh'}},
   SiLU = {{}}, LeakyReLU = {{}, {0.3}}, PReLU = {{}, {4}}, AddConstant = {{1.5}},
   MulConstant = {{-2}}, SoftMax = {{}, {1}}, SoftMin = {{}, {1}}, LogSoftMax = {{}, {1}},
   Normalize = {{2}, {1}, {3}}, CReLU = {{1}}, Identity = {{}}, GatedLinearUnit = {{}, {2}},
   GLU = {{}, {-1}}, SwiGLU = {{}, {2}}, GEGLU = {{}, {-1}}, ReGLU = {{}}, Contiguous = {{}},
}

describe('The layer on elements or rows', function()
   for name, cases in pairs(layers) do
      for i, arguments in ipairs(cases) do
         it(name .. ' has its gradients, form ' .. i, function()
            check.module(function() return nn[name](unpack(arguments)) end, values(-2, 2, 3, 4))
         end)
      end
   end
   it('GLU halves a dimension as GatedLinearUnit, in PyTorch\'s numbers', function()
      local x = torch.range(1, 12):cos():view(2, 6)
      local m = nn.GLU()
      local recorded = {{0.184874659746941, -0.23738839440047, -0.715918912945173},
         {0.227475203682395, -0.0729110014432645, -0.63713178275539}}
      assert.is_true((m:forward(x) - torch.Tensor(recorded)):abs():max() < 1e-14)
      assert.equal(0, (nn.GLU(-2):forward(x) - nn.GatedLinearUnit(1):forward(x)):abs():max())
      local read = torch.deserialize(torch.serialize(m))
      assert.equal('nn.GLU', torch.type(read))
      assert.is_true(torch.isTypeOf(read, 'nn.GatedLinearUnit'))
      assert.error_matches(function() m:forward(torch.rand(2, 3)) end,
         '^nn.GatedLinearUnit: dimension 2 has size 3, wanted an even size')
   end)
   it('SwiGLU, GEGLU and ReGLU multiply the first half by the activation of the second', function()
      local activations = {SwiGLU = nn.SiLU(), GEGLU = nn.GELU(), ReGLU = nn.ReLU()}
      for name, activation in pairs(activations) do
         local x = torch.randn(3, 8, 2)
         local wanted = torch.cmul(x:narrow(2, 1, 4), activation:forward(x:narrow(2, 5, 4)))
         assert.equal(0, (nn[name](2):forward(x) - wanted):abs():max())
      end
   end)
   for name, arguments in pairs{Log = {}, Sqrt = {}, Power = {1.5}} do
      it(name .. ' has its gradients for positive numbers', function()
         check.module(function() return nn[name](unpack(arguments)) end, values(0.5, 3, 3, 4))
      end)
   end
   for _, name in ipairs{'SoftMax', 'LogSoftMax', 'SpatialSoftMax', 'SpatialLogSoftMax'} do
      it(name .. ' has its gradients over planes', function()
         check.module(nn[name], values(-2, 2, 3, 2, 2))
         check.module(nn[name], values(-2, 2, 2, 3, 2, 2))
      end)
   end
   -- constructor arguments by name; for inputs of 3x4
   local shapeless = {
      Log = {}, Sqrt = {}, Power = {1.5}, Mul = {}, CMul = {4}, ['CMul '] = {3, 4},
      ['CMul  '] = {1, 4}, ['ReLU in place'] = {true}, ['Threshold in place'] = {0, 0, true},
      ['ELU in place'] = {1, true}, ['LeakyReLU in place'] = {0.2, true},
      ['HardTanh in place'] = {-1, 1, true}, RReLU = {0.1, 0.3},
      ['RReLU in place'] = {0.1, 0.3, true},
   }
   for name, cases in pairs(layers) do
      for _, other in ipairs{'AddConstant', 'MulConstant', 'Identity', 'Contiguous', 'CReLU',
         'GatedLinearUnit', 'GLU', 'SwiGLU', 'GEGLU', 'ReGLU'} do
         if name == other then cases = {} end -- their outputs or gradOutputs differ in size
      end
      if cases[1] then shapeless[name] = cases[1] end
   end
   local types = {'torch.DoubleTensor', cutorch and 'torch.CudaDoubleTensor'}
   -- gradOutputs with the same elements but another shape than the input
   local function reshaped(g)
      return {g:view(3, 1, 4), g:view(12), g:view(2, 6), g:t():contiguous():t():reshape(4, 3),
         torch.zeros(4, 2, 3):typeAs(g):select(2, 1):copy(g:view(4, 3))}
   end

   for _, typename in ipairs(types) do
      it('returns gradInput in the shape of the input for any shape of gradOutput: ' .. typename,
         function()
         local x, g = torch.rand(3, 4):add(0.1):type(typename), torch.rand(3, 4):type(typename)
         for name, arguments in pairs(shapeless) do
            local m = nn[name:match '^%w+'](unpack(arguments)):type(typename)
            local function back(gradOutput)
               m:zeroGradParameters()
               local input = x:clone()
               m:forward(input)
               local gradInput = m:backward(input, gradOutput:clone()):clone()
               local _, gradient = m:parameters()
               return gradInput, gradient and gradient[1] and gradient[1]:clone()
            end
            torch.manualSeed(5)
            local wanted, wantedGradient = back(g)
            for _, gradOutput in ipairs(reshaped(g)) do
               torch.manualSeed(5)
               local gradInput, gradient = back(gradOutput)
               assert.same({3, 4}, gradInput:size():totable(), name)
               assert.equal(0, (gradInput - wanted):abs():max(), name)
               if gradient then assert.near(0, (gradient - wantedGradient):abs():max(), 1e-12) end
            end
            m:forward(x:clone())
            assert.error_matches(function() m:backward(x, g:narrow(2, 1, 3)) end,
               "argument 'gradOutput' is a torch.%a+ of size 3x3, wanted 12 elements, one for each")
         end
      end)

      it('has parameters and masks that fit any shape of gradOutput: ' .. typename, function()
         local x, g = torch.rand(3, 4):type(typename), torch.rand(3, 4):type(typename)
         for _, m in ipairs{nn.Add(4), nn.Add(4, true), nn.CAdd(4), nn.CAdd(3, 4), nn.CAdd(1, 4),
            nn.Dropout(0.5), nn.Dropout(0.5, true)} do
            m:type(typename)
            m:forward(x)
            local function back(gradOutput)
               m:zeroGradParameters()
               local gradInput = m:backward(x, gradOutput):clone()
               return gradInput, m.gradBias and m.gradBias:clone() or gradInput:view(12)
            end
            local wanted, wantedGradient = back(g)
            for _, gradOutput in ipairs(reshaped(g)) do
               local gradInput, gradient = back(gradOutput)
               assert.same(gradOutput:size():totable(), gradInput:size():totable())
               assert.equal(0, (gradInput:view(12) - wanted:view(12)):abs():max())
               assert.near(0, (gradient - wantedGradient):abs():max(), 1e-12)
            end
         end
         local m = nn.Dropout(0.5):type(typename)
         m:forward(x)
         assert.error_matches(function() m:backward(x, g:narrow(2, 1, 3)) end,
            "nn.Dropout: argument 'gradOutput' is a torch.%a+ of size 3x3, wanted 12 elements")

         m = nn.SpatialDropout(0.5):type(typename)
         x = torch.ones(2, 3, 4, 5):type(typename)
         local wanted = m:forward(x):clone()
         local gradInput = m:backward(x, torch.ones(2, 3, 20):type(typename))
         assert.same({2, 3, 20}, gradInput:size():totable())
         assert.equal(0, (gradInput:view(2, 3, 4, 5) - wanted):abs():max())
      end)
   end

   for name, arguments in pairs{
      Threshold = {0, 0, true}, ReLU = {true}, ReLU6 = {true}, ELU = {1, true},
      LeakyReLU = {0.2, true}, HardTanh = {-1, 1, true}, MulConstant = {2, true},
      AddConstant = {2, true},
   } do
      it(name .. ' computes in place what it computes elsewhere', function()
         local x, g = values(-2, 2, 3, 4)(), torch.rand(3, 4)
         local other = {unpack(arguments)}
         other[#other] = false
         local plain = nn[name](unpack(other))
         local output, gradInput = plain:forward(x:clone()), plain:backward(x:clone(), g:clone())
         local m = nn[name](unpack(arguments))
         local input = x:clone()
         local out = m:forward(input)
         assert.is_true(out:isSetTo(input))
         assert.are.equal(0, (out - output):abs():max())
         assert.are.equal(0, (m:backward(input, g) - gradInput):abs():max())
      end)
   end

   -- {class, arguments, input size, PyTorch's checksums of output and gradInput}
   for _, case in ipairs{
      {'GELU', {}, {3, 7}, 53.0118024880587, -16.0001096270084},
      {'GELU', {'tanh'}, {3, 7}, 52.9957564725294, -15.9857847254851},
      {'SiLU', {}, {3, 7}, 38.6012727841524, -8.99119383824998},
      {'SoftMax', {-1}, {2, 3, 4}, 74.4703105473796, -0.724822826713318},
      {'LogSoftMax', {2}, {2, 3, 4}, -423.946920781956, 4.06433162641803},
      {'SoftMin', {4}, {2, 3, 2, 4, 2}, 1164.22154919774, 3.56452128285856},
   } do
      local name, size = case[1], torch.LongStorage(case[3])
      it(name .. ' has the values of PyTorch, of ' .. #case[3] .. ' dimensions', function()
         local n = torch.DoubleTensor(size):nElement()
         local ramp = torch.range(1, n):double()
         local x = ramp:clone():sin():resize(size)
         local m = nn[name](unpack(case[2])):double()
         assert.near(case[4], m:forward(x):view(n):dot(ramp), 1e-11 * math.abs(case[4]))
         local g = torch.mul(ramp, 0.7):cos():resize(size)
         assert.near(case[5], m:backward(x, g):view(n):dot(ramp), 1e-11)
      end)
   end

   it('GELU and SiLU keep their limits', function()
      for _, m in ipairs{nn.GELU(), nn.GELU 'tanh', nn.SiLU()} do
         local x = torch.Tensor{-1e4, -60, 60, 1e4}
         assert.is_true(check.distance(torch.Tensor{0, 0, 60, 1e4}, m:forward(x)) < 1e-20)
         assert.is_true(check.distance(torch.Tensor{0, 0, 1, 1},
            m:backward(x, torch.ones(4))) < 1e-20)
         assert.is_true(m:float():forward(torch.FloatTensor{0/0})[1] ~= 0)
      end
      assert.error_matches(function() nn.GELU 'erf' end,
         "argument 'approximate' is 'erf', wanted 'none' or 'tanh'")
   end)

   it('SoftMax takes any dimension, which it names if there is none', function()
      local x = torch.rand(2, 3, 2, 2, 2, 3)
      for dim = 1, 6 do
         assert.near(0, (nn.SoftMax(dim):forward(x):sum(dim) - 1):abs():max(), 1e-14)
         assert.equal(0, check.distance(nn.SoftMax(dim - 7):forward(x), nn.SoftMax(dim):forward(x)))
      end
      for name, classes in pairs{SoftMax = 'SoftMin', LogSoftMax = 'LogSoftMax'} do
         for _, class in ipairs{name, classes} do
            for _, dim in ipairs{3, -3} do
               assert.error_matches(function() nn[class](dim):forward(torch.rand(2, 2)) end,
                  ('nn.%s: the input has 2 dimensions, but dim is %d'):format(class, dim), 1, true)
            end
            assert.error_matches(function() nn[class](0) end,
               ("nn.%s: argument 'dim' is 0, wanted a dimension"):format(class), 1, true)
         end
      end
   end)

   it('RReLU has the mean slope in evaluation, and slopes of a seed in training', function()
      check.module(function()
         local m = nn.RReLU(0.2, 0.6)
         m:evaluate()
         return m
      end, values(-2, 2, 3, 4))
      local m = nn.RReLU(0.2, 0.6)
      local x = values(-2, 2, 3, 4)()
      local slopes = m:forward(x):clone():cdiv(x)
      assert.is_true(slopes:max() <= 1 and slopes:min() >= 0.2)
      local gradInput = m:backward(x, torch.ones(3, 4))
      assert.is_true((gradInput - slopes):abs():max() < 1e-12)
   end)

   it('propagates NaN and infinities as Torch7 does', function()
      local x = torch.Tensor{0 / 0, math.huge, -math.huge, 0}
      local y = nn.ReLU():forward(x)
      assert.are.equal(math.huge, y[2])
      assert.are.equal(0, y[3])
      local s = nn.SoftPlus():forward(torch.Tensor{1e4, -1e4})
      assert.are.equal(1e4, s[1])
      assert.are.equal(0, s[2])
      assert.are.equal(-1e4, nn.LogSigmoid():forward(torch.Tensor{-1e4})[1])
   end)
end)
