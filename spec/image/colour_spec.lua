local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local torch = dpt.torch

describe('colour spaces', function()
   local rgb = torch.rand(3, 20, 30)

   it('lead back to where they came from', function()
      for _, space in ipairs{'hsl', 'hsv', 'lab', 'yuv'} do
         local there = image['rgb2' .. space](rgb)
         assert.is_true((image[space .. '2rgb'](there) - rgb):abs():max() < 1e-4, space)
      end
      local bytes = torch.mul(rgb, 255):round():byte()
      assert.is_true((image.hsv2rgb(image.rgb2hsv(bytes)):int() - bytes:int()):abs():max() < 9)
   end)

   it('convert bytes like the same levels as floats', function()
      local bytes = torch.ByteTensor(3, 250, 200):random(0, 255)
      for _, name in ipairs{'rgb2hsl', 'hsl2rgb', 'rgb2hsv', 'hsv2rgb'} do
         local wanted = image[name](bytes:float():div(255)):mul(255):add(0.5):floor():clamp(0, 255)
         assert.equal(0, (image[name](bytes):float() - wanted):abs():max(), name)
      end
   end)

   it('accept a destination', function()
      local dst = torch.Tensor()
      assert.equal(dst, image.rgb2hsv(dst, rgb))
      assert.equal(0, (dst - image.rgb2hsv(rgb)):abs():max())
   end)

   it('make sums of channels one', function()
      assert.is_true((image.rgb2nrgb(rgb):sum(1) - 1):abs():max() < 1e-4)
   end)

   it('require three planes, lab also floats', function()
      raises("image.rgb2hsl: argument 'input' is a torch.DoubleTensor of size 1x2x2, wanted 3"
         .. ' planes', function() image.rgb2hsl(torch.rand(1, 2, 2)) end)
      raises('image.rgb2lab: got a torch.ByteTensor, wanted floats or doubles: lab has negative'
         .. ' numbers', function() image.rgb2lab(torch.ByteTensor(3, 2, 2)) end)
   end)
end)

describe('maps of colours', function()
   it('go from blue over green to red', function()
      local jet = image.jetColormap(8)
      assert.same({0, 0, 1}, jet[1]:totable())
      assert.same({1, 0, 0}, jet[7]:totable())
      assert.same({8, 3}, jet:size():totable())
      local map = image.colormap(5)
      assert.is_true(map:min() >= 0 and map:max() <= 1)
      assert.is_true((map[1] - torch.Tensor{0.65, 0.35, 0.35}):abs():max() < 1e-6)
   end)

   it('colour levels', function()
      local out = image.y2jet(torch.Tensor{{1, 2}, {3, 4}})
      assert.same({3, 2, 2}, out:size():totable())
      local map = image.jetColormap(4)
      assert.is_true((out:select(3, 2):select(2, 1) - map[2]):abs():max() < 1e-6)
      assert.equal('torch.ByteTensor', torch.type(image.y2jet(torch.ByteTensor{{1, 2}})))
      raises('image.y2jet: levels are 0 to 3, wanted whole numbers from 1 on',
         function() image.y2jet(torch.Tensor{{0, 3}}) end)
   end)
end)
