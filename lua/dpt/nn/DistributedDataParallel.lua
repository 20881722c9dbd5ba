--- nn.DistributedDataParallel(module, {reduce, buffers, overlap}): trains one network in several
-- processes, each with its part of the batch, like PyTorch's class of that name.
--
--    net = nn.DistributedDataParallel(network)           -- on all ranks of dpt.distributed
--
-- Invariant: all ranks have the same parameters and, after a backward, the same gradients: those
-- that one process would compute from the rows of all ranks. Gradients from before a pass count
-- once (rank 0's), so passes accumulate; gradients that no rank's pass writes keep their bits. The
-- module may be an nn.DataParallelTable: its gradients are then summed inside the process first.
-- The sequence of collectives depends only on the calls, never on which modules a pass used, so no
-- graph can deadlock the ranks. Evaluation sends nothing. This file decides when each step happens.
-- The files in its folder hold the other methods; dpt/parallel/ implements the steps.
-- @function nn.DistributedDataParallel
-- @within nn data-parallel
-- @as parallel
-- @param reduce 'samples' (default): the mean over all ranks' samples; 'ranks': over ranks; 'sum'
-- @param buffers how running statistics are combined, see docs/distributed-options.md
-- @param overlap true (default): gradients are reduced during the backward pass
-- @param checkAlike number: calls net:checkAlike() in every checkAlike-th forward in training
-- @param group from distributed.group: the ranks that train the network (all)
-- @return a module; forward: this rank's part of the batch -> its output
-- @usage nn.DistributedDataParallel(nn.Linear(3, 2)):forward(torch.ones(4, 3)):size() --> 4x2
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
require 'dpt.nn'
local distributed = require 'dpt.distributed'
local groups = require 'dpt.distributed.group'
local cutorch = require 'dpt.device'
local random = require 'dpt.parallel.dispatch.random'
local updates = require 'dpt.updates'
local tracker = require 'dpt.parallel.params.tracker'
local exchange = require 'dpt.parallel.ranks.exchange'
local generators = require 'dpt.parallel.ranks.generators'
local hostRandom = require 'dpt.parallel.ranks.host_random'
local Sender = require 'dpt.parallel.ranks.sender'
local check = require 'dpt.nn.DistributedDataParallel.check'
local fields = require 'dpt.nn.DistributedDataParallel.fields'
local gradients = require 'dpt.nn.DistributedDataParallel.gradients'
local inner = require 'dpt.nn.DistributedDataParallel.inner'
local join = require 'dpt.nn.DistributedDataParallel.join'
local noSync = require 'dpt.nn.DistributedDataParallel.no_sync'
local options = require 'dpt.nn.DistributedDataParallel.options'
local shares = require 'dpt.nn.DistributedDataParallel.shares'
local sync = require 'dpt.nn.DistributedDataParallel.sync'
local denominators = require 'dpt.nn.denominators'
local Pending = require 'dpt.parallel.params.pending'
local rendezvous = require 'dpt.parallel.dispatch.rendezvous'
local batchPart = require 'dpt.parallel.dispatch.batch_part'
local rows = require 'dpt.parallel.split.rows'

local DistributedDataParallel, parent = torch.class('nn.DistributedDataParallel', 'nn.Decorator')

--- Default options: reduce (how ranks' gradients are weighted), buffers (the rank whose running
-- statistics all receive), overlap (gradients are sent during the backward pass), evenBatches (true
-- promises batches with the same number of rows on all ranks, which saves the exchange of counts).
-- @field nn.DistributedDataParallel.reduce
-- @as parallel
-- @within nn data-parallel
-- @also nn.DistributedDataParallel.buffers
-- @also nn.DistributedDataParallel.overlap
-- @also nn.DistributedDataParallel.evenBatches
-- @return 'samples', 'first', true, false
-- @usage nn.DistributedDataParallel.reduce, nn.DistributedDataParallel.buffers
--    --> samples, first
DistributedDataParallel.reduce, DistributedDataParallel.buffers = 'samples', 'first'
DistributedDataParallel.overlap, DistributedDataParallel.evenBatches = true, false
DistributedDataParallel.standsForInner = true -- dpt.device.scope

--- Fields that copies omit: copies are bare networks.
DistributedDataParallel.transient = {'output', 'gradInput'}
for name in pairs(fields) do
   if name ~= 'modules' then table.insert(DistributedDataParallel.transient, name) end
end

local NAME = 'nn.DistributedDataParallel'
local type = dptffi.type

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

--- @param module is constructed alike on all ranks; rank 0's parameters, running statistics and
--    random states are copied to all
-- @param given reduce = 'samples' (the mean over the samples of all ranks), 'ranks' (the mean of
--    the ranks' gradients) or 'sum'; buffers = the running statistics that all have after a
--    backward: 'first' (those of the first rank with rows), 'average' (of the ranks with rows) or
--    'own'; overlap = whether gradients are sent while others are computed; checkAlike = N, calls
--    net:checkAlike() in every N-th forward in training; evenBatches = true: in each pass the
--    batches of all ranks have the same number of rows and their losses the same divisors, so that
--    only gradients and statistics are sent; sampler = an object that knows the position of this
--    rank's rows in a batch; hook = how gradients are summed: 'half' or 'bfloat16' (2 bytes each),
--    or function(tensor, bucket) that leaves the sum in the tensor; group = the ranks that train
--    the network (all), whose first one then acts as rank 0
function DistributedDataParallel:__init(module, given)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail('wants an nn.Module as argument 1, got %s', torch.type(module))
   end
   for _, one in ipairs(module:listModules()) do
      if torch.isTypeOf(one, NAME) then
         fail('got a network with another one of it inside: take that out, and wrap the network'
            .. ' once')
      end
   end
   options.set(self, given, NAME)
   parent.__init(self, module)
   self._type = module:type()
   self.group = self.group or groups.world
   self.rank, self.ranks = self.group:rank(), self.group:size()
   options.checkSampler(self, NAME)
   self.pending = Pending.new(function(x) self:flush(x) end, 'ranks', NAME .. ': ')
   self.sentBytes = {gradients = 0, parameters = 0, buffers = 0}
   self.failures, self.updatedWhilePending = 0, false
   self.sender = self.ranks > 1 and Sender.new(self.sentBytes, self.hook, self.group) or nil
   if self.ranks > 1 then
      denominators.enabled = true
      distributed.during(NAME .. '(network)', self._synchronizeNew, self)
      updates.addDistributed(self)
   else
      self:_checkLayers()
   end
end

--- Returns the network inside, which torch.save writes.
function DistributedDataParallel:__saved()
   self:_checkWhole('the network is saved')
   return self.modules[1]
end

-- Returns the number of an input's rows, by the way it would be split among replicas.
local function rowsOf(self, input)
   local devices = self.parallelTable
   return rows(input, self.modules[1]:inputSplit(input), devices and devices.dimension or 1,
      devices and devices.gpuAssignments or {self.device}, NAME .. ': input')
end

-- Sets the position of this rank's rows in the batch of all ranks, and the field active: the first
-- rank with rows, the number of ranks with rows, and whether this rank has rows. In noSync active
-- keeps its value from the last pass before noSync.
function DistributedDataParallel:_setBatchPosition()
   local sampler = self.sampler
   if sampler then
      if not sampler.count then
         fail('the sampler of the option sampler has given out no batch yet; call forward in the'
            .. ' loop over its epoch(), or after its next()')
      elseif sampler.count ~= self.rows then
         fail('got %d rows, the batch of the sampler has %d on this rank', self.rows, sampler.count)
      end
      self.before, self.total = sampler.before, sampler.total
      if not self.inNoSync then
         self.active = {first = 0, count = math.min(self.total, self.ranks), isOwn = self.rows > 0}
      end
      return
   end
   self.before, self.total = self.rows * self.rank, nil
   if self.evenBatches then self.total, self.active = self.rows * self.ranks, nil end
   if self.inNoSync or self.evenBatches then return end -- nothing is sent: assumes equal counts
   local all = self:_allGatherNumbers{self.rows}
   self.before, self.total = 0, 0
   local active = {count = 0, isOwn = self.rows > 0}
   for r, numbers in ipairs(all) do
      if r <= self.rank then self.before = self.before + numbers[1] end
      self.total = self.total + numbers[1]
      if numbers[1] > 0 then
         active.first, active.count = active.first or r - 1, active.count + 1
      end
   end
   self.active = active
end

--- Returns the numbers of all ranks. Also synchronizes generators that have diverged, because a
-- rank without rows has drawn nothing on its device; raises if a rank has seeded the host's
-- generator differently.
-- @param numbers list, of the same length on all ranks
-- @return list[rank + 1] of lists; this function's own numbers follow at the end of each
function DistributedDataParallel:_allGatherNumbers(numbers)
   local device, n = self.device or self.parallelTable.gpuAssignments[1], #numbers
   local offset = device > 0 and random.offset(device) or hostRandom.hash()
   numbers[n + 1], numbers[n + 2] = offset, self.failures
   local all, most, same = exchange(self.group, numbers), offset, true
   local first = all[1][n + 2]
   for r, its in ipairs(all) do
      local theirs, failures = its[n + 1], its[n + 2]
      most, same = math.max(most, theirs), same and theirs == offset
      if failures ~= first then
         fail('a backward has failed on rank %d that has not on rank %d, so their gradients differ;'
            .. ' a script may catch an error only if all ranks raise it',
            self.group:globalRank(failures > first and r - 1 or 0),
            self.group:globalRank(failures > first and 0 or r - 1))
      end
   end
   if device > 0 then
      if most > offset then random.advance(device, most) end
   elseif not same then
      generators.share(NAME, 0, self.group)
   end
   return all
end

local function onDevice(self, f, ...)
   local passes = random.passes(self.device, {0, self.rows}, 1)
   return cutorch.withDevice(self.device, random.within, passes[1], f, ...)
end

-- Calls f(...), which runs a pass over this rank's rows: the fraction `share` of all ranks' rows
-- (nil: unknown).
local function within(self, share, f, ...)
   local own = {share = share, devices = self.sender.parts}
   if (self.device or 0) == 0 then
      return random.withOffset(self.before, self.rank, batchPart.within, self.partModules, own, f,
         ...)
   end
   return random.withOffset(self.before, self.rank, onDevice, self, batchPart.within,
      self.partModules, own, f, ...)
end

--- Calls a method of the network for a pass over this rank's rows that sends no gradients.
function DistributedDataParallel:_run(share, method, ...)
   local module = self.modules[1]
   self.pending:checkUpdate()
   local result = within(self, share, module[method], module, ...)
   self.pending:endPass()
   return result
end

-- Runs a forward in training.
local function forward(self, input)
   if self.device ~= 0 then return self:_run(nil, 'updateOutput', input) end
   if self.total then
      return hostRandom.within(self.before, self.rows, self.total, self._run, self, nil,
         'updateOutput', input)
   end
   return hostRandom.assumeEqualRows(self.rank, self.ranks, self.rows, self._run, self, nil,
      'updateOutput', input)
end

-- Runs a forward in evaluation, which sends nothing; keeps the fields that a backward after it
-- needs.
local function evaluate(self, input)
   local module = self.modules[1]
   self.before, self.total = self.rows * self.rank, nil
   return self:_forwardAlone(module.updateOutput, module, input)
end

function DistributedDataParallel:updateOutput(input)
   local module = self.modules[1]
   self.evaluated = self.train == false or module.train == false
   if self.ranks == 1 then
      self.rows = 0 -- all rows
      self.output = hostRandom.withinAllRows(module.updateOutput, module, input)
      return self.output
   end
   self.rows = rowsOf(self, input)
   self.weight = nil
   self.partModules = self.parallelTable and {self.parallelTable} or batchPart.modulesOf(module)
   if self.evaluated then
      self.output = evaluate(self, input)
      return self.output
   end
   self:_updateLayout()
   self:_checkEvery()
   self:_setBatchPosition()
   self.statisticsUpdated = true
   self.output = self:_forwardShared(forward, self, input)
   return self.output
end

-- Raises unless a backward with this input can belong to the last forward.
local function checkForward(self, input, gradOutput)
   if not self.rows then fail('backward before forward') end
   if self.ranks > 1 and not torch.isTensor(gradOutput) and torch.type(gradOutput) ~= 'table' then
      fail("argument 'gradOutput', wanted a tensor or a table, got %s", torch.type(gradOutput))
   end
   local got = self.ranks > 1 and input ~= nil and rowsOf(self, input) or self.rows
   if got ~= self.rows then
      fail('a backward of %d rows, and the last forward%s had %d; call backward after the forward'
         .. ' of the same input', got, self.evaluated and ', in evaluation,' or '', self.rows)
   end
end

--- Calls f(self, rowsShare, method, input, gradOutput, factor), a pass with gradOutput multiplied
-- by `share`. The returned gradInput is divided by `share` again, unless the entries of gradOutput
-- have separate shares (a table).
function DistributedDataParallel:_pass(f, share, rowsShare, method, input, gradOutput, factor)
   if share == 1 then return f(self, rowsShare, method, input, gradOutput, factor) end
   self.scaled = shares.multiplied(self.scaled, gradOutput, share)
   local result = f(self, rowsShare, method, input, self.scaled, factor)
   if share == 0 or type(share) == 'table' or not result then return result end
   local isOne = torch.isTensor(result) and result:isContiguous()
   self.unscaled = shares.multiplied(isOne and result or self.unscaled, result, 1 / share)
   return self.unscaled
end

-- Records the divisors of the output's gradient for the gradient of the network's input.
local function propagateTerms(self, gradOutput, terms)
   if self.gradInput and not rawequal(self.gradInput, gradOutput) then
      denominators.propagate(self.gradInput, terms)
   end
end

local SUM = {{denominator = false}}

function DistributedDataParallel:updateGradInput(input, gradOutput)
   checkForward(self, input, gradOutput)
   local module = self.modules[1]
   if self.ranks == 1 then
      self.gradInput = module:updateGradInput(input, gradOutput)
      return self.gradInput
   end
   local terms = shares.termsOf(gradOutput)
   local share = rendezvous.isUsedBy(module)
      and shares.check(self:_weight(gradOutput, terms), self.group).weight or 1
   self.gradInput = self:_pass(self._run, share, nil, 'updateGradInput', input, gradOutput)
   propagateTerms(self, gradOutput, terms)
   return self.gradInput
end

-- Broadcasts the order in which rank 0's first pass completed the gradients; buckets follow it.
local function learnOrder(self)
   self.ordered = true
   if self.device == 0 or not self.overlap then return end
   local dispatcher = self.parallelTable and self.parallelTable.impl or self.dispatcher
   self.order = distributed.broadcastValue(dispatcher:run(tracker.order)[1] or false, 0,
      self.group) or nil
   self.params.overlap = nil
end

-- Runs a method that accumulates gradients, and reduces them over all ranks during it or after it.
local function pass(self, share, method, input, gradOutput, factor)
   local module, params = self.modules[1], self.params
   if self.parallelTable then
      return within(self, share, module[method], module, input, gradOutput, factor)
   end
   local call = self.overlap and params:begin(self.dispatcher, 1)
   local ok, result
   if call then
      ok, result = pcall(within, self, share, call, module, 1, nil, method, input, gradOutput,
         factor)
   else
      ok, result = pcall(self._run, self, share, method, input, gradOutput, factor)
   end
   if not ok then
      params:zeroOthers()
      error(result, 0)
   end
   params:reduce()
   return result
end

-- Runs a pass whose gradients are summed over all ranks.
local function train(self, method, input, gradOutput, factor, terms)
   local share, rowsShare, number, text = self:_exchangeWeights(self:_weight(gradOutput, terms))
   local params = self.params
   self:_countPendingOnce()
   local ok, result = pcall(distributed.promising, number, text, self._pass, self, pass, share,
      rowsShare, method, input, gradOutput, factor)
   if not ok then
      self.failures = self.failures + 1
      self.pending:invalidate(params:trained(), params.gradient)
      error(result, 0)
   end
   if not self.ordered then learnOrder(self) end
   self:syncBuffers()
   return result, type(share) == 'table'
end

-- @return gradInput; true if its entries already include their shares; the divisors of gradOutput
function DistributedDataParallel:_accumulate(method, input, gradOutput, factor, given)
   local module = self.modules[1]
   checkForward(self, input, gradOutput)
   local terms = shares.termsOf(gradOutput, given)
   if self.ranks == 1 then return module[method](module, input, gradOutput, factor) end
   self:_updateLayout()
   local run = self.inNoSync and self._accumulateLocally or train
   local result, hasShares = run(self, method, input, gradOutput, factor or 1, terms)
   return result, hasShares, terms
end

--- Computes the gradients of this rank's rows and sums them over all ranks.
-- @function nn.DistributedDataParallel:backward
-- @as ofranks
-- @param input tensor or table: that of the last forward
-- @param gradOutput tensor or table: the gradient of the loss
-- @param scale? number: a factor for the parameters' gradients (1)
-- @param given? table: {denominator = n} if gradOutput belongs to a loss divided by n; false if the
--    loss is a sum. Without it, a criterion's gradient is weighted by its denominator, any other by
--    rows
-- @return gradInput, in this rank's units
-- @usage local net, x = nn.DistributedDataParallel(nn.Add(2)), torch.ones(3, 2)
--    net:zeroGradParameters()
--    net:forward(x)
--    net:backward(x, x, 1, {denominator = 3})
--    return net:get(1).gradBias --> [3 3]
function DistributedDataParallel:backward(input, gradOutput, scale, given)
   local hasShares, terms
   self.gradInput, hasShares, terms = self:_accumulate('backward', input, gradOutput, scale, given)
   if hasShares and self.gradInput then denominators.record(self.gradInput, SUM, NAME, input)
   elseif self.ranks > 1 then propagateTerms(self, gradOutput, terms) end
   return self.gradInput
end

-- Runs a whole backward: modules before the last one use the gradients that updateGradInput left in
-- them, which were not multiplied by a share.
function DistributedDataParallel:accGradParameters(input, gradOutput, scale, given)
   self:_accumulate(self.ranks > 1 and 'backward' or 'accGradParameters', input, gradOutput, scale,
      given)
end

for _, methods in ipairs{check, gradients, inner, join, noSync, sync} do
   for name, method in pairs(methods) do DistributedDataParallel[name] = method end
end

-- Makes error messages name the method that communicates.
for name, known in pairs{updateOutput = 'forward', backward = 'backward',
   accGradParameters = 'accGradParameters', syncGradients = 'syncGradients',
   syncParameters = 'syncParameters', syncBuffers = 'syncBuffers', checkAlike = 'checkAlike',
   meanLoss = 'meanLoss', clipGradNorm = 'clipGradNorm', foundInf = 'foundInf'} do
   local method = DistributedDataParallel[name]
   DistributedDataParallel[name] = function(self, ...)
      if self.ranks == 1 then return method(self, ...) end
      return distributed.during(NAME .. ':' .. known, method, self, ...)
   end
end

return DistributedDataParallel
