--- dpt.parallel.ranks.sender: sums the gradients of all ranks of a group.
--
-- Invariant: sums are taken in place, in views of the flat gradients: no bucket is a copy. All
-- ranks send the same views in the same order. A hook replaces the sum of a view: by a sum of
-- halves or bfloat16, or by a function of the script. `bytes` counts what this rank has sent in
-- each case.
--
-- In deterministic mode, with several devices in a process, processes do not sum locally first.
-- Every rank gets all devices' parts and adds them in the order of ranks and devices, as one
-- process with as many devices would (dpt.comm.reduceInto).
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'

local C, fail, type = dptffi.C, dptffi.fail, dptffi.type

local Sender = {}
Sender.__index = Sender

--- -0, the neutral element of addition: -0 + x has the same bits as x.
Sender.NOTHING = -1 / math.huge

local LITTLE = 2 ^ 20 -- sums of at most this many bytes are sent by the calling thread itself
local CHUNK = 2 ^ 18 -- elements of which a rank holds all parts at once

--- @param bytes its field gradients counts the bytes sent
-- @param hook nil, 'half', 'bfloat16', or function(tensor, bucket) that writes the sum over all
-- ranks to the tensor, or returns it
-- @param group group of the ranks
function Sender.new(bytes, hook, group)
   return setmetatable({bytes = bytes, hook = hook, group = group, parts = 1}, Sender)
end

--- Returns true if the parts of all devices are summed in order. The result is the same on all
-- ranks. (The field parts is the largest number of devices of a rank.)
function Sender:isOrdered()
   return self.parts > 1 and not self.hook and C.dpt_deterministic_get() ~= 0
end

-- Calls the hook, which writes to t or returns the sum in another tensor (like PyTorch's hooks).
local function hooked(self, t, b)
   local own = t.new():set(t)
   local result = self.hook(t, b)
   if not t:isSetTo(own) then
      fail('nn.DistributedDataParallel: the hook has given bucket %d other memory: it is to write'
         .. ' into it, or to return a tensor', b)
   end
   if result == nil or rawequal(result, t) then return end
   if not torch.isTensor(result) or result:nElement() ~= t:nElement() then
      fail('nn.DistributedDataParallel: the hook has returned %s for bucket %d, wanted nothing or a'
         .. ' tensor of %d elements', torch.isTensor(result) and 'a tensor of '
         .. result:nElement() .. ' elements' or 'a ' .. type(result), b, t:nElement())
   end
   t:copy(result)
end

local function sum(self, t, b, now)
   local wire = type(self.hook) == 'string' and self.hook or nil
   if self.hook and not wire then hooked(self, t, b)
   else distributed.allReduce(t, 'sum', self.group, 'gradients, bucket ' .. b, now, wire) end
   self.bytes.gradients = self.bytes.gradients + t:nElement() * (wire and 2 or t:elementSize())
end

-- Writes the sum of all ranks' parts to t, which is this rank's first part.
local function gather(self, t, others)
   local count = t:nElement()
   for first = 1, count, CHUNK do
      local n = math.min(CHUNK, count - first + 1)
      local own = t.new(self.parts, n):fill(Sender.NOTHING) -- a rank may have fewer devices
      local here = t:narrow(1, first, n)
      own[1]:copy(here)
      for i, other in ipairs(others) do own[i + 1]:copy(other:narrow(1, first, n)) end
      local all = t.new(self.group:size() * self.parts, n)
      distributed.allGather(all, own, self.group, 'gradients')
      local rest = {}
      for i = 2, all:size(1) do rest[i - 1] = all[i] end
      here:copy(all[1])
      comm.reduceInto({here}, rest)
   end
   self.bytes.gradients = self.bytes.gradients + (1 + #others) * count * t:elementSize()
end

local function bytesOf(list)
   local bytes = 0
   for _, t in ipairs(list) do bytes = bytes + t:nElement() * t:elementSize() end
   return bytes
end

--- Sums tensors over several devices and all ranks, into those of the first device.
-- @param list tensors of the first device
-- @param others tensors of the other devices, in one list; they are set to zero
function Sender:sendAll(list, others)
   if not self:isOrdered() then
      if #others > 0 then comm.reduceInto(list, others, true) end
      return self:send(list, 1, bytesOf(list) <= LITTLE)
   end
   for k, t in ipairs(list) do
      local parts = {}
      for i = k, #others, #list do parts[#parts + 1] = others[i]:view(-1) end
      cutorch.withDeviceOf(t, gather, self, t:view(-1), parts)
   end
   for _, t in ipairs(others) do t:zero() end
end

--- Sums tensors over all ranks, in place and in order of their current stream.
-- @param list of tensors
-- @param b number of their bucket
-- @param now true waits until the sum is done, which avoids handing it between three threads
function Sender:send(list, b, now)
   for _, t in ipairs(list) do cutorch.withDeviceOf(t, sum, self, t, b, now) end
end

return Sender
