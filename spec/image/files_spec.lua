local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local torch = dpt.torch

-- Calls f with the name of a file and removes the file afterwards.
local function withFile(ending, f)
   local base = os.tmpname()
   local name = base .. ending
   local ok, why = pcall(f, name)
   os.remove(base)
   os.remove(name)
   if not ok then error(why, 0) end
end

local function write(name, bytes)
   local file = assert(io.open(name, 'wb'))
   file:write(bytes)
   file:close()
end

-- Three ramps, 3 x 24 x 40.
local smooth = torch.Tensor(3, 24, 40)
for k = 1, 3 do
   smooth[k]:copy(torch.range(0, 959):view(24, 40):mul(k):remainder(960):div(960))
end
smooth = image.scale(image.scale(smooth, 5, 3), 40, 24)

describe('image.load and image.save', function()
   it('keep pictures: without loss as PNG, PPM and PGM, nearly as JPEG', function()
      local bytes = torch.mul(smooth, 255):round():byte()
      for ending, allowed in pairs{['.png'] = 0, ['.ppm'] = 0, ['.jpg'] = 4, ['.PNG'] = 0} do
         withFile(ending, function(name)
            image.save(name, bytes)
            local back = image.load(name, 3, 'byte')
            assert.equal('torch.ByteTensor', torch.type(back))
            assert.is_true((back:double() - bytes:double()):abs():mean() <= allowed)
            local as = image.load(name)
            assert.equal(torch.getdefaulttensortype(), torch.type(as))
            assert.is_true((as:double() * 255 - back:double()):abs():max() < 1e-4)
            assert.same({3, 24, 40}, image.getSize(name):totable())
         end)
      end
      withFile('.pgm', function(name)
         image.save(name, bytes[1])
         assert.is_true(torch.eq(image.load(name, nil, 'byte')[1], bytes[1]):all())
         assert.same({1, 24, 40}, image.getSize(name):totable())
      end)
   end)

   it('make one plane of three, and three of one', function()
      withFile('.png', function(name)
         image.save(name, smooth)
         local grey = image.load(name, 1, 'double')
         assert.same({24, 40}, grey:size():totable())
         assert.is_true((grey - image.rgb2y(smooth)[1]):abs():max() < 0.005)
         image.save(name, smooth[2])
         assert.same({3, 24, 40}, image.load(name, 3):size():totable())
         assert.same({1, 24, 40}, image.load(name):size():totable())
         image.save(name, torch.rand(4, 5, 6))
         assert.same({3, 5, 6}, image.load(name, 3):size():totable())
         assert.same({4, 5, 6}, image.load(name):size():totable())
      end)
   end)

   it('cut floats to 0 to 1', function()
      withFile('.png', function(name)
         image.save(name, torch.FloatTensor{{-3, 0, 0.5, 1, 7}})
         assert.same({0, 0, 128, 255, 255}, image.load(name, 1, 'byte')[1][1]:totable())
      end)
   end)

   it("keep tensors of every type, devices' too", function()
      withFile('.png', function(name)
         for _, kind in ipairs{'cuda', 'cudaDouble', 'half', 'float', 'int', 'long', 'cudaByte'} do
            local picture = torch.rand(3, 4, 5):mul(2):floor()
            image.save(name, picture[kind](picture))
            assert.same(picture:totable(), image.load(name):double():totable(), kind)
         end
      end)
   end)

   it("detect a file's format by its bytes", function()
      withFile('.jpg', function(name)
         image.savePNG(name, smooth)
         assert.same({3, 24, 40}, image.load(name):size():totable())
         raises(('image.loadJPG: %s is not a JPEG file: it begins with "\137PNG"'):format(name),
            function() image.loadJPG(name) end)
      end)
   end)

   it('read 16 bits, palettes and numbers as text', function()
      withFile('.ppm', function(name)
         write(name, 'P2\n# made by hand\n3 1 4\n0 2\n4\n')
         assert.same({0, 0.5, 1}, image.load(name, 1, 'double')[1][1]:totable())
         write(name, 'P5 2 1 65535\n\255\255\0\255')
         assert.same({255, 1}, image.load(name, 1, 'byte')[1][1]:totable())
      end)
   end)

   it('name the file and its fault', function()
      withFile('.jpg', function(name)
         raises('image.load: ' .. name .. ': No such file or directory',
            function() image.load(name) end)
         write(name, 'hello, world')
         raises(('image.load: %s is not a JPEG, PNG, PPM or PGM file: it begins with "hell"')
            :format(name), function() image.load(name) end)
         local jpeg = image.compressJPG(smooth):storage():string()
         write(name, jpeg:sub(1, #jpeg - 60))
         raises('image.load: ' .. name .. ': JPEG: the file ends before its picture does',
            function() image.load(name) end)
         local png = image.compressPNG(smooth):storage():string()
         write(name, png:sub(1, #png / 2))
         raises('image.load: ' .. name .. ': PNG: the file ends before its picture does',
            function() image.load(name) end)
         write(name, png:sub(1, 60) .. '\0' .. png:sub(62))
         assert.has_error(function() image.load(name) end)
         write(name, 'P6\n3 1\n255\nabc')
         raises('image.load: ' .. name .. ': the file ends before its picture does: it claims 3 x 1'
            .. ' pixels', function() image.load(name) end)
      end)
      raises("image.save: argument 'filename' is picture.gif, wanted a name that ends in .jpg,"
         .. ' .png, .ppm or .pgm', function() image.save('picture.gif', smooth) end)
      raises('image.saveJPG: JPEG: got 4 planes, wanted 1 or 3',
         function() image.saveJPG('x.jpg', torch.rand(4, 2, 2)) end)
      raises('image.save: cannot write /nowhere/x.png: no such file or directory',
         function() image.save('/nowhere/x.png', smooth) end)
   end)

   it("reject a header with a size beyond the file's", function()
      local jpeg = image.compressJPG(smooth):storage():string()
      local at = assert(jpeg:find '\255\192')
      local large = jpeg:sub(1, at + 4) .. '\234\96\234\96' .. jpeg:sub(at + 9)
      local function tensor(bytes) return torch.ByteTensor(torch.ByteStorage():string(bytes)) end
      raises(('image.decompress: the tensor: JPEG: %d bytes cannot hold the 60000 x 60000 pixels'
         .. ' that it claims'):format(#large), function() image.decompress(tensor(large)) end)
      local ok, why = pcall(image.decompress, tensor 'P6 99999 99999 255\nabc')
      assert.is_false(ok)
      assert.matches('claims 99999 x 99999 pixels', why)
   end)
end)

describe('image.compressJPG and decompress', function()
   it('keep pictures in tensors', function()
      local bytes = image.compressJPG(smooth, 90)
      assert.equal('torch.ByteTensor', torch.type(bytes))
      assert.is_true((image.decompressJPG(bytes) - smooth):abs():mean() < 0.02)
      assert.is_true(image.compressJPG(smooth, 10):size(1) < bytes:size(1))
      assert.is_true((image.decompress(image.compressPNG(smooth), 3, 'float'):double()
         - smooth):abs():max() < 0.003)
      raises("image.compressJPG: argument 'quality' is 101, wanted 0 to 100",
         function() image.compressJPG(smooth, 101) end)
      raises("image.decompress: argument 'tensor' is a torch.FloatTensor of size 3, wanted a"
         .. " ByteTensor with a file's bytes",
         function() image.decompress(torch.FloatTensor(3)) end)
   end)
end)
