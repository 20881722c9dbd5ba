--- dpt.nn.MixedPrecision.passes: methods of a decorator whose module works in another precision.
--
-- Invariant: gradOutput is converted to the types of the module's output, gradInput to the types of
-- the input. The module's backward receives the converted input of the forward. If the input is
-- another object (in threads), it is converted to other memory: modules may have overwritten the
-- input of the forward in place.
-- Fields of the decorator:
--    kinds_ = {float, reduced, outer, inner}: kinds of tensors; the module works in the kind inner
--    keepsInput, keepsOutput: parts that are not converted, in the form of precision.keepsInput
--    buffers_, given_, input_, result_: state of the last forward
local cast = require 'dpt.nn.MixedPrecision.cast'

local M = {}

-- Converts and records an input.
local function inward(self, key, input)
   self.given_ = cast.to(self.buffers_, key, input, self.kinds_.outer, self.kinds_.inner,
      self.keepsInput)
   self.input_ = input
   return self.given_
end

-- Converts a value to the types of its counterparts.
local function like(self, key, value, other)
   return cast.like(self.buffers_, key, value, other, self.kinds_.float, self.kinds_.reduced)
end

function M:updateOutput(input)
   self.result_ = self.modules[1]:updateOutput(inward(self, 'input', input))
   self.output = cast.to(self.buffers_, 'output', self.result_, self.kinds_.inner,
      self.kinds_.outer, self.keepsOutput)
   return self.output
end

-- Calls the module's method `name` with converted tensors.
local function call(self, name, input, gradOutput, factor)
   if not rawequal(input, self.input_) then inward(self, 'again', input) end
   local inner = self.modules[1]
   return inner[name](inner, self.given_, like(self, 'gradOutput', gradOutput, self.result_),
      factor)
end

for _, name in ipairs{'updateGradInput', 'backward'} do
   M[name] = function(self, input, gradOutput, scale)
      self.gradInput = like(self, 'gradInput', call(self, name, input, gradOutput, scale), input)
      return self.gradInput
   end
end

for _, name in ipairs{'accGradParameters', 'accUpdateGradParameters',
   'sharedAccUpdateGradParameters'} do
   M[name] = function(self, input, gradOutput, factor)
      call(self, name, input, gradOutput, factor)
   end
end

--- Creates the buffers of passes.
function M:resetTransient() self.buffers_ = {} end

--- Returns the split of the inner module.
function M:inputSplit(input) return self.modules[1]:inputSplit(input) end
function M:outputSplit(split) return self.modules[1]:outputSplit(split) end

return M
