--- dpt.nn.DistributedDataParallel.no_sync: accumulates gradients on each rank without
-- communication.
--
-- Invariant: noSync sends nothing. A rank's gradients hold the sum of its passes, each scaled by
-- its weight relative to the first pass's; gradients that rank 0 had before are kept separately
-- (`base`). The next pass outside, or syncGradients, sums the gradients over all ranks. The result
-- is the sum of the passes, each divided by the mean of their weights; it equals that of one
-- process if the batches of the process have equal sizes.
local cutorch = require 'dpt.device'
local denominators = require 'dpt.nn.denominators'
local dptffi = require 'dpt.ffi'
local sync = require 'dpt.nn.DataParallelTable.sync'
local updates = require 'dpt.updates'
local rendezvous = require 'dpt.parallel.dispatch.rendezvous'
local Sender = require 'dpt.parallel.ranks.sender'
local shares = require 'dpt.nn.DistributedDataParallel.shares'

local noSync = {}

local NAME = 'nn.DistributedDataParallel'

local NOTHING = {weight = 0, passes = 0, kind = shares.NONE, ratio = 0, base = {}}

--- Calls f(...) without communication: a backward inside it leaves the gradients on their ranks.
-- The next backward outside, or syncGradients, sums them.
-- @function nn.DistributedDataParallel:noSync
-- @as ofranks
-- @param f function: runs the passes
-- @param ...? any: arguments of f
-- @return the results of f
-- @usage nn.DistributedDataParallel(nn.Linear(2, 1)):noSync(function(x) return x end, 6) --> 6
noSync.noSync = sync.noSync

--- Returns the weight of a gradient on this rank (shares.of).
function noSync:_weight(gradOutput, terms)
   local own
   if self.reduce == 'sum' then
      own = {weight = 1, kind = shares.SUM, ratio = 0}
   elseif self.reduce == 'ranks' then
      local some = self.rows > 0
      own = {weight = some and 1 or 0, kind = some and shares.ROWS or shares.NONE, ratio = 0}
   else
      own = shares.of(gradOutput, self.rows, terms)
   end
   if own.kind ~= shares.UNKNOWN then denominators.markUsed() end
   return own
end

-- Returns the counts of pending passes before the first one. Keeps rank 0's gradients; the other
-- ranks start from zero.
local function begin(self)
   local counts = {weight = 0, passes = 0, kind = shares.NONE, ratio = 0, base = {}}
   -- modules that sum over ranks need the same unit on all
   counts.unit = rendezvous.isUsedBy(self.modules[1]) and 1 or nil
   for i, t in ipairs(self.params.gradient) do
      if self.rank == 0 and t:nElement() > 0 and t:norm() ~= 0 then
         counts.base[i] = cutorch.withDeviceOf(t, t.clone, t)
      end
      if self.rank > 0 or counts.base[i] then t:fill(Sender.NOTHING) end
   end
   return counts
end

-- Returns the counts including those of a pass. Raises if they are incompatible.
local function added(counts, own)
   local sum = {passes = counts.passes + 1, weight = counts.weight + own.weight, unit = counts.unit,
      base = counts.base, kind = counts.kind, ratio = counts.ratio, criterion = own.criterion}
   if own.kind == shares.NONE then return sum end
   if not shares.areCompatible(counts, own) then
      dptffi.fail('%s: in noSync the gradients of all passes must be divided alike (all by'
         .. ' denominators, by rows or not at all), and their terms have the same ratios; call'
         .. ' syncGradients() between passes that differ', NAME)
   end
   sum.kind, sum.ratio = own.kind, own.weight > 0 and own.ratio or counts.ratio
   sum.unit = counts.unit or own.weight > 0 and own.weight or nil
   return sum
end

--- Runs a pass whose gradients stay pending.
function noSync:_accumulateLocally(method, input, gradOutput, factor, terms)
   local params = self.params
   self.pending:check()
   local own = shares.check(self:_weight(gradOutput, terms), self.group)
   self.pendingWeights = self.pendingWeights or begin(self)
   self.pending:record(params:trained(), params.gradient)
   local counts, before = added(self.pendingWeights, own), params:gradientVersion()
   self.weight = own
   if self.parallelTable then self.parallelTable.inNoSync = true end
   local ok, result = pcall(self._pass, self, self._run, own.weight / (counts.unit or 1), nil,
      method, input, gradOutput, factor)
   if self.parallelTable then self.parallelTable.inNoSync = false end
   if not ok then
      if params:gradientVersion() ~= before then
         self.pending:invalidate(params:trained(), params.gradient)
      end
      error(result, 0)
   end
   self.pendingWeights = counts
   self.pending:record(params:trained(), params.gradient)
   return result
end

-- Scales this rank's pending gradients to the units of all ranks.
local function rescalePending(self, factor)
   if self.parallelTable then
      self.params.sender = nil
      self.parallelTable:syncGradients()
      self.params.sender = self.sender
   end
   for i, t in ipairs(self.params.gradient) do
      if factor ~= 1 then t:mul(factor) end
      if self.pendingWeights.base[i] then t:add(self.pendingWeights.base[i]) end
   end
end

-- Computes the shares of a pass whose ranks have promised equal weights; nothing is sent.
-- @return this rank's share of the pass; its share of the rows; a number and a string that
--    represent its weight in signatures
local function computeEvenShares(self, own)
   local counts = self.pendingWeights or NOTHING
   local sum = added(counts, shares.check(own, self.group))
   local total = own.kind == shares.SUM and 1 or sum.weight * self.ranks / sum.passes
   if self.pendingWeights then
      rescalePending(self, total > 0 and (counts.unit or 1) / total or 0)
   end
   local number = self.rows + 8191 * math.floor(sum.weight * 16) + 127 * own.kind + 31 * sum.passes
      + math.floor(sum.ratio * 2 ^ 20) + 524287 * self.failures
   number = number % (2 ^ 31 - 2) + 1
   return total > 0 and own.weight / total or 0, 1 / self.ranks, number,
      (', of %d rows, divided by %g'):format(self.rows, sum.weight)
end

--- Exchanges the weights of all ranks' gradients, those of this pass (if there is one) and of
-- pending ones, and scales pending gradients to the units of all ranks.
-- @param own weight of the pass; nil: there is none
-- @return this rank's share of the pass, a number or a table of numbers by tensor of gradOutput;
--    its share of the rows of all ranks; with evenBatches as computeEvenShares
function noSync:_exchangeWeights(own)
   self.pending:check()
   self.weight = own or self.weight
   local counts, pass = self.pendingWeights or NOTHING, own or NOTHING
   if self.reduce == 'sum' and not self.pendingWeights and own and (self.total or 0) > 0 then
      return 1, self.rows / self.total
   end
   if self.evenBatches and own then return computeEvenShares(self, own) end
   if self.pendingWeights and own then shares.check(own, self.group) end
   local sum = own and added(counts, own) or counts
   local passes, rows, entries, weights = 0, 0, nil, {}
   for r, numbers in ipairs(self:_allGatherNumbers{sum.weight, sum.kind, sum.ratio, sum.passes,
      own and self.rows or 0, pass.entries or 0}) do
      weights[r] = {weight = numbers[1], kind = numbers[2], ratio = numbers[3],
         criterion = r == self.rank + 1 and sum.criterion or nil}
      passes, rows = math.max(passes, numbers[4]), rows + numbers[5]
      if numbers[5] > 0 then
         entries = (not entries or entries == numbers[6]) and numbers[6] or 0
      end
   end
   local total, isMean = shares.sum(weights, self.group)
   local rowsShare = rows > 0 and self.rows / rows or 0
   if not total then
      if self.pendingWeights or (entries or 0) == 0 then dptffi.fail('%s: %s', NAME, isMean) end
      local function gather(numbers) return self:_allGatherNumbers(numbers) end
      return shares.ofEntries(pass, gather, entries, self.group), rowsShare
   end
   if isMean then total = total / math.max(passes, 1) end
   if self.pendingWeights then
      rescalePending(self, total > 0 and (counts.unit or 1) / total or 0)
   end
   return total > 0 and pass.weight / total or 0, rowsShare
end

--- Sums the gradients that noSync left on the ranks. All ranks must call it if one has some.
-- @function nn.DistributedDataParallel:syncGradients
-- @as ofranks
-- @return nothing
-- @usage local net, x = nn.DistributedDataParallel(nn.Add(2)), torch.ones(2)
--    net:zeroGradParameters()
--    net:forward(x)
--    net:noSync(function() net:backward(x, x) end)
--    net:syncGradients()
--    return net:get(1).gradBias --> [1 1]
function noSync:syncGradients()
   if self.ranks == 1 then
      if self.modules[1].syncGradients then self.modules[1]:syncGradients() end
      return
   end
   self:_updateLayout()
   self:_exchangeWeights(nil)
   self:_countPendingOnce()
   self.params:reduce()
end

--- Makes gradients from earlier passes count once: clears them on all ranks except 0.
function noSync:_countPendingOnce()
   for _, t in ipairs(self.rank > 0 and not self.pendingWeights and self.params.gradient or {}) do
      t:fill(Sender.NOTHING)
   end
   self:_clearPending()
end

--- Sums pending gradients if x, which an optimizer is about to update, belongs to this network.
-- @function nn.DistributedDataParallel:flush
-- @as author
-- @param x tensor: the parameters
-- @return nothing
-- @usage local net, x = nn.DistributedDataParallel(nn.Add(2)), torch.ones(2)
--    local params, gradients = net:getParameters()
--    net:zeroGradParameters()
--    net:forward(x)
--    net:backward(x, x)
--    net:flush(params)
--    return gradients --> [1 1]
function noSync:flush(x)
   if self.pending:isPending() and updates.sharesStorage(self.params:trained(), x) then
      self:syncGradients()
   end
end

--- Clears the record of pending gradients.
function noSync:_clearPending()
   self.pendingWeights = nil
   self.pending:clear()
end

--- Handles a change of the network: raises if gradients were pending.
function noSync:_rejectPending()
   self.pendingWeights = nil
   self.pending:rejectChange()
end

--- Raises while gradients are pending: a copy or a file would hold only this rank's gradients.
function noSync:_checkWhole(what)
   if self.pendingWeights then
      dptffi.fail('%s: %s while gradients wait on the ranks (noSync); call syncGradients() on all'
         .. ' ranks first', NAME, what)
   end
end

return noSync
