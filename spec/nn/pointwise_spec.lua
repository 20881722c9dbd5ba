--- Layers that work element by element, or on every row: gradients, devices, in place.
local check = require 'spec.support.jacobian'

-- values away from the kinks of the functions
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
   HardShrink = {{}, {0.7}}, SoftShrink = {{}, {0.7}}, ELU = {{}, {0.5}}, LeakyReLU = {{}, {0.3}},
   PReLU = {{}, {4}}, AddConstant = {{1.5}}, MulConstant = {{-2}}, SoftMax = {{}}, SoftMin = {{}},
   LogSoftMax = {{}}, Normalize = {{2}, {1}, {3}}, CReLU = {{1}}, Identity = {{}},
   GatedLinearUnit = {{}, {2}}, Contiguous = {{}},
}

describe('The layer on elements or rows', function()
   for name, cases in pairs(layers) do
      for i, arguments in ipairs(cases) do
         it(name .. ' has its gradients, form ' .. i, function()
            check.module(function() return nn[name](unpack(arguments)) end, values(-2, 2, 3, 4))
         end)
      end
   end
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

   it('keeps NaN and infinities where Torch7 did', function()
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
