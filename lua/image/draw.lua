--- image.draw: draws text and rectangles on pictures.
--
-- Invariant: colours are red, green and blue from 0 to 255 for every type of picture. Coordinates
-- are a column and a row; pixels outside the picture are not drawn.
local binding = require 'image.ffi'
local font = require 'image.font'
local torch = binding.torch

local draw = {}

--- Fills columns x to x2 - 1 and rows y to y2 - 1, counted from 0, clipped to the picture.
local function fill(picture, x, y, x2, y2, colour)
   x, y = math.max(x, 0), math.max(y, 0)
   x2, y2 = math.min(x2, picture:size(3)), math.min(y2, picture:size(2))
   if x2 <= x or y2 <= y then return end
   local part = picture:narrow(2, y + 1, y2 - y):narrow(3, x + 1, x2 - x)
   for k = 1, 3 do part[k]:fill(colour[k]) end
end

--- Returns the picture to draw on, and a function that converts a colour to elements of its type.
local function begin(fn, src, options)
   binding.three(fn, 'src', src)
   local isByte = torch.type(src) == 'torch.ByteTensor'
   local function elements(colour)
      local out = {}
      for k = 1, 3 do
         local c = binding.number(fn, 'color', colour[k])
         out[k] = isByte and math.max(0, math.min(255, math.floor(c))) or c / 255
      end
      return out
   end
   return options.inplace and src or src:clone(), elements
end

--- Draws text with 6 x 8 pixels per character.
-- @function image.drawText
-- @as image
-- @param src tensor: 3 x H x W
-- @param text string: the text
-- @param x? number: the column, from 0 (1)
-- @param y? number: the row, from 0 (1)
-- @param options? table: color ({255, 0, 0}), bg (none), size (1), wrap (true), inplace (false: on
--    a copy)
-- @return the picture
-- @usage require('image').drawText(torch.zeros(3, 10, 10), 'I', 1, 1)[1]:max() --> 1
function draw.drawText(src, text, x, y, options)
   options = options or {}
   local picture, elements = begin('image.drawText', src, options)
   x = binding.number('image.drawText', 'x', x or 1, true)
   y = binding.number('image.drawText', 'y', y or 1, true)
   local size = binding.number('image.drawText', 'size', options.size or 1, true, 1)
   local ink = elements(options.color or {255, 0, 0})
   local ground = options.bg and options.bg[1] ~= -1 and elements(options.bg)
   local column, row = x, y
   for character in tostring(text or ''):gmatch '[^\r]' do
      if character == '\n' then
         column, row = x, row + 8 * size
      else
         if options.wrap ~= false and column + 6 * size >= picture:size(3) then
            column, row = 0, row + 8 * size
         end
         if ground then fill(picture, column, row, column + 6 * size, row + 8 * size, ground) end
         for dx, dy in font.dots(character) do
            local left, top = column + dx * size, row + dy * size
            fill(picture, left, top, left + size, top + size, ink)
         end
         column = column + 6 * size
      end
   end
   return picture
end

--- Draws the outline of a rectangle.
-- @function image.drawRect
-- @as image
-- @param src tensor: 3 x H x W
-- @param x1 number: a corner's column, from 1
-- @param y1 number: the corner's row, from 1
-- @param x2 number: the opposite corner's column
-- @param y2 number: the opposite corner's row
-- @param options? table: color ({255, 0, 0}), lineWidth (1), inplace (false: on a copy)
-- @return the picture
-- @usage require('image').drawRect(torch.zeros(3, 5, 5), 2, 2, 4, 4)[1][3][3] --> 0
function draw.drawRect(src, x1, y1, x2, y2, options)
   options = options or {}
   local fn = 'image.drawRect'
   local picture, elements = begin(fn, src, options)
   local ink = elements(options.color or {255, 0, 0})
   x1, y1 = binding.number(fn, 'x1', x1, true), binding.number(fn, 'y1', y1, true)
   x2, y2 = binding.number(fn, 'x2', x2, true), binding.number(fn, 'y2', y2, true)
   local width = binding.number(fn, 'lineWidth', options.lineWidth or 1, true, 1)
   local before = math.floor(width / 2) + 1
   local after = width - before
   fill(picture, x1 - before, y1 - before, x2 + after, y1 + after, ink)
   fill(picture, x1 - before, y2 - before, x2 + after, y2 + after, ink)
   fill(picture, x1 - before, y1 - before, x1 + after, y2 + after, ink)
   fill(picture, x2 - before, y1 - before, x2 + after, y2 + after, ink)
   return picture
end

return draw
