--- dpt.updates: informs optimizers about the networks whose parameters they update.
--
-- Invariant: nothing is computed or sent here, and nothing is kept alive. A flat tensor that was
-- returned to a script is stale once a tensor of a network has moved out of it: updating it no
-- longer affects the network. Holders of pending gradients, which still have to be summed, are
-- called before each update, in the order in which they were added, which is the same on all ranks.
local core = require 'dpt.tensor.core'

local updates = {}

local WEAK = {__mode = 'k'}

-- Flat tensors returned to scripts -> true if stale.
local flatTensors = setmetatable({}, WEAK)

--- Records a flat tensor that is returned to a script.
-- @return the tensor
function updates.registerFlat(flat)
   flatTensors[flat] = flatTensors[flat] or false
   return flat
end

--- Returns true if a tensor shares the storage of a tensor in a list.
function updates.sharesStorage(list, tensor)
   for _, t in ipairs(list) do
      if t.storage_ ~= nil and t.storage_ == tensor.storage_ then return true end
   end
   return false
end

--- Records that tensors are about to move to other memory.
function updates.markMoved(tensors)
   for flat in pairs(flatTensors) do
      for _, t in ipairs(tensors) do
         if core.overlap(flat, t) then flatTensors[flat] = true end
      end
   end
end

--- Returns true if tensors have moved out of a flat tensor.
function updates.isStale(flat) return flatTensors[flat] == true end

-- Holders of pending gradients -> sequence number.
local pending, count = setmetatable({}, WEAK), 0

--- Records a holder of pending gradients: its flush(x, dfdx) is called before an update of x by
-- dfdx, until the holder is removed.
function updates.addPending(holder)
   count = count + 1
   pending[holder] = count
end

function updates.removePending(holder) pending[holder] = nil end

--- Calls the holders of pending gradients, before an update of x by dfdx.
function updates.flush(x, dfdx)
   if next(pending) == nil then return end
   local holders = {}
   for holder in pairs(pending) do holders[#holders + 1] = holder end
   table.sort(holders, function(a, b) return pending[a] < pending[b] end)
   for _, holder in ipairs(holders) do holder:flush(x, dfdx) end
end

-- Networks that several ranks train.
local distributed = setmetatable({}, WEAK)

--- Records a network that several ranks train; network:_trains(x) returns true if x is a part of
-- its parameters.
function updates.addDistributed(network) distributed[network] = true end

--- Returns true if x is in parameters that several ranks train: the loss of one rank is not the
-- loss of all ranks.
function updates.isDistributed(x)
   for network in pairs(distributed) do
      if network:_trains(x) then return true end
   end
   return false
end

return updates
