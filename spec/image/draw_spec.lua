local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local torch = dpt.torch

-- Returns the coloured pixels of a picture as lines of text.
local function lines(picture)
   local out = {}
   for y = 1, picture:size(2) do
      local row = {}
      for x = 1, picture:size(3) do row[x] = picture[1][y][x] > 0 and '#' or '.' end
      out[y] = table.concat(row)
   end
   return table.concat(out, '\n')
end

describe('image.drawText', function()
   it('draws characters', function()
      local text = [[
.###..
#...#.
#...#.
#####.
#...#.
#...#.
#...#.
......]]
      assert.equal(text, lines(image.drawText(torch.zeros(3, 8, 6), 'A', 0, 0, {wrap = false})))
   end)

   it('is red, of bytes or floats, on a copy or in place', function()
      local picture = torch.ByteTensor(3, 10, 20):zero()
      local out = image.drawText(picture, 'x', 1, 1)
      assert.equal(0, picture:max())
      assert.equal(255, out[1]:max())
      assert.equal(0, out[2]:max())
      assert.equal(picture, image.drawText(picture, 'x', 1, 1, {inplace = true,
         color = {0, 7, 0}, bg = {9, 9, 9}}))
      assert.same({9, 9}, {picture[1]:max(), picture[2]:max()})
      assert.equal(1, image.drawText(torch.zeros(3, 10, 20), 'x', 1, 1):max())
   end)

   it('wraps to the next line, and clips at the border', function()
      local wrapped = image.drawText(torch.zeros(3, 40, 13), 'iiiii', 0, 0)
      assert.is_true(wrapped:narrow(2, 9, 8):sum() > 0)
      assert.is_true(wrapped:narrow(2, 17, 8):sum() > 0)
      local cut = image.drawText(torch.zeros(3, 4, 4), 'WWWW\nWW', -3, -3, {wrap = false, size = 2})
      assert.same({3, 4, 4}, cut:size():totable())
   end)

   it('requires three planes', function()
      raises("image.drawText: argument 'src' is a torch.DoubleTensor of size 1x2x2, wanted 3"
         .. ' planes',
         function() image.drawText(torch.zeros(1, 2, 2), 'x', 1, 1) end)
   end)
end)

describe('image.drawRect', function()
   it('draws an outline, cut at the edges', function()
      assert.equal('####..\n#..#..\n####..\n......',
         lines(image.drawRect(torch.zeros(3, 4, 6), 1, 1, 4, 3)))
      local all = image.drawRect(torch.zeros(3, 4, 4), -5, -5, 50, 50, {lineWidth = 3})
      assert.equal(0, all:sum())
   end)
end)
