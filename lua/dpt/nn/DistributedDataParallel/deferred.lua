--- dpt.nn.DistributedDataParallel.deferred: gradients that wait on their ranks (noSync).
--
-- Invariant: in noSync nothing is sent. A rank's gradients hold the sum of its passes, each times
-- its weight in units of the first one's; what rank 0 had before is kept beside them (`base`). The
-- next pass outside, or syncGradients, adds all up: so that the result is that of as many passes,
-- each divided by the mean of their weights, which is that of one process if its batches are as
-- large.
local dptffi = require 'dpt.ffi'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local follow = require 'dpt.nn.DataParallelTable.follow'
local flatten = require 'dpt.parallel.params.flatten'
local weights = require 'dpt.parallel.ranks.weights'

local deferred = {}

local NAME = 'nn.DistributedDataParallel'

--- Calls f(...); a backward in it leaves each rank its own gradients, and nothing is sent. They are
-- added up by the next backward outside, or by syncGradients.
-- @return what f returns
deferred.noSync = follow.noSync

-- What this rank's gradient counts and of what kind that is.
function deferred:_weight(gradOutput)
   if self.reduce == 'sum' then return 1, weights.SUM end
   if self.reduce == 'ranks' then
      return self.rows > 0 and 1 or 0, self.rows > 0 and weights.ROWS or weights.NONE
   end
   return weights.of(gradOutput, self.rows)
end

local function copyOf(t)
   local device = comm.device(t)
   return device > 0 and cutorch.withDevice(device, t.clone, t) or t:clone()
end

-- Gradients begin to wait.
local function begin(self)
   local pending = {weight = 0, passes = 0, unit = 0, kind = weights.NONE}
   for i, t in ipairs(self.params.gradient) do
      if self.rank == 0 and t:nElement() > 0 and t:norm() ~= 0 then
         pending.base = pending.base or {}
         pending.base[i] = copyOf(t)
      end
      if self.rank > 0 or pending.base and pending.base[i] then t:fill(weights.NOTHING) end
   end
   self.pending = pending
   flatten.addPending(self)
end

-- A pass whose gradients wait.
function deferred:_defer(method, input, gradOutput, scale)
   if not self.pending then begin(self) end
   self:_checkPending()
   local pending = self.pending
   local weight, kind = self:_weight(gradOutput)
   if pending.unit == 0 then pending.unit = weight end
   if kind ~= weights.NONE then pending.kind = kind end
   pending.weight, pending.passes = pending.weight + weight, pending.passes + 1
   local share = pending.unit > 0 and weight / pending.unit or 0
   if self.table then self.table.deferred = true end
   local ok, result = pcall(self._run, self, method, input, gradOutput, scale * share)
   if self.table then self.table.deferred = false end
   if not ok then error(result, 0) end
   pending.version = comm.version(self.params.gradient)
   return result
end

-- Raises if a script has written to gradients that wait.
function deferred:_checkPending()
   local version = self.pending and self.pending.version
   if version and version ~= comm.version(self.params.gradient) then
      dptffi.fail(NAME .. ': gradients were written to while ranks hold parts of them (noSync):'
         .. ' call syncGradients() before, or clear them with zeroGradParameters()')
   end
end

--- Ranks say what their gradients count, in this pass (if there is one) and in those that wait;
-- what waits is brought to that scale.
-- @return what this rank's gradient of the pass is to be multiplied by
function deferred:_settle(weight, kind)
   local pending = self.pending
   if self.reduce == 'sum' and not pending then return 1 end
   self:_checkPending()
   if pending and kind == weights.NONE then kind = pending.kind end
   local all = self:_exchange(weight or 0, kind or weights.NONE,
      pending and pending.weight or 0, pending and pending.passes or 0)
   local passes = 0
   for _, numbers in ipairs(all) do passes = math.max(passes, numbers[4]) end
   for _, numbers in ipairs(all) do numbers[1] = numbers[1] + numbers[3] end
   local sum, isMean = weights.sum(NAME, all, 1, 2)
   if isMean then sum = sum / (passes + (weight and 1 or 0)) end
   if pending then
      if self.table then
         self.params.sender = nil
         self.table:syncGradients()
         self.params.sender = self.sender
      end
      for i, t in ipairs(self.params.gradient) do
         if sum ~= pending.unit then t:mul(sum > 0 and pending.unit / sum or 0) end
         if pending.base and pending.base[i] then t:add(pending.base[i]) end
      end
   end
   return weight and sum > 0 and weight / sum or 0
end

--- Adds up the gradients that noSync left on the ranks. All ranks call it, if one has some.
function deferred:syncGradients()
   if self.ranks == 1 then
      if self.modules[1].syncGradients then self.modules[1]:syncGradients() end
      return
   end
   self:_layOut()
   self:_settle(nil, self.pending and self.pending.kind)
   self:_holdOnce()
   self.params:reduce()
end

-- What gradients hold from earlier passes is to count once: on rank 0.
function deferred:_holdOnce()
   for _, t in ipairs(self.rank > 0 and not self.pending and self.params.gradient or {}) do
      t:fill(weights.NOTHING)
   end
   self:_forgetPending()
end

--- Adds up what waits if x, which an optimizer is about to change by dfdx, is this network's.
function deferred:flush(x)
   if self.pending and flatten.meet(self.params.source, x) then self:syncGradients() end
end

function deferred:_forgetPending()
   if not self.pending then return end
   self.pending = nil
   flatten.removePending(self)
end

return deferred
