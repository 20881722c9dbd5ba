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

--- The statistics of a replica, shared ones once (run by a dispatcher).
function Buffers.collect(replica)
   local list, seen = {}, {}
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
-- @param module replica 1
-- @param dispatcher what runs the replicas
function Buffers:broadcast(module, dispatcher)
   local truth, others = Buffers.collect(module), {}
   local version = comm.version(truth)
   if self.version == version then return end
   for i, list in ipairs(dispatcher:run('buffers', 'collect')) do
      for _, t in ipairs(i > 1 and list or {}) do others[#others + 1] = t end
   end
   comm.broadcastInto(truth, others)
   self.version = version
end

return Buffers
