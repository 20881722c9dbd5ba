--- dpt.parallel.ranks.sender: lets the gradients of all ranks be added up.
--
-- Invariant: what is sent are views of the flat gradients, in place: no bucket is a copy. All ranks
-- send the same views in the same order. A hook stands for the sum of a view: by halves, or a
-- function of a script. Bytes count what this rank has sent for all of that.
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local Sender = {}
Sender.__index = Sender

--- @param bytes counts in its field gradients
-- @param hook nil, 'half', or function(tensor, bucket) that leaves the sum over all ranks in it
function Sender.new(bytes, hook)
   return setmetatable({bytes = bytes, hook = hook}, Sender)
end

-- The sum by halves: they are added up as floats, and what is too large for one is infinite then.
local function sumHalves(t, name)
   local half = comm.device(t) > 0 and t:cudaHalf() or t:half()
   distributed.allReduce(half, 'sum', nil, name)
   t:copy(half)
   return half
end

local function sum(self, t, b)
   local sent = t
   if self.hook == 'half' then
      sent = sumHalves(t, 'gradients as halves, bucket ' .. b)
   elseif type(self.hook) == 'function' then
      self.hook(t, b)
   else
      distributed.allReduce(t, 'sum', nil, 'gradients, bucket ' .. b)
   end
   self.bytes.gradients = self.bytes.gradients + sent:nElement() * sent:elementSize()
end

--- Adds up tensors over all ranks, in place, in the order of their current stream.
-- @param list of tensors
-- @param b the number of the bucket that they are
function Sender:send(list, b)
   for _, t in ipairs(list) do
      local device = comm.device(t)
      if device > 0 and self.hook then
         cutorch.withDevice(device, sum, self, t, b)
      else
         sum(self, t, b)
      end
   end
end

return Sender
