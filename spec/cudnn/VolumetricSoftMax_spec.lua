-- cudnn.VolumetricSoftMax: nn.SpatialSoftMax for volumes.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}

local function same(a, b) assert.is_true((a:double() - b:double()):abs():max() < 1e-12) end

describe('cudnn.VolumetricSoftMax', function()
   before_each(function() torch.manualSeed(5) end)

   it('computes what nn.SpatialSoftMax does on a volume laid out as an image', function()
      for _, typename in ipairs(types) do
         local x = torch.randn(2, 3, 2, 2, 3):type(typename)
         local flat, g = x:view(2, 3, 4, 3), torch.randn(2, 3, 2, 2, 3):type(typename)
         local m = cudnn.VolumetricSoftMax():type(typename)
         local image = nn.SpatialSoftMax():type(typename)
         same(image:forward(flat), m:forward(x):view(2, 3, 4, 3))
         same(image:backward(flat, g:view(2, 3, 4, 3)), m:backward(x, g):view(2, 3, 4, 3))
         same(m:forward(x)[1], m:forward(x[1]):clone())
         assert.equal(0, m:clearState().output:nElement())
      end
   end)

   it('rejects inputs that are no volumes', function()
      local m = cudnn.VolumetricSoftMax()
      assert.error_matches(function() m:forward(torch.randn(2, 3, 4)) end,
         'cudnn.VolumetricSoftMax: input has 3 dimensions, wanted 4 or 5')
   end)
end)
