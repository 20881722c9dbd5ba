--- dpt.tensor: tensors, storages and the torch.* functions over them; returns the table `torch`.
--
-- What must stay true: the parts add to `torch` and to the method tables in this order; each needs
-- only what stands before it.
local class = require 'dpt.class'

-- while parts of the library are still missing, what needs them is left out
for part in ([[
   core
   sizes
   storage
   indexing
   construct
   query
   views
   convert
   print
   pointwise
   numbers
   operators
   reduce
   gather
   linalg
   create
   random
   system
]]):gmatch('%S+') do
   local ok, why = pcall(require, 'dpt.tensor.' .. part)
   if not ok and not tostring(why):find('undefined symbol', 1, true)
      and not tostring(why):find('has no function dpt_', 1, true) then
      error(why, 0)
   end
end

return class.torch
