-- cudnn.VolumetricCrossEntropyCriterion: cudnn.SpatialCrossEntropyCriterion for volumes.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn

local types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}

local function same(a, b) assert.is_true((a:double() - b:double()):abs():max() < 1e-12) end

describe('cudnn.VolumetricCrossEntropyCriterion', function()
   before_each(function() torch.manualSeed(5) end)

   it('is cudnn.SpatialCrossEntropyCriterion on a volume laid out as an image', function()
      for _, typename in ipairs(types) do
         local x, weights = torch.randn(2, 3, 2, 2, 3):type(typename), torch.Tensor{1, 2, 0.5}
         local flat = x:view(2, 3, 4, 3)
         local criterion = cudnn.VolumetricCrossEntropyCriterion(weights):type(typename)
         local image = cudnn.SpatialCrossEntropyCriterion(weights):type(typename)
         local target = torch.rand(2, 2, 2, 3):mul(3):floor():add(1):type(typename)
         local square = target:view(2, 4, 3)
         assert.equal(image:forward(flat, square), criterion:forward(x, target))
         same(image:denominator(), criterion:denominator())
         same(image:backward(flat, square), criterion:backward(x, target):view(2, 3, 4, 3))
      end
   end)

   it('rejects inputs and targets that are not volumes', function()
      local criterion = cudnn.VolumetricCrossEntropyCriterion()
      assert.error_matches(function()
         criterion:forward(torch.randn(2, 3, 4, 3), torch.ones(2, 4, 3))
      end, 'input and target have 4 and 3 dimensions, wanted 5 and 4')
   end)
end)
