--- dpt.nn.DistributedDataParallel.deferred: gradients that wait on their ranks (noSync).
--
-- Invariant: in noSync nothing is sent. A rank's gradients hold the sum of its passes, each times
-- its weight in units of the first one's; what rank 0 had before is kept beside them (`base`). The
-- next pass outside, or syncGradients, adds all up: so that the result is that of as many passes,
-- each divided by the mean of their weights, which is that of one process if its batches are as
-- large.
local dptffi = require 'dpt.ffi'
local comm = require 'dpt.comm'
local follow = require 'dpt.nn.DataParallelTable.follow'
local flatten = require 'dpt.parallel.params.flatten'
local scale = require 'dpt.parallel.ranks.scale'
local terms = require 'dpt.parallel.ranks.terms'
local weights = require 'dpt.parallel.ranks.weights'

local deferred = {}

local NAME = 'nn.DistributedDataParallel'

--- Calls f(...); a backward in it leaves each rank its own gradients, and nothing is sent. They are
-- added up by the next backward outside, or by syncGradients.
-- @function nn.DistributedDataParallel:noSync
-- @as ofranks
-- @param f function: is called
-- @param ...? any: what it is called with
-- @return what f returns
-- @usage nn.DistributedDataParallel(nn.Linear(2, 1)):noSync(function(x) return x end, 6) --> 6
deferred.noSync = follow.noSync

-- What this rank's gradient counts and of what kind that is; of several terms the list of them.
function deferred:_weight(gradOutput)
   if self.reduce == 'sum' then return 1, weights.SUM end
   if self.reduce == 'ranks' then
      return self.rows > 0 and 1 or 0, self.rows > 0 and weights.ROWS or weights.NONE
   end
   return weights.of(gradOutput, self.rows)
end

--- A copy of a tensor where it is.
-- @function nn.DistributedDataParallel.copyOf
-- @as author
-- @also nn.DistributedDataParallel:copyOf()
-- @param t tensor: on the host or a device
-- @return a tensor
-- @usage nn.DistributedDataParallel.copyOf(torch.Tensor{3}) --> [3]
deferred.copyOf = weights.copyOf

-- Gradients begin to wait.
local function begin(self)
   local pending = {weight = 0, passes = 0, unit = 0, kind = weights.NONE}
   for i, t in ipairs(self.params.gradient) do
      if self.rank == 0 and t:nElement() > 0 and t:norm() ~= 0 then
         pending.base = pending.base or {}
         pending.base[i] = deferred.copyOf(t)
      end
      if self.rank > 0 or pending.base and pending.base[i] then t:fill(weights.NOTHING) end
   end
   self.pending = pending
   flatten.addPending(self)
end

-- A pass adds to what waits. @return what it counts in units of the first one
local function countPass(self, pending, weight, kind, list)
   pending.passes = pending.passes + 1
   if kind == weights.NONE then return 0 end
   if pending.kind ~= weights.NONE and pending.kind ~= kind then
      dptffi.fail(NAME .. ': in noSync the gradients of all passes must be divided by things of one'
         .. ' kind: denominators, rows, or nothing')
   end
   pending.kind = kind
   if not list then
      if pending.unit == 0 then pending.unit = weight end
      pending.weight = pending.weight + weight
      return pending.unit > 0 and weight / pending.unit or 0
   end
   local numbers = terms.read(list, self.rows)
   pending.unit = pending.unit ~= 0 and pending.unit or numbers
   pending.terms = pending.terms or {}
   local share = terms.share(NAME, numbers, pending.unit)
   for k, number in ipairs(numbers) do
      pending.terms[k] = number == terms.SUM and number or (pending.terms[k] or 0) + number
   end
   pending.weight = #numbers
   return share
end

-- A pass whose gradients wait.
function deferred:_defer(method, input, gradOutput, factor)
   if not self.pending then begin(self) end
   self:_checkPending()
   local pending = self.pending
   local weight, kind, list = self:_weight(gradOutput)
   local share = countPass(self, pending, weight, kind, list)
   if kind ~= weights.TERMS then self.weighed, self.weighedBy = weight, kind end
   if self.table then self.table.deferred = true end
   local ok, result = pcall(weights.within, weights.alone(weight, kind), scale.within,
      self.looked, self._run, self, method, input, gradOutput, factor * share)
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

-- Brings what waits on this rank to the scale of all ranks.
local function bring(self, pending, unit, sum)
   if self.table then
      self.params.sender = nil
      self.table:syncGradients()
      self.params.sender = self.sender
   end
   for i, t in ipairs(self.params.gradient) do
      if sum ~= unit then t:mul(sum > 0 and unit / sum or 0) end
      if pending.base and pending.base[i] then t:add(pending.base[i]) end
   end
end

-- Settles a loss of several terms. @return as _settle
local function settleTerms(self, pending, gradOutput, list, count, passes)
   local numbers = list and terms.read(list, self.rows) or {}
   for k = 1, count do
      numbers[k] = numbers[k] or 0
      numbers[count + k] = pending and pending.terms and pending.terms[k] or 0
   end
   local found = terms.settle(NAME, self:_exchange(unpack(numbers, 1, 2 * count)), self.rank,
      count, passes)
   if pending then
      local unit = pending.terms and pending.unit[1] or 0
      if found.total == terms.SUM then bring(self, pending, 1, 1)
      else bring(self, pending, unit, found.total) end
   end
   if list and found.isEven then
      local isSum = numbers[1] == terms.SUM
      self.weighed = isSum and 1 or numbers[1]
      self.weighedBy = isSum and weights.SUM or weights.DENOMINATOR
   end
   if found.isEven or not list then return found.share or 0, gradOutput end
   return 1, weights.weigh(NAME, gradOutput, found.factors) -- on all ranks, as messages are
end

--- Ranks say what their gradients count, in this pass (if there is one) and in those that wait;
-- what waits is brought to that scale.
-- @param isPass whether there is one
-- @return what this rank's gradient of the pass is to be multiplied by; gradOutput, or another one
-- in its place
function deferred:_settle(isPass, gradOutput)
   local pending = self.pending
   local weight, kind, list = 0, weights.NONE, nil
   if isPass then
      weight, kind, list = self:_weight(gradOutput)
      self.weighed, self.weighedBy = weight, kind
   end
   if self.reduce == 'sum' and not pending then return 1, gradOutput end
   self:_checkPending()
   local own = kind
   if pending and kind == weights.NONE then own = pending.kind end
   local waits = pending and pending.weight or 0
   if own == weights.TERMS and weight == 0 then weight = waits end
   local all = self:_exchange(weight, own, own == weights.TERMS and 0 or waits,
      pending and pending.passes or 0)
   local passes = 0
   for _, numbers in ipairs(all) do
      passes = math.max(passes, numbers[4])
      numbers[1] = numbers[1] + numbers[3]
   end
   passes = passes + (isPass and 1 or 0)
   local found, first = weights.kind(NAME, all, 1, 2)
   if found == weights.TERMS then
      return settleTerms(self, pending, gradOutput, list, all[first][1], passes)
   end
   local sum, isMean = weights.sum(NAME, all, 1, 2)
   if isMean then sum = sum / passes end
   if pending then bring(self, pending, pending.unit, sum) end
   return sum > 0 and weight / sum or 0, gradOutput
end

--- Adds up the gradients that noSync left on the ranks. All ranks call it, if one has some.
-- @function nn.DistributedDataParallel:syncGradients
-- @as ofranks
-- @return nothing
-- @usage local net, x = nn.DistributedDataParallel(nn.Add(2)), torch.ones(2)
--    net:zeroGradParameters()
--    net:forward(x)
--    net:noSync(function() net:backward(x, x) end)
--    net:syncGradients()
--    return net:get(1).gradBias --> [1 1]
function deferred:syncGradients()
   if self.ranks == 1 then
      if self.modules[1].syncGradients then self.modules[1]:syncGradients() end
      return
   end
   self:_layOut()
   self:_settle(false)
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
function deferred:flush(x)
   if self.pending and flatten.meet(self.params.source, x) then self:syncGradients() end
end

function deferred:_forgetPending()
   if not self.pending then return end
   self.pending = nil
   flatten.removePending(self)
end

return deferred
