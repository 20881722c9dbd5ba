local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local torch = dpt.torch

describe('image.convolve', function()
   local m = torch.rand(2, 6, 7)
   local kernel = torch.rand(3, 3)

   it('is valid, full or of the same size', function()
      assert.same({2, 4, 5}, image.convolve(m, kernel):size():totable())
      assert.same({2, 8, 9}, image.convolve(m, kernel, 'full'):size():totable())
      local same = image.convolve(m, kernel, 'same')
      assert.same({2, 6, 7}, same:size():totable())
      local inner = same:narrow(2, 2, 4):narrow(3, 2, 5)
      assert.is_true((inner - image.convolve(m, kernel)):abs():max() < 1e-6)
      assert.is_true((image.convolve(m[1], kernel) - torch.conv2(m[1], kernel)):abs():max() < 1e-6)
      local dst = torch.Tensor()
      assert.equal(dst, image.convolve(dst, m, kernel, 'same'))
      assert.equal(0, (dst - same):abs():max())
   end)
end)

describe('image.minmax', function()
   it('scales to [0, 1], or by the given range', function()
      local t = torch.Tensor{-1, 0, 3}
      assert.same({0, 0.25, 1}, image.minmax{tensor = t}:totable())
      assert.same({-1, 0, 3}, t:totable())
      assert.same({0.25, 0.5, 1.25}, image.minmax{tensor = t, min = -2, max = 2}:totable())
      assert.same({0.25, 0.5, 1}, image.minmax{tensor = t, min = -2, max = 2, saturate = true}
         :totable())
      assert.is_true((image.minmax{tensor = t, symm = true} - torch.Tensor{1 / 3, 0.5, 1}):abs()
         :max() < 1e-6)
      assert.equal(t, image.minmax{tensor = t, inplace = true})
      assert.same({0, 0.25, 1}, t:totable())
   end)
end)

describe('image.lcn', function()
   it('subtracts the mean and excludes the borders', function()
      local out = image.lcn(torch.rand(1, 30, 40))
      assert.same({22, 32}, out:size():totable())
      assert.is_true(math.abs(out:mean()) < 0.2 and out:ne(out):sum() == 0)
      raises("image.lcn: argument 'src' is a torch.DoubleTensor of size 3x2x2, wanted one plane",
         function() image.lcn(torch.rand(3, 2, 2)) end)
   end)
end)

describe('image.erode and image.dilate', function()
   it('shrink and grow ones', function()
      local one = torch.zeros(5, 5)
      one[3][3] = 1
      local grown = image.dilate(one)
      assert.equal(9, grown:sum())
      assert.is_true(torch.eq(image.erode(grown), one):all())
      assert.equal(25, image.erode(torch.ones(5, 5)):sum())
      assert.equal(9, image.erode(torch.ones(5, 5), nil, 0):sum())
      local right = image.dilate(one, torch.Tensor{{0, 0, 1}})
      assert.equal(1, right:sum())
      raises("image.erode: argument 'kernel' is a torch.DoubleTensor of size 2x3, wanted odd sizes",
         function() image.erode(one, torch.ones(2, 3)) end)
   end)
end)

describe('image.gaussianpyramid', function()
   it('has a picture for each scale', function()
      local m = torch.rand(3, 16, 12)
      local list = image.gaussianpyramid(m, {1, 0.5, 0.25})
      assert.equal(0, (list[1] - m):abs():max())
      assert.same({3, 8, 6}, list[2]:size():totable())
      assert.same({3, 4, 3}, list[3]:size():totable())
      assert.same({8, 6}, image.gaussianpyramid(m[1], {0.5})[1]:size():totable())
   end)
end)
