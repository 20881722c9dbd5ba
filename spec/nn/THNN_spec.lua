-- dpt.nn.THNN: kernels called by name. kernels_spec tests the result of each.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

--- Returns the module's output and gradInput.
local function both(module, input, gradOutput)
   return module:forward(input), module:backward(input, gradOutput)
end

for _, kind in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
   describe('Kernels by name, ' .. kind .. ',', function()
      local input = torch.randn(2, 3, 5, 6):type(kind)

      it('compute nn.Linear, with and without bias', function()
         for _, bias in ipairs{true, false} do
            local module = nn.Linear(3, 4, bias):type(kind)
            local x, g = torch.randn(5, 3):type(kind), torch.randn(5, 4):type(kind)
            local out, gradIn = x.new(), x.new()
            local gradWeight, gradBias = x.new(4, 3):zero(), bias and x.new(4):zero() or nil
            module:zeroGradParameters()
            local output, gradInput = both(module, x, g)
            x.THNN.Linear_updateOutput(x, out, module.weight,
               nn.THNN.optionalTensor(module.bias), x.new())
            nn.THNN.runKernel('Linear_updateGradInput', kind, x, g, gradIn, module.weight)
            x.THNN.Linear_accGradParameters(x, g, gradIn, module.weight, module.bias, gradWeight,
               gradBias, x.new(), 1)
            assert.is_true(out:equal(output) and gradIn:equal(gradInput))
            assert.is_true(gradWeight:equal(module.gradWeight))
            assert.is_true(not bias or gradBias:equal(module.gradBias))
         end
      end)

      it('work in place', function()
         local x = input:clone()
         local wanted, out = nn.Threshold(0, 0):type(kind):forward(x), x.new()
         x.THNN.Threshold_updateOutput(x, out, 0, 0, true)
         assert.is_true(out:equal(wanted) and x:equal(wanted))
      end)
   end)
end

describe('Kernels by name', function()
   it("raise at the script's line for missing functions and wrong arguments", function()
      local x = torch.FloatTensor(2)
      assert.error_matches(function() x.THNN.Nothing_updateOutput(x, x) end,
         "THNN: there is no kernel 'Nothing_updateOutput'")
      assert.error_matches(function() x.THNN.Abs_updateOutput(x, x, 1) end,
         'THNN.Abs_updateOutput: got 3 arguments, wanted %(input, output%)')
      assert.error_matches(function() x.THNN.Abs_updateOutput(nil, x) end,
         'argument input is a nil, wanted a tensor')
      assert.error_matches(function() nn.THNN.runKernel('Abs_updateOutput', 'torch.IntTensor') end,
         'there are no kernels for')
      assert.is_nil(torch.LongTensor().THNN)
   end)
end)
