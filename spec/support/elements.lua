--- Lists the names of element types ('Float', 'BFloat16'), as csrc/base/dtype.h lists the types.
--
-- all, integers, reals, reduced (the reals of 16 bits), everywhere (all, on the host and on
-- devices: 'Float', 'Cuda', 'Byte', 'CudaByte'). onDevice(name) returns the name on devices.
local core = require 'dpt.tensor.core'

local elements = {all = {}, integers = {}, reals = {}, reduced = {}, everywhere = {}}

for dtype = 0, #core.elements do
   local element = core.elements[dtype]
   local function add(list) list[#list + 1] = element.name end
   add(elements.all)
   add(element.isReal and elements.reals or elements.integers)
   if element.isReduced then add(elements.reduced) end
end
core.eachKind(function(kind) table.insert(elements.everywhere, core.names[kind]) end)

function elements.onDevice(name)
   return core.names[core.kinds['torch.' .. name .. 'Tensor'] + core.ON_DEVICE]
end

return elements
