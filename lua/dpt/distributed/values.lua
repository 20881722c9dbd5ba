--- dpt.distributed.values: Lua values as bytes that go from one rank to another.
--
-- Invariant: value(bytes(x)) is what torch.deserialize(torch.serialize(x)) is; nil is a value, too.
local torch = require 'dpt.tensor'
require 'dpt.file'

local values = {}

--- A ByteTensor.
function values.bytes(value)
   return torch.ByteTensor(torch.ByteStorage():string(torch.serialize{value = value}))
end

--- The value of a contiguous ByteTensor of values.bytes.
function values.value(bytes)
   return torch.deserialize(bytes:clone():storage():string()).value
end

return values
