local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local torch = dpt.torch

describe('Gaussians', function()
   it('follow the formula, by place and by name', function()
      local g = image.gaussian(5, 0.2, 2)
      assert.equal(0, (g - image.gaussian{size = 5, sigma = 0.2, amplitude = 2}):abs():max())
      assert.is_true(math.abs(g[2][4] - 2 * math.exp(-(1 + 1) / 2)) < 1e-6)
      assert.is_true(math.abs(image.gaussian{width = 7, height = 3, normalize = true}:sum() - 1)
         < 1e-6)
      assert.same({3, 7}, image.gaussian{width = 7, height = 3}:size():totable())
   end)

   it('also in one dimension', function()
      local g = image.gaussian1D{size = 3, sigma = 1 / 3, amplitude = 2}
      assert.is_true((g - torch.Tensor{2 * math.exp(-0.5), 2, 2 * math.exp(-0.5)}):abs():max()
         < 1e-6)
      assert.is_true(math.abs(image.gaussian1D(9, 0.3, 1, true):sum() - 1) < 1e-6)
   end)

   it('fill a tensor', function()
      local tensor = torch.FloatTensor(2, 6)
      assert.equal(tensor, image.gaussian{tensor = tensor})
      assert.equal(tensor:max(), tensor[1][3])
      raises("image.gaussian: argument 'tensor' is a torch.DoubleTensor of size 3, wanted 2"
         .. ' dimensions with elements', function() image.gaussian{tensor = torch.Tensor(3)} end)
   end)
end)

describe('image.laplacian', function()
   it('is the formula', function()
      local l, d = image.laplacian{size = 3, sigma = 0.5}, (1 / 1.5) ^ 2 / 2
      assert.equal(1, l[2][2])
      assert.is_true(math.abs(l[1][2] - (1 - d) * math.exp(-d)) < 1e-6)
   end)
end)
