--- dpt.updates: informs optimizers about the networks whose parameters they update.
--
-- Invariant: nothing is computed or sent here, and nothing is kept alive. A flat tensor that was
-- returned to a script is stale once a tensor of a network has moved out of it: updating it no
-- longer affects the network. Owners of pending gradients, which still have to be summed, are
-- called before each update, in the order in which they were added, which is the same on all ranks.
local core = require 'dpt.tensor.core'

local updates = {}

local WEAK = {__mode = 'k'}

-- Flat tensors returned to scripts -> true if stale.
local given = setmetatable({}, WEAK)

--- Records a flat tensor that is returned to a script.
-- @return the tensor
function updates.give(flat)
   given[flat] = given[flat] or false
   return flat
end

--- Returns true if a tensor shares the storage of a tensor in a list.
function updates.isIn(list, tensor)
   for _, t in ipairs(list) do
      if t.storage_ ~= nil and t.storage_ == tensor.storage_ then return true end
   end
   return false
end

--- Records that tensors are about to move to other memory.
function updates.move(tensors)
   for flat in pairs(given) do
      local first, last = core.extent(flat)
      for _, t in ipairs(tensors) do
         if t:nElement() > 0 and updates.isIn({flat}, t) then
            local low, high = core.extent(t)
            if low <= last and high >= first then given[flat] = true end
         end
      end
   end
end

--- Returns true if tensors have moved out of a flat tensor.
function updates.isStale(flat) return given[flat] == true end

-- Owners of pending gradients -> sequence number.
local pending, count = setmetatable({}, WEAK), 0

--- Records an owner of pending gradients: its flush(x, dfdx) is called before an update of x by
-- dfdx, until the owner is removed.
function updates.addPending(owner)
   count = count + 1
   pending[owner] = count
end

function updates.removePending(owner) pending[owner] = nil end

--- Calls the owners of pending gradients, before an update of x by dfdx.
function updates.flush(x, dfdx)
   if next(pending) == nil then return end
   local owners = {}
   for owner in pairs(pending) do owners[#owners + 1] = owner end
   table.sort(owners, function(a, b) return pending[a] < pending[b] end)
   for _, owner in ipairs(owners) do owner:flush(x, dfdx) end
end

-- Networks that several ranks train.
local ofRanks = setmetatable({}, WEAK)

--- Records a network that several ranks train; its _trains(x) returns true if x is in its
-- parameters.
function updates.addOfRanks(network) ofRanks[network] = true end

--- Returns true if x is in parameters that several ranks train: the loss of one rank is not the
-- loss of all ranks.
function updates.isOfRanks(x)
   for network in pairs(ofRanks) do
      if network:_trains(x) then return true end
   end
   return false
end

return updates
