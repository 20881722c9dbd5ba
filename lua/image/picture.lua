--- image.picture: computed test images, for examples.
--
-- Invariant: lena() can replace Torch7's: 3 x 512 x 512, of the default type, from 0 to 1 in steps
-- of 1/255, with soft and sharp edges, fine texture and many colours. It is the same in every call.
local torch = require('image.ffi').torch

local picture = {}

local SIZE = 512

--- Returns two matrices, the row and the column of each pixel, scaled to -1 to 1.
local function places()
   local line = torch.linspace(-1, 1, SIZE):float()
   local y = line:view(SIZE, 1):expand(SIZE, SIZE):clone()
   return y, y:t():clone()
end

--- Paints a colour where `plane` is 1, blends where it is between 0 and 1.
local function paint(rgb, plane, red, green, blue)
   for k, value in ipairs{red, green, blue} do
      local shade = torch.isTensor(value) and value or torch.FloatTensor(SIZE, SIZE):fill(value)
      rgb[k]:cmul(torch.mul(plane, -1):add(1)):addcmul(plane, shade)
   end
end

--- Returns a plane that is 1 where `distance` is negative and 0 elsewhere, with a soft edge.
local function inside(distance, edge)
   return torch.mul(distance, -1 / edge):add(0.5):clamp(0, 1)
end

local made

--- Returns a test image in colour: hills under an evening sky with a sun, a striped balloon and a
-- fence.
-- @function image.lena
-- @as image
-- @return a tensor, 3 x 512 x 512
-- @usage require('image').lena():size() --> 3x512x512
function picture.lena()
   if made then return made:typeAs(torch.Tensor()):clone() end
   local y, x = places()
   local rgb = torch.FloatTensor(3, SIZE, SIZE)
   for k, ends in ipairs{{0.20, 0.98}, {0.32, 0.72}, {0.62, 0.45}} do -- the sky, from above
      rgb[k]:copy(torch.add(y, 1):div(2):mul(ends[2] - ends[1]):add(ends[1]))
   end
   local function circle(cx, cy, r)
      return torch.add(x, -cx):pow(2):add(torch.add(y, -cy):pow(2)):sqrt():add(-r)
   end
   local sun = circle(-0.45, -0.35, 0)
   paint(rgb, torch.mul(sun, -2.2):exp():mul(0.8), 1, 0.85, 0.5)
   paint(rgb, inside(torch.add(sun, -0.17), 0.01), 1, 0.95, 0.75)
   for i, hill in ipairs{{0.15, 2.3, 0.4}, {0.35, 3.1, 2.0}, {0.58, 1.7, 3.9}} do
      local top = torch.mul(x, hill[2]):add(hill[3]):sin():mul(0.16):add(hill[1])
      local grass = torch.mul(x, 97 + 20 * i):add(torch.mul(y, 71)):sin()
         :cmul(torch.mul(y, 113):add(torch.mul(x, 43 * i)):sin()):mul(0.05)
      paint(rgb, inside(torch.add(top, -1, y), 0.004), torch.add(grass, 0.34 - 0.09 * i),
         torch.add(grass, 0.50 - 0.07 * i), torch.add(grass, 0.36 - 0.08 * i))
   end
   local balloon = circle(0.40, -0.42, 0.30)
   local angle = torch.cdiv(torch.add(x, -0.40), torch.add(y, -0.6):abs()):mul(16)
   local light = torch.add(x, -0.28):pow(2):add(torch.add(y, 0.56):pow(2)):mul(-5):exp():mul(0.35)
   paint(rgb, inside(balloon, 0.006), torch.add(light, 0.65),
      torch.sin(angle):mul(8):clamp(-1, 1):mul(0.30):add(0.40):add(light),
      torch.add(light, torch.cos(angle):mul(0.12):add(0.15)))
   paint(rgb, inside(torch.cmax(torch.add(x, -0.40):abs():add(-0.07),
      torch.add(y, -0.06):abs():add(-0.05)), 0.006), 0.40, 0.24, 0.12)
   local plank = torch.mul(x, math.pi * 8):cos():mul(-1):add(0.35)
   local rails = torch.add(y, -0.82):abs():add(-0.022)
   paint(rgb, inside(torch.cmax(torch.cmin(plank:div(18), rails), torch.mul(y, -1):add(0.70)),
      0.01), 0.93, 0.92, 0.88)
   made = rgb:clamp(0, 1):mul(255):round():div(255)
   return picture.lena()
end

--- Returns a test image in greyscale.
-- @function image.fabio
-- @as image
-- @return a tensor, 512 x 512
-- @usage require('image').fabio():size() --> 512x512
function picture.fabio()
   return require('image.colour').rgb2y(picture.lena())[1]
end

return picture
