--- dpt.parallel.buffers: the running statistics of the replicas.
--
-- What must stay true: while training each replica moves its own statistics by its own rows, and
-- nothing is copied; in evaluation replica 1's count on every device. They are the tensors that a
-- module has in running_mean and running_var. A copy that changes nothing is not made.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'

local Buffers = {}
Buffers.__index = Buffers

--- Nothing copied yet.
function Buffers.new()
   return setmetatable({}, Buffers)
end

-- Adds the statistics of a replica to a list, shared ones once.
local function collect(list, replica)
   local seen = {}
   for _, module in ipairs(replica:listModules()) do
      for _, field in ipairs{'running_mean', 'running_var'} do
         local t = module[field]
         if torch.isTensor(t) and comm.device(t) > 0 and not seen[t] then
            seen[t] = true
            list[#list + 1] = t
         end
      end
   end
   return list
end

--- Copies replica 1's statistics to the others where something has written to them.
-- @param dispatcher its exec calls a function for every replica
function Buffers:broadcast(dispatcher)
   local truth, others = {}, {}
   dispatcher:exec(function(replica) collect(truth, replica) end, 1)
   local version = comm.version(truth)
   if self.version == version then return end
   dispatcher:exec(function(replica, i)
      if i > 1 then collect(others, replica) end
   end)
   comm.broadcastInto(truth, others)
   self.version = version
end

return Buffers
