--- dpt.nn.elementwise: checks and reshapes the gradOutput of elementwise modules.
--
-- Invariant: gradOutput has as many elements as the input, in any shape, as in Torch7.
local torch = require('dpt.class').torch
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail

local elementwise = {}

--- Raises unless gradOutput has as many elements as the input.
function elementwise.checkCount(module, input, gradOutput)
   local n = input:nElement()
   if gradOutput:nElement() ~= n then
      fail("%s: argument 'gradOutput' is a %s, wanted %d elements, one for each of the input",
         torch.type(module), core.describeSize(gradOutput), n)
   end
end

--- Returns gradOutput with the input's sizes: itself, a view, or a view of a contiguous copy.
function elementwise.reshape(module, input, gradOutput)
   if torch.isSameSizeAs(input, gradOutput) then return gradOutput end
   elementwise.checkCount(module, input, gradOutput)
   return gradOutput:contiguous():view(input:size())
end

return elementwise
