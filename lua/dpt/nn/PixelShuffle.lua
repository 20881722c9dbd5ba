--- nn.PixelShuffle(r): rearranges (N x) (C r^2) x H x W to (N x) C x (H r) x (W r): channels become
-- pixels.
-- Invariant: channel c r^2 + i r + j becomes pixel (i, j) of each r x r block.
-- @function nn.PixelShuffle
-- @within nn simple
-- @as layer
-- @param upscaleFactor r, the factor of height and width
-- @return a module; forward: B x (C r^2) x H x W -> B x C x (H r) x (W r)
-- @usage nn.PixelShuffle(2):forward(torch.ones(1, 8, 3, 3)):size() --> 1x2x6x6

local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail

local PixelShuffle, parent = torch.class('nn.PixelShuffle', 'nn.Module')

function PixelShuffle:__init(upscaleFactor)
   parent.__init(self)
   self.upscaleFactor = upscaleFactor
end

--- Returns batch size (or 1), C, H and W, where C counts output channels and H and W are the
-- input's.
-- @function nn.PixelShuffle:sizes
-- @as author
-- @param input tensor: (N x) C x H x W
-- @return four numbers
-- @usage nn.PixelShuffle(2):sizes(torch.ones(4, 2, 3)) --> 1, 1, 2, 3
function PixelShuffle:sizes(input)
   local r = self.upscaleFactor
   if input:dim() ~= 3 and input:dim() ~= 4 or input:size(input:dim() - 2) % (r * r) ~= 0 then
      fail('nn.PixelShuffle: input of size %s, wanted (N)xCxHxW with C a multiple of %d',
         table.concat(input:size():totable(), 'x'), r * r)
   end
   local batch = input:dim() == 4 and input:size(1) or 1
   local d = input:dim() - 2
   return batch, input:size(d) / (r * r), input:size(d + 1), input:size(d + 2)
end

function PixelShuffle:updateOutput(input)
   local n, c, h, w = self:sizes(input)
   local r = self.upscaleFactor
   local blocks = input:contiguous():view(n * c, r, r, h, w):permute(1, 4, 2, 5, 3)
   self.output = self.output:typeAs(input)
   if input:dim() == 4 then
      self.output:resize(n, c, h * r, w * r)
   else
      self.output:resize(c, h * r, w * r)
   end
   self.output:view(n * c, h, r, w, r):copy(blocks)
   return self.output
end

function PixelShuffle:updateGradInput(input, gradOutput)
   local n, c, h, w = self:sizes(input)
   local r = self.upscaleFactor
   local blocks = gradOutput:contiguous():view(n * c, h, r, w, r):permute(1, 3, 5, 2, 4)
   self.gradInput = self.gradInput:typeAs(input):resizeAs(input)
   self.gradInput:view(n * c, r, r, h, w):copy(blocks)
   return self.gradInput
end

return PixelShuffle
