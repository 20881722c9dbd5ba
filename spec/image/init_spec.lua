local dpt = require 'dpt'
local image = require 'image'
local run = require 'spec.support.run'
local torch = dpt.torch

describe('image', function()
   it('is a global after require, which needs no other', function()
      assert.equal('function\n', run.lua "require 'image' print(type(image.scale))")
   end)

   it('is available in workers', function()
      local pool = dpt.threads.Threads(2, function() require 'image' end)
      local sum = 0
      for i = 1, 4 do
         pool:addjob(function()
            local picture = torch.range(1, 300):view(3, 10, 10)
            return require('image').scale(picture, 8 * i, 8):sum()
         end, function(s) sum = sum + s end)
      end
      pool:synchronize()
      pool:terminate()
      local wanted = 0
      for i = 1, 4 do
         wanted = wanted + image.scale(torch.range(1, 300):view(3, 10, 10), 8 * i, 8):sum()
      end
      assert.is_true(math.abs(sum - wanted) < 1e-6)
   end)

   it("has all functions of Torch7's package", function()
      for name in ([[
         load save decompress decompressJPG decompressPNG compressJPG compressPNG
         getSize scale crop hflip vflip flip rotate translate warp affinetransform polar
         logpolar gaussian gaussian1D gaussianpyramid laplacian convolve lcn erode
         dilate rgb2yuv yuv2rgb rgb2y rgb2hsl hsl2rgb rgb2hsv hsv2rgb rgb2lab lab2rgb
         rgb2nrgb y2jet minmax toDisplayTensor display drawText drawRect lena fabio
         colormap jetColormap loadJPG loadPNG loadPPM saveJPG savePNG savePPM savePGM
         getJPGsize getPNGsize getPPMsize is_supported
      ]]):gmatch '%S+' do
         assert.equal('function', type(image[name]), name)
      end
   end)

   it('does not change its arguments', function()
      local m = torch.rand(3, 8, 9)
      local before = m:clone()
      for _, f in ipairs{
         function() image.scale(m, 4, 4) end, function() image.rotate(m, 1) end,
         function() image.compressPNG(m) end, function() image.compressJPG(m) end,
         function() image.rgb2yuv(m) end, function() image.rgb2nrgb(m) end,
         function() image.minmax{tensor = m} end, function() image.toDisplayTensor(m) end,
         function() image.drawText(m, 'x', 1, 1) end,
         function() image.lcn(m[1], torch.ones(3, 3)) end,
         function() image.warp(m, torch.zeros(2, 3, 3)) end, function() image.hflip(m) end,
      } do
         f()
         assert.equal(0, (m - before):abs():max())
      end
   end)
end)
