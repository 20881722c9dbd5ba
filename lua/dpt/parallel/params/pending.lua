--- dpt.parallel.params.pending: gradients that stay on replicas or ranks until they are summed
-- (noSync).
--
-- Invariant: while gradients are pending, only passes write to them and to the parameters. Anything
-- else that would lead to a wrong result raises at the next use: a pass that failed after it had
-- added to them, a write to gradients, an update from one part of them, a change of the network.
-- Clearing them ends the pending state.
local fail = require('dpt.ffi').fail
local comm = require 'dpt.comm'
local updates = require 'dpt.updates'

local Pending = {}
Pending.__index = Pending

local CLEAR = 'begin again with zeroGradParameters()'

--- @param onUpdate function(x, dfdx), called before x is updated by dfdx, while gradients are
--    pending
-- @param holders holders of parts of the gradients: 'replicas' or 'ranks'
-- @param prefix prefix of messages; nil: none
function Pending.new(onUpdate, holders, prefix)
   return setmetatable({onUpdate = onUpdate, holders = holders, prefix = prefix or ''}, Pending)
end

--- Handles an update of x by dfdx; optimizers call it before the update (dpt.updates).
function Pending:flush(x, dfdx) self.onUpdate(x, dfdx) end

--- Returns true while gradients are pending.
function Pending:isPending() return self.gradients ~= nil end

--- Records that a pass has left pending gradients.
-- @param parameters list of tensors
-- @param gradients list of tensors: this holder's part
function Pending:record(parameters, gradients)
   self.parameters, self.gradients = parameters, gradients
   self.parametersVersion, self.gradientsVersion = comm.version(parameters), comm.version(gradients)
   updates.addPending(self)
end

--- Records that a pass has ended: its writes to parameters were no update.
function Pending:endPass()
   if self.gradients then self.parametersVersion = comm.version(self.parameters) end
end

--- Records that a pass has failed after it may have added to gradients. They are useless until they
-- are cleared; clearing by hand counts.
function Pending:invalidate(parameters, gradients)
   self:record(parameters, gradients)
   self.isInvalid = true
end

local function isZero(tensors)
   for _, t in ipairs(tensors) do
      if t:nElement() > 0 and t:norm() ~= 0 then return false end
   end
   return true
end

--- Ends the pending state.
function Pending:clear()
   if not self.gradients then return end
   self.parameters, self.gradients = nil, nil
   self.parametersVersion, self.gradientsVersion = nil, nil
   self.isInvalid = nil
   updates.removePending(self)
end

-- Returns true if something other than a pass has written to the parameters.
local function isUpdated(self)
   return self.gradients and not self.isInvalid
      and self.parametersVersion ~= comm.version(self.parameters)
end

--- Raises if something other than a pass has written to the parameters.
function Pending:checkUpdate()
   if isUpdated(self) then
      fail('%sparameters were written to while %s hold parts of the gradients (noSync): an update'
         .. " by hand uses one part only; call syncGradients() before it (optim's functions and"
         .. ' updateParameters do), or zeroGradParameters() to drop the gradients; %s',
         self.prefix, self.holders, CLEAR)
   end
end

--- Returns true if gradients are pending; raises if they are useless.
function Pending:check()
   if self.isInvalid then
      if self.gradientsVersion == comm.version(self.gradients) or not isZero(self.gradients) then
         fail('%sa backward failed after it had added to gradients, which cannot be separated from'
            .. ' earlier ones; %s', self.prefix, CLEAR)
      end
      self:clear()
   end
   self:checkUpdate()
   if self.gradients and self.gradientsVersion ~= comm.version(self.gradients) then
      fail('%sgradients were written to while %s hold parts of them (noSync): call syncGradients()'
         .. ' before, or clear them with zeroGradParameters()', self.prefix, self.holders)
   end
   return self.gradients ~= nil
end

--- Ends the pending state because gradients are cleared.
-- @return true if something other than a pass has written to the parameters: to try another point,
-- or as an update from one part of the gradients
function Pending:discard()
   local updated = isUpdated(self)
   self:clear()
   return updated
end

--- Raises if gradients are pending: a change of the network has made them useless.
function Pending:rejectChange()
   if not self.gradients then return end
   self:clear()
   fail('%sthe network was changed while gradients waited for syncGradients(), and those of other'
      .. ' %s are lost; %s', self.prefix, self.holders, CLEAR)
end

return Pending
