-- cudnn.SpatialCrossEntropyCriterion: log-softmax over planes and class loss combined.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

local types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}

local function same(a, b) assert.is_true((a:double() - b:double()):abs():max() < 1e-12) end

describe('cudnn.SpatialCrossEntropyCriterion', function()
   before_each(function() torch.manualSeed(5) end)

   it('is nn.SpatialClassNLLCriterion after nn.SpatialLogSoftMax, with weights', function()
      for _, typename in ipairs(types) do
         local x, weights = torch.randn(2, 3, 4, 5):type(typename), torch.Tensor{1, 2, 0.5}
         local target = torch.rand(2, 4, 5):mul(3):floor():add(1):type(typename)
         local criterion = cudnn.SpatialCrossEntropyCriterion(weights):type(typename)
         local soft = nn.SpatialLogSoftMax():type(typename)
         local loss = nn.SpatialClassNLLCriterion(weights):type(typename)
         local y = soft:forward(x)
         assert.near(loss:forward(y, target), criterion:forward(x, target), 1e-12)
         same(soft:backward(x, loss:backward(y, target)), criterion:backward(x, target))
         same(loss:denominator(), criterion:denominator())
      end
   end)

   it('rejects an input that is not a batch of images', function()
      local criterion = cudnn.SpatialCrossEntropyCriterion()
      assert.error_matches(function()
         criterion:forward(torch.randn(3, 4, 5), torch.ones(4, 5))
      end, 'input has 3 dimensions, wanted 4')
   end)

   it('is a sum if sizeAverage is false', function()
      local criterion = cudnn.SpatialCrossEntropyCriterion():double()
      local x = torch.randn(2, 3, 2, 2):double()
      local target = torch.Tensor(2, 2, 2):double():random(1, 3)
      local mean, gradient = criterion:forward(x, target), criterion:backward(x, target):clone()
      criterion.sizeAverage = false
      assert.is_true(math.abs(criterion:forward(x, target) - 8 * mean) < 1e-12)
      assert.is_true((criterion:backward(x, target) - gradient * 8):abs():max() < 1e-12)
   end)
end)
