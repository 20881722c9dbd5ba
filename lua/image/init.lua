--- image: pictures as tensors, with the names and meanings of Torch7's package `image`.
--
-- Invariant: a picture is H x W, or K x H x W with planes first; bytes are from 0 to 255, floats
-- and doubles from 0 to 1. Everything is computed on the host, by torch.getnumthreads() threads.
local modules = {}
for i, name in ipairs{'files', 'geometry', 'colour', 'kernels', 'filter', 'display', 'draw',
   'picture'} do
   modules[i] = require('image.' .. name)
end

local image = {}
for _, module in ipairs(modules) do
   for name, f in pairs(module) do image[name] = f end
end
image.named = nil

rawset(_G, 'image', image) -- as in Torch7
pcall(require, 'dok') -- a global, too, if it is installed
return image
