--- dpt.nn.padding: defines layers that pad images (nn.SpatialZeroPadding and the like) by a mode of
-- the C library.
--
-- Invariant: the classes differ only in name and mode. r, t and b default to l. Input is (N)xCxHxW.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local C, lib = dptffi.C, dptffi.lib
local window = require 'dpt.nn.window'

local M = {}

--- Defines the class `name` with its constructor (l, r, t, b).
-- @param name such as 'nn.SpatialZeroPadding'
-- @param mode DPT_PAD_ZERO, DPT_PAD_REFLECT or DPT_PAD_REPLICATE
-- @return the class
function M.define(name, mode)
   local class, parent = torch.class(name, 'nn.Module')

   function class:__init(l, r, t, b)
      parent.__init(self)
      self.pad_l = l
      self.pad_r = r or l
      self.pad_t = t or l
      self.pad_b = b or l
   end

   -- Converts a tensor to the result's type for zero padding, as Torch7 does.
   local function typed(t, result)
      return mode == C.DPT_PAD_ZERO and t:typeAs(result) or t
   end

   local function pads(self)
      return window.sizes(self.pad_t, self.pad_l), window.sizes(self.pad_b, self.pad_r)
   end

   function class:updateOutput(input)
      lib.pad_forward(self.output, typed(input, self.output), mode, 2, pads(self))
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      local gradInput = self.gradInput
      lib.pad_backward(gradInput, typed(gradOutput, gradInput), typed(input, gradInput), mode, 2,
         pads(self))
      return self.gradInput
   end

   function class:__tostring__()
      return ('%s(l=%d, r=%d, t=%d, b=%d)'):format(torch.type(self), self.pad_l, self.pad_r,
         self.pad_t, self.pad_b)
   end

   return class
end

return M
