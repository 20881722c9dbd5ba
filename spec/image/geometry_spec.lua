local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local recorded = require 'spec.support.image_recorded'
local torch = dpt.torch

local function formula(k, h, w)
   local t = torch.FloatTensor(k, h, w)
   for a = 1, k do
      for y = 1, h do
         for x = 1, w do t[a][y][x] = ((a * 7 + y * 13 + x * 29) * 37 % 101) / 100 end
      end
   end
   return t
end

local environment = {image = image, torch = torch, input = formula(2, 5, 7),
   colours = formula(3, 2, 6), large = formula(3, 6, 8), field = formula(2, 4, 5):mul(6):add(-3)}

describe('pictures #recorded', function()
   for _, case in ipairs(recorded) do
      local _, sizes, call, text = unpack(case)
      it("equal Torch7's recorded results: " .. call:gsub('%s+', ' '), function()
         local out = setfenv(assert(loadstring('return ' .. call)), environment)()
         assert.equal(table.concat(sizes, 'x'), table.concat(out:size():totable(), 'x'))
         local i, flat, worst = 0, out:contiguous():view(-1), 0
         for digits in text:gmatch '%S+' do
            i = i + 1
            worst = math.max(worst, math.abs(flat[i] - tonumber(digits)) / math.max(1,
               math.abs(flat[i])))
         end
         assert.equal(flat:nElement(), i)
         assert.is_true(worst < 1e-5, worst)
      end)
   end

   it('of doubles and bytes are scaled, turned and warped as those of floats are', function()
      local source = environment.input
      for _, f in ipairs{
         function(m) return image.scale(m, 3, 9) end,
         function(m) return image.rotate(m, 0.3, 'bilinear') end,
         function(m) return image.polar(m, 'bilinear') end,
         function(m) return image.warp(m, environment.field) end,
      } do
         local wanted = f(source)
         assert.is_true((f(source:double()):float() - wanted):abs():max() < 1e-5)
         local bytes = f(torch.mul(source, 255):round():byte())
         assert.equal('torch.ByteTensor', torch.type(bytes))
         assert.is_true((bytes:float() - wanted * 255):abs():max() < 1.6)
      end
   end)

   it('of two dimensions, transposed ones and parts of others are accepted unchanged', function()
      local plane = environment.input[1]
      local whole = image.scale(environment.input, 4, 6)
      assert.equal(0, (image.scale(plane, 4, 6) - whole[1]):abs():max())
      local turned = plane:t()
      assert.equal(0, (image.scale(turned, 3, 4) - image.scale(turned:clone(), 3, 4)):abs():max())
      local part = plane:narrow(2, 2, 3)
      assert.equal(0, (image.hflip(part) - image.hflip(part:clone())):abs():max())
      local out = torch.FloatTensor(2, 8, 8):zero()
      image.scale(out:narrow(3, 3, 4):narrow(2, 1, 6), environment.input)
      assert.equal(0, (out:narrow(3, 3, 4):narrow(2, 1, 6) - whole):abs():max())
      assert.equal(0, out:narrow(3, 1, 2):abs():max())
   end)

   it('have the same elements for any number of threads', function()
      local before, large = torch.getnumthreads(), torch.rand(3, 301, 255)
      local function all()
         return image.scale(large, 200, 411), image.rotate(large, 1), image.rgb2lab(large)
      end
      local function on(n)
         torch.setnumthreads(n)
         return {all()}
      end
      local one, three = on(1), on(3)
      torch.setnumthreads(before)
      for i = 1, 3 do assert.equal(0, (one[i] - three[i]):abs():max()) end
   end)
end)

describe('image.scale', function()
   local m = torch.rand(3, 20, 40)
   local function size(...) return table.concat(image.scale(m, ...):size():totable(), 'x') end

   it('accepts every form of a size', function()
      assert.equal('3x7x9', size(9, 7))
      assert.equal('3x5x10', size(10))
      assert.equal('3x5x10', size '10')
      assert.equal('3x6x8', size '8x6')
      assert.equal('3x10x20', size '^10')
      assert.equal('3x10x20', size '*1/2')
      assert.equal('3x30x60', size '*1.5')
      assert.equal('3x30x60', size('*1.5', 'simple'))
      assert.equal('3x1x2', size(2))
   end)

   it('truncates to an integer', function()
      assert.equal('3x7x15', size '*3/8')
      assert.equal('3x8x17', size(17.4, 8.7))
   end)

   it('computes into a destination, which may be the source', function()
      local dst = torch.Tensor(3, 10, 20)
      assert.equal(dst, image.scale(dst, m))
      assert.equal(0, (dst - image.scale(m, 20, 10)):abs():max())
      local same = m:clone()
      assert.equal(0, (image.scale(same, same) - m):abs():max())
   end)

   it('rejects values that are not images, sizes or modes', function()
      raises("image.scale: argument 'src' is a torch.LongTensor of size 3x4, wanted a ByteTensor,"
         .. ' FloatTensor or DoubleTensor', function() image.scale(torch.LongTensor(3, 4), 2) end)
      raises("image.scale: argument 'src' is a torch.DoubleTensor of size 4, wanted 2 to 3"
         .. ' dimensions and at least one element', function() image.scale(torch.Tensor(4), 2) end)
      raises("image.scale: argument 'size' is 'big', wanted a number, 'WxH', '^MIN', '*SCALE' or"
         .. " '*N/D'", function() image.scale(m, 'big') end)
      raises("image.scale: argument 'mode' is cubic, wanted 'bicubic' or 'bilinear' or 'simple'",
         function() image.scale(m, 4, 4, 'cubic') end)
      raises('image.scale: the destination is a torch.FloatTensor of size 3x2x2, wanted a'
         .. ' torch.DoubleTensor as the source is',
         function() image.scale(torch.FloatTensor(3, 2, 2), m) end)
   end)
end)

describe('image.crop', function()
   local m = torch.range(1, 24):view(1, 4, 6)

   it('cuts boxes and corners out', function()
      assert.same({9, 10}, image.crop(m, 2, 1, 4, 2):view(-1):totable())
      assert.same({1, 2, 7, 8}, image.crop(m, 'tl', 2, 2):view(-1):totable())
      assert.same({5, 6, 11, 12}, image.crop(m, 'tr', 2, 2):view(-1):totable())
      assert.same({13, 14, 19, 20}, image.crop(m, 'bl', 2, 2):view(-1):totable())
      assert.same({17, 18, 23, 24}, image.crop(m, 'br', 2, 2):view(-1):totable())
      assert.same({9, 10, 15, 16}, image.crop(m, 'c', 2, 2):view(-1):totable())
      assert.same({9, 10, 15, 16}, image.crop(torch.Tensor(1, 2, 2), m, 2, 1):view(-1):totable())
   end)

   it('scales to a destination of another size', function()
      local dst = image.crop(torch.Tensor(1, 1, 1), m, 0, 0, 2, 2)
      assert.equal(4.5, dst[1][1][1])
   end)

   it('shares no memory with the source', function()
      local source = m:clone()
      image.crop(source, 0, 0, 6, 4):zero()
      assert.equal(300, source:sum())
   end)

   it('rejects regions outside the image', function()
      raises('image.crop: columns 4 to 8 and rows 0 to 2 are not inside a picture of 6 x 4',
         function() image.crop(m, 4, 0, 8, 2) end)
      raises('image.crop: columns -1 to 7 and rows -2 to 6 are not inside a picture of 6 x 4',
         function() image.crop(m, 'c', 8, 8) end)
      raises("image.crop: argument 'corner' is middle, wanted 'bl' or 'br' or 'c' or 'tl' or 'tr'",
         function() image.crop(m, 'middle', 2, 2) end)
   end)
end)

describe('image.hflip, vflip and flip', function()
   local m = torch.range(1, 6):view(1, 2, 3)

   it('flip horizontally and vertically, also in place', function()
      assert.same({3, 2, 1, 6, 5, 4}, image.hflip(m):view(-1):totable())
      assert.same({4, 5, 6, 1, 2, 3}, image.vflip(m):view(-1):totable())
      assert.same({3, 2, 1}, image.hflip(m[1]:narrow(1, 1, 1)):view(-1):totable())
      local own = m:clone()
      assert.equal(own, image.hflip(own, own))
      assert.same({3, 2, 1, 6, 5, 4}, own:view(-1):totable())
   end)

   it('accept any type and dimension', function()
      for _, kind in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'} do
         local t = torch.range(1, 24):view(2, 3, 4):type('torch.' .. kind .. 'Tensor')
         for d = 1, 3 do
            local wanted = t:index(d, torch.range(t:size(d), 1, -1):long())
            assert.is_true(torch.eq(image.flip(t, d), wanted):all())
         end
      end
      raises("image.flip: argument 'dim' is 4, wanted 1 to 3", function() image.flip(m, 4) end)
   end)
end)

describe('image.translate', function()
   it('fills with zeros', function()
      local m = torch.range(1, 6):view(2, 3)
      assert.same({0, 1, 2, 0, 4, 5}, image.translate(m, 1, 0):view(-1):totable())
      assert.same({5, 6, 0, 0, 0, 0}, image.translate(m, -1, -1):view(-1):totable())
      assert.equal(0, image.translate(m, 3, 0):sum())
   end)
end)

describe('image.affinetransform', function()
   it('of the identity changes nothing, and shifts by a translation', function()
      local m = torch.rand(2, 6, 5)
      local one = torch.eye(2)
      assert.is_true((image.affinetransform(m, one) - m):abs():max() < 1e-6)
      local shifted = image.affinetransform(m, one, 'bilinear', {0, 1}, 'pad', 7)
      assert.is_true((shifted:narrow(3, 2, 4) - m:narrow(3, 1, 4)):abs():max() < 1e-6)
      assert.equal(7, shifted[1][1][1])
   end)
end)

describe('image.warp', function()
   it('reads no memory outside the image for any field, even NaN', function()
      local m = torch.rand(1, 3, 3)
      for _, mode in ipairs{'simple', 'bilinear', 'bicubic', 'lanczos'} do
         for _, far in ipairs{1e30, -1e30, 1 / 0, -1 / 0, 0 / 0} do
            local field = torch.Tensor(2, 2, 2):fill(far)
            local out = image.warp(m, field, mode, true, 'clamp')
            assert.is_true(out:ge(m:min() - 1):all() and out:le(m:max() + 1):all())
            assert.equal(4 * 0.5, image.warp(m, field, mode, true, 'pad', 0.5):sum())
         end
      end
   end)
end)
