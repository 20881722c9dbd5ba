--- nn.SpatialZeroPadding(l, r, t, b): zeros around an image; negative numbers cut off.
-- What must stay true: r, t and b default to l; input is (N)xCxHxW.

local torch = require 'dpt.tensor'
local C = require 'dpt.ffi'.C
local lib = require 'dpt.nn.lib'
local window = require 'dpt.nn.window'

local mode = C.DPT_PAD_ZERO

local SpatialZeroPadding, parent = torch.class('nn.SpatialZeroPadding', 'nn.Module')

function SpatialZeroPadding:__init(l, r, t, b)
   parent.__init(self)
   self.pad_l = l
   self.pad_r = r or l
   self.pad_t = t or l
   self.pad_b = b or l
end

function SpatialZeroPadding:updateOutput(input)
   lib.pad_forward(self.output, input, mode, 2, window.sizes(self.pad_t, self.pad_l),
      window.sizes(self.pad_b, self.pad_r))
   return self.output
end

function SpatialZeroPadding:updateGradInput(input, gradOutput)
   lib.pad_backward(self.gradInput, gradOutput, input, mode, 2,
      window.sizes(self.pad_t, self.pad_l), window.sizes(self.pad_b, self.pad_r))
   return self.gradInput
end

function SpatialZeroPadding:__tostring__()
   return ('%s(l=%d, r=%d, t=%d, b=%d)'):format(torch.type(self), self.pad_l, self.pad_r,
      self.pad_t, self.pad_b)
end

return SpatialZeroPadding
