--- dpt.nn.pointwise: defines layers that apply one pointwise operation of the C library
-- (csrc/ops/map.def).
--
-- Invariant: forward is r = op(input), backward is r = op_backward(gradOutput, input or output). In
-- place, the result aliases the operand. gradOutput has the input's shape: dpt.nn.signatures
-- declares it as `elementwise`.

local dptffi = require 'dpt.ffi'
local C, lib, type = dptffi.C, dptffi.lib, dptffi.type

local M = {}

--- Returns the number of an operation in the C library.
function M.id(name)
   local id = C.dpt_op(name)
   if id < 0 then error('libdpt has no pointwise operation ' .. name, 0) end
   return id
end

--- Returns updateOutput and updateGradInput of a layer.
-- @param spec forward, backward: names of operations; of: 'input' or 'output', the operand of
-- backward; p, q: names of the fields that hold the operations' parameters; q may be a number
function M.passes(spec)
   local forward, backward = M.id(spec.forward), M.id(spec.backward)
   local p, q, ofOutput = spec.p, spec.q, spec.of == 'output'
   local fixed = 0 -- q if no field holds it
   if type(q) == 'number' then q, fixed = nil, q end

   local function updateOutput(self, input)
      local output = self.output
      if self.inplace then
         output:set(input)
      else
         lib.resize_beside(output, input.ndim_, input.size_, input)
      end
      lib.map1(forward, output, input, p and self[p] or 0, q and self[q] or fixed)
      return output
   end

   local function updateGradInput(self, input, gradOutput)
      local gradInput = self.gradInput
      if not gradInput then return end
      if self.inplace then
         gradInput:set(gradOutput)
      else
         lib.resize_beside(gradInput, input.ndim_, input.size_, input)
      end
      lib.map2(backward, gradInput, gradOutput, ofOutput and self.output or input,
         p and self[p] or 0, q and self[q] or fixed)
      return gradInput
   end

   return updateOutput, updateGradInput
end

--- Adds these methods to a class.
function M.define(class, spec)
   class.outputSplit = class.sameSplit
   class.updateOutput, class.updateGradInput = M.passes(spec)
end

return M
