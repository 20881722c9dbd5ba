local dpt = require 'dpt'
local image = require 'image'
local torch = dpt.torch

describe('image.lena', function()
   it('is a picture of the same size and range as Torch7\'s', function()
      local threads = torch.getnumthreads()
      torch.setnumthreads(1) -- large pictures on busy cores
      local m = image.lena()
      torch.setnumthreads(threads)
      assert.same({3, 512, 512}, m:size():totable())
      assert.equal(torch.getdefaulttensortype(), torch.type(m))
      assert.is_true(m:min() >= 0 and m:max() <= 1 and m:std() > 0.15)
      local levels = torch.mul(m, 255)
      assert.is_true((levels - torch.round(levels)):abs():max() < 1e-4) -- integers, as from a file
      m:zero()
      assert.is_true(image.lena():sum() > 0)
      assert.same({512, 512}, image.fabio():size():totable())
   end)
end)
