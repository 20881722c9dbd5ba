--- dpt.distributed.values: converts Lua values to bytes, which one rank sends to another.
--
-- Invariant: value(bytes(x)) equals torch.deserialize(torch.serialize(x)); x may be nil.
local torch = require 'dpt.tensor'
require 'dpt.file'

local values = {}

--- Returns a value's bytes as a ByteTensor.
function values.bytes(value)
   return torch.ByteTensor(torch.ByteStorage():string(torch.serialize{value = value}))
end

--- Returns the value that values.bytes encoded in a ByteTensor, which must be contiguous.
function values.value(bytes)
   return torch.deserialize(bytes:clone():storage():string()).value
end

return values
