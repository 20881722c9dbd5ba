-- cudnn.VolumetricConvolution: nn.VolumetricConvolution in groups.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local function distance(a, b) return (a:double() - b:double()):abs():max() end

describe('cudnn.VolumetricConvolution', function()
   before_each(function() torch.manualSeed(3) end)

   for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
      it('computes each group as a convolution of its own planes, ' .. typename, function()
         local allowed = typename:find 'Double' and 1e-12 or 1e-4
         local m = cudnn.VolumetricConvolution(4, 6, 2, 3, 2, 1, 2, 1, 0, 1, 0, 2):type(typename)
         assert.same({6, 2, 2, 2, 3}, m.weight:size():totable())
         local x = torch.randn(2, 4, 3, 6, 5):type(typename)
         local y = m:forward(x)
         local g = torch.randn(y:size()):type(typename)
         m:zeroGradParameters()
         local gradInput = m:backward(x, g)
         for group = 1, 2 do
            local one = nn.VolumetricConvolution(2, 3, 2, 3, 2, 1, 2, 1, 0, 1, 0):type(typename)
            one.weight:copy(m.weight:narrow(1, 3 * group - 2, 3))
            one.bias:copy(m.bias:narrow(1, 3 * group - 2, 3))
            one:zeroGradParameters()
            local part = x:narrow(2, 2 * group - 1, 2):contiguous()
            local gy = g:narrow(2, 3 * group - 2, 3):contiguous()
            assert.is_true(distance(one:forward(part), y:narrow(2, 3 * group - 2, 3)) <= allowed)
            assert.is_true(distance(one:backward(part, gy),
               gradInput:narrow(2, 2 * group - 1, 2)) <= allowed)
            assert.is_true(distance(one.gradWeight,
               m.gradWeight:narrow(1, 3 * group - 2, 3)) <= allowed)
            assert.is_true(distance(one.gradBias,
               m.gradBias:narrow(1, 3 * group - 2, 3)) <= allowed)
         end
      end)
   end

   it('rejects planes that do not divide into the groups', function()
      assert.error_matches(function()
         cudnn.VolumetricConvolution(4, 5, 3, 3, 3, 1, 1, 1, 0, 0, 0, 2)
      end, 'cudnn.VolumetricConvolution: 4 and 5 planes do not divide into 2 groups')
   end)

   it('remembers the choice of algorithms until it is reset', function()
      local m = cudnn.VolumetricConvolution(2, 3, 3, 3, 3)
      assert.is_true(rawequal(m, m:setMode(1, 2, 3):fastest()))
      assert.same({1, 2, 3, true}, {m.fmode, m.bdmode, m.bwmode, m.fastest_mode})
      assert.is_nil(m:resetMode().fmode)
   end)
end)
