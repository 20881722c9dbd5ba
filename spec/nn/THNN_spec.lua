-- dpt.nn.THNN: kernels by name compute what the modules do.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

local window = {2, 3, 2, 1, 1, 0}
local cases = { -- class -> what both its constructor and its kernels take
   Abs = {}, ELU = {0.7, false}, HardShrink = {0.4}, HardTanh = {-0.6, 0.5, false},
   LeakyReLU = {0.2, false}, LogSoftMax = {}, Sigmoid = {}, SoftMax = {}, SoftPlus = {2, 20},
   SoftShrink = {0.3}, Square = {}, Tanh = {}, Threshold = {0.1, -2, false},
}

--- The module's output and gradInput.
local function both(module, input, gradOutput)
   return module:forward(input), module:backward(input, gradOutput)
end

for _, kind in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
   describe('Kernels by name, ' .. kind .. ',', function()
      local input = torch.randn(2, 3, 5, 6):type(kind)

      local function agree(name, module, forward, backward, numbers)
         local gradOutput = torch.randn(module:forward(input):size()):type(kind)
         local output, gradInput = both(module, input, gradOutput)
         local out, gradIn, n = input.new(), input.new(), #numbers
         local arguments = {input:cdata(), out:cdata()}
         for _, v in ipairs(forward) do arguments[#arguments + 1] = v end
         for _, v in ipairs(numbers) do arguments[#arguments + 1] = v end
         input.THNN[name .. '_updateOutput'](unpack(arguments))
         assert.is_true(out:equal(output), name)
         arguments = {input:cdata(), gradOutput:cdata(), gradIn:cdata()}
         for _, v in ipairs(backward(out)) do arguments[#arguments + 1] = v end
         for i = 1, n do arguments[#arguments + 1] = numbers[i] end
         input.THNN[name .. '_updateGradInput'](unpack(arguments))
         assert.is_true(gradIn:equal(gradInput), name)
      end

      it('do what the pointwise modules do', function()
         local ofOutput = {ELU = true, LogSoftMax = true, Sigmoid = true, SoftMax = true,
            SoftPlus = true, Tanh = true}
         for name, numbers in pairs(cases) do
            agree(name, nn[name](unpack(numbers)):type(kind), {},
               function(out) return ofOutput[name] and {out} or {} end, numbers)
         end
      end)

      it('do what nn.SpatialConvolutionMM does', function()
         local numbers = {3, 2, 2, 1, 1, 0}
         local m = nn.SpatialConvolutionMM(3, 4, unpack(numbers)):type(kind)
         local buffers = {torch.Tensor():type(kind), torch.Tensor():type(kind)}
         agree('SpatialConvolutionMM', m, {m.weight:cdata(), m.bias:cdata(), unpack(buffers)},
            function() return {m.weight:cdata(), unpack(buffers)} end, numbers)
         local gradOutput, weight = m.output:clone():fill(1), m.gradWeight:clone():zero()
         local bias = m.gradBias:clone():zero()
         m:zeroGradParameters()
         m:accGradParameters(input, gradOutput, 0.5)
         input.THNN.SpatialConvolutionMM_accGradParameters(input:cdata(), gradOutput:cdata(),
            weight:cdata(), bias:cdata(), buffers[1], buffers[2], 3, 2, 2, 1, 1, 0, 0.5)
         assert.is_true(weight:equal(m.gradWeight) and bias:equal(m.gradBias))
      end)

      it('do what the poolings do', function()
         local numbers = {unpack(window)}
         numbers[7], numbers[8] = true, false
         local mean = nn.SpatialAveragePooling(unpack(window)):ceil():setCountExcludePad()
         agree('SpatialAveragePooling', mean:type(kind), {}, function() return {} end, numbers)
         local indices = torch.LongTensor():type(kind:find 'Cuda' and 'torch.CudaLongTensor'
            or 'torch.LongTensor')
         agree('SpatialMaxPooling', nn.SpatialMaxPooling(unpack(window)):type(kind), {indices},
            function() return {indices} end, {2, 3, 2, 1, 1, 0, false})
      end)

      it('do what nn.Linear does, with its bias and without', function()
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
   it('raise at the script for what is not there or does not fit', function()
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
