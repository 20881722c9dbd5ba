--- gradOutput of modules that treat every element alone.
--
-- Invariant: it may have any shape, as in Torch7, but has as many elements as the input.
local torch = require('dpt.class').torch
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail

local alike = {}

--- Raises unless gradOutput has as many elements as the input.
function alike.count(module, input, gradOutput)
   local n = input:nElement()
   if gradOutput:nElement() ~= n then
      fail("%s: argument 'gradOutput' is a %s, wanted %d elements, one for each of the input",
         torch.type(module), core.describeSize(gradOutput), n)
   end
end

--- gradOutput itself, or a view of it with the input's sizes: of a copy if it has gaps.
function alike.shape(module, input, gradOutput)
   if torch.isSameSizeAs(input, gradOutput) then return gradOutput end
   alike.count(module, input, gradOutput)
   return gradOutput:contiguous():view(input:size())
end

return alike
