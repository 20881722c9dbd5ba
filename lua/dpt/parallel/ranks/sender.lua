--- dpt.parallel.ranks.sender: lets the gradients of all ranks be added up.
--
-- Invariant: what is sent are views of the flat gradients, in place: no bucket is a copy. All ranks
-- send the same views in the same order. Bytes count what this rank has sent for all of that.
local distributed = require 'dpt.distributed'

local Sender = {}
Sender.__index = Sender

--- @param bytes counts in its field gradients
function Sender.new(bytes)
   return setmetatable({bytes = bytes}, Sender)
end

--- Adds up tensors over all ranks, in place, in the order of their current stream.
-- @param list of tensors
-- @param b the number of the bucket that they are
function Sender:send(list, b)
   for _, t in ipairs(list) do
      self.bytes.gradients = self.bytes.gradients + t:nElement() * t:elementSize()
      distributed.allReduce(t, 'sum', nil, 'gradients, bucket ' .. b)
   end
end

return Sender
