--- dpt.nn.exact_indices(module, indices, n): raises if indices up to n are in a 16-bit type that
-- cannot represent all of them.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail

return function(module, indices, n)
   if not torch.isTensor(indices) or not core.elementOf(indices.kind_).isReduced then return end
   local last = core.newTensor(indices.kind_ % core.ON_DEVICE):resize(2)
   last[1], last[2] = n - 1, n
   if last[1] ~= n - 1 or last[2] ~= n then
      fail("%s: argument 'input' has indices in a %s, which cannot represent the indices up to %d,"
         .. ' wanted a torch.LongTensor', torch.type(module), indices:type(), n)
   end
end
