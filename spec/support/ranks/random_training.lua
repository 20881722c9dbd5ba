-- Random training runs: compares a network of all ranks with the same one in one process, which
-- every rank trains as well, with the batches of all. arg: the first seed, number of runs, 'steps'
-- to print their steps.
--
-- Invariant: a run depends only on its seed, so all ranks draw the same run, including the batches
-- of all ranks. After each step gradients and parameters are compared with those of one process,
-- and those of all ranks bit for bit with rank 0's. An error begins with the seed.
local dpt = require 'dpt'
local torch, nn, cutorch, optim = dpt.torch, dpt.nn, dpt.cutorch, dpt.optim
local distributed = require 'dpt.distributed'
local buckets = require 'dpt.parallel.params.buckets'
local Sampler = require 'dpt.distributed.sampler'
local random = require 'spec.support.random_networks'
local expect = require 'spec.support.ranks.expect'
local losses = require 'spec.support.random_losses'
local modules = require 'spec.support.training_modules'
local rank, size = distributed.rank(), distributed.size()

-- All ranks in reverse order: every third run trains with this group.
local reversed = {}
for i = 1, size do reversed[i] = size - i end
local permuted, group = distributed.group(reversed), nil

local RATE = 0.02

-- Records what a run does; with arg[3] = 'steps' rank 0 prints it.
local function note(run, what)
   run.log[#run.log + 1] = what
   if arg[3] == 'steps' and rank == 0 then
      print('   ' .. what)
      io.stdout:flush()
   end
end

-- Calls f(tensor) for each tensor of a value, and returns the results in the same structure.
local function map(value, f)
   if torch.isTensor(value) then return f(value) end
   local list = {}
   for i, inner in ipairs(value) do list[i] = map(inner, f) end
   return list
end

-- ---- networks: {net, input(n), options} ----

local function scores(n) return nn.Linear(n, losses.width) end
local function vectors(n) return torch.randn(n, 5) end
local function images(n) return torch.randn(n, 2, 6, 6) end
local function words(n) return torch.rand(n, 3):mul(9):floor():add(1):clamp(1, 9) end

local networks = {}
function networks.mlp()
   return nn.Sequential():add(nn.Linear(5, 7)):add(nn.Tanh()):add(modules.Finite()):add(scores(7)),
      vectors
end
function networks.deep()
   return nn.Sequential():add(nn.Linear(5, 8)):add(nn.ReLU(true)):add(nn.Linear(8, 8))
      :add(nn.Sigmoid()):add(nn.Linear(8, 6)):add(modules.Finite()):add(nn.Tanh()):add(scores(6)),
      vectors
end
function networks.dropout()
   return nn.Sequential():add(nn.Linear(5, 9)):add(nn.Dropout(0.4)):add(modules.Finite())
      :add(scores(9)), vectors, {isRandom = true}
end
function networks.convolution()
   return nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3)):add(nn.ReLU())
      :add(nn.SpatialMaxPooling(2, 2, 2, 2)):add(modules.Finite())
      :add(nn.View(-1):setNumInputDims(3))
      :add(scores(12)), images
end
function networks.normalized()
   return nn.Sequential():add(nn.Linear(5, 6)):add(nn.BatchNormalization(6)):add(nn.Tanh())
      :add(modules.Finite()):add(scores(6)), vectors, {isNormalized = true}
end
function networks.normalized_images()
   return nn.Sequential():add(nn.SpatialConvolution(2, 3, 3, 3))
      :add(nn.SpatialBatchNormalization(3)):add(nn.Tanh()):add(modules.Finite())
      :add(nn.View(-1):setNumInputDims(3)):add(scores(48)), images, {isNormalized = true}
end
function networks.words()
   return nn.Sequential():add(nn.LookupTable(9, 4)):add(nn.View(-1):setNumInputDims(2))
      :add(modules.Finite()):add(scores(12)), words, {isOfWords = true}
end
function networks.recurrent()
   return nn.Sequential():add(nn.LookupTable(9, 4)):add(nn.Transpose({1, 2}))
      :add(nn.SeqLSTM(4, 5)):add(nn.Select(1, -1)):add(modules.Finite()):add(scores(5)), words,
      {isOfWords = true, isRecurrent = true}
end
function networks.tied()
   local first, second = nn.Linear(6, 6), nn.Linear(6, 6)
   second:share(first, 'weight', 'bias', 'gradWeight', 'gradBias')
   return nn.Sequential():add(nn.Linear(5, 6)):add(first):add(nn.Tanh()):add(modules.Finite())
      :add(second):add(scores(6)), vectors
end
function networks.residual()
   return nn.Sequential():add(nn.Linear(5, 6)):add(nn.ConcatTable():add(nn.Identity())
      :add(nn.Sequential():add(nn.Linear(6, 6)):add(nn.Tanh()))):add(nn.CAddTable())
      :add(modules.Finite()):add(scores(6)), vectors
end
function networks.pairs()
   return nn.Sequential():add(nn.ParallelTable():add(nn.Linear(5, 4)):add(nn.Linear(2, 4)))
      :add(nn.CAddTable()):add(modules.Finite()):add(nn.Tanh()):add(scores(4)),
      function(n) return {torch.randn(n, 5), torch.randn(n, 2)} end
end

function networks.turns()
   return nn.Sequential():add(nn.Linear(5, 6)):add(modules.Finite())
      :add(modules.Turns(nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6))):add(nn.Tanh())
      :add(scores(6)), vectors, {turns = true}
end
-- A network of spec.support.random_networks; its batch normalization is always in evaluation mode.
function networks.any(choose)
   local net, input, dimension
   repeat net, input, dimension = random.make(choose) until dimension == 1
   local width = net:cuda():forward(map(input(1), function(t) return t:cuda() end)):size(2)
   return net:clearState():double():add(modules.Finite()):add(scores(width)), input,
      {isFixed = true, isOnDevice = true, isRandom = #net:findModules 'nn.Dropout' > 0,
      isOfWords = #net:findModules 'nn.LookupTable' > 0}
end

local function namesOf(list)
   local names = {}
   for name in pairs(list) do names[#names + 1] = name end
   table.sort(names)
   return names
end
local networkNames = namesOf(networks)
table.insert(networkNames, 'normalized') -- twice as often as others

-- ---- values ----

-- Returns the rows of one part of a batch.
-- @param counts rows of all parts
local function rowsOf(value, part, counts)
   local before = 0
   for p = 1, part - 1 do before = before + counts[p] end
   return map(value, function(t)
      if counts[part] > 0 then return t:narrow(1, before + 1, counts[part]) end
      local sizes = t:size():totable()
      sizes[1] = 0
      return t.new(unpack(sizes))
   end)
end

-- Concatenates the parts.
local function joined(parts)
   if torch.isTensor(parts[1]) then return torch.cat(parts, 1) end
   local list = {}
   for i in ipairs(parts[1]) do
      local entries = {}
      for p, part in ipairs(parts) do entries[p] = part[i] end
      list[i] = joined(entries)
   end
   return list
end

local function sum(numbers)
   local total = 0
   for _, number in ipairs(numbers) do total = total + number end
   return total
end

local function near(run, got, wanted, what)
   if not torch.isTensor(wanted) then
      for i, inner in ipairs(wanted) do near(run, got[i], inner, ('%s %d'):format(what, i)) end
      return
   end
   assert(got:nElement() == wanted:nElement(), what .. ': another size')
   if got:nElement() == 0 then return end
   local g, w = got:double():view(-1), wanted:double():view(-1)
   local off, most = (g - w):abs():max(), run.tolerance * math.max(1, w:clone():abs():max())
   if off > most or off ~= off then
      error(('%s: off by %g on rank %d, by %g at most'):format(what, off, rank, most), 2)
   end
end

-- Returns the network inside a network: replica 1 of an nn.DataParallelTable.
local function replica(net)
   while torch.isTypeOf(net, 'nn.DistributedDataParallel') or torch.isTypeOf(net,
      'nn.DataParallelTable') do
      net = net:get(1)
   end
   return net
end

-- ---- the reference: one process ----

-- Returns the running statistics of modules that normalize.
local function statisticsOf(net)
   local list = {}
   for _, module in ipairs(net:listModules()) do
      if module.running_mean then
         list[#list + 1] = module.running_mean
         list[#list + 1] = module.running_var
      end
   end
   return list
end

local function copied(list) return map(list, function(t) return t:clone() end) end

local function assign(list, values) for i, t in ipairs(list) do t:copy(values[i]) end end

-- A network that normalizes the rows of each rank processes the ranks' parts one after the other,
-- with the running statistics of each rank; so does every network if reduce is not 'samples'.
local Reference = {}
Reference.__index = Reference

function Reference.new(run, net)
   local self = setmetatable({run = run, net = net, losses = 0}, Reference)
   self.statistics = statisticsOf(net)
   self.isSplit = run.isSplit or run.options.reduce ~= 'samples'
   self.kept = {}
   for r = 1, size do self.kept[r] = copied(self.statistics) end
   return self
end

-- Selects the branch of a rank in a pass.
local function turn(run, net, pass, r)
   if run.turns then net:findModules('dptspec.Turns')[1].turn = (pass.number + r) % 3 % 2 + 1 end
end

-- Calls f for the part of a rank, with its running statistics, and keeps them if `leaves`.
function Reference:with(pass, r, leaves, f)
   if not self.run.isSplit then return f() end
   turn(self.run, self.net, pass, r)
   assign(self.statistics, self.kept[r])
   local result = f()
   if leaves then self.kept[r] = copied(self.statistics) end
   return result
end

function Reference:forward(pass)
   pass.parts = {}
   for r = 1, self.isSplit and size or 1 do
      if not self.isSplit or pass.counts[r] > 0 then
         local part = {rank = r, input = pass.input, target = pass.target}
         if self.isSplit then
            part.input = rowsOf(pass.input, r, pass.counts)
            part.target = rowsOf(pass.target, r, pass.counts)
         end
         part.output = self:with(pass, r, true, function()
            return map(self.net:forward(part.input), function(t) return t:clone() end)
         end)
         pass.parts[#pass.parts + 1] = part
      end
   end
   local outputs = {}
   for i, part in ipairs(pass.parts) do outputs[i] = part.output end
   pass.output = joined(outputs)
end

-- Returns the divisor of a pass's gradient, up to a common factor; nil: it is a sum.
local function weightOf(run, pass)
   if run.options.reduce == 'sum' then return nil end
   if run.options.reduce == 'samples' then
      return pass.loss.weight and pass.loss.weight(pass.target, sum(pass.counts))
   end
   local live = 0
   for _, count in ipairs(pass.counts) do live = live + (count > 0 and 1 or 0) end
   return live
end

-- Adds the gradient of a pass, multiplied by factor.
function Reference:backward(pass, factor)
   local reduce, parts = self.run.options.reduce, pass.parts
   local whole
   if reduce == 'samples' then
      whole, pass.value = pass.loss.gradient(pass.output, pass.target, 'updateGradInput')
   else
      if reduce == 'ranks' then factor = factor / #parts end
      pass.value = 0
   end
   local gradInputs = {}
   for i, part in ipairs(parts) do
      local gradOutput = whole and (self.isSplit and rowsOf(whole, part.rank, pass.counts) or whole)
      if not whole then
         local value
         gradOutput, value = pass.loss.gradient(part.output, part.target, 'updateGradInput')
         pass.value = pass.value + value / (reduce == 'ranks' and #parts or 1)
      end
      gradOutput = map(gradOutput, function(t) return t:clone() end)
      self:with(pass, part.rank, false, function()
         if #parts > 1 then self.net:forward(part.input) end
         local gradInput = self.net:backward(part.input, gradOutput, pass.scale * factor)
         gradInputs[i] = torch.isTensor(gradInput) and gradInput:clone()
      end)
   end
   pass.gradInput = whole and not self.run.isOfWords and gradInputs[1] and joined(gradInputs)
end

function Reference:type(name)
   self.net:type(name)
   self.statistics = statisticsOf(self.net)
   for r = 1, size do self.kept[r] = map(self.kept[r], function(t) return t:type(name) end) end
end

-- Sets the running statistics of all ranks as the option buffers requires.
function Reference:syncBuffers(counts)
   local how = self.run.options.buffers
   if how == 'own' or not self.run.isSplit then return end
   local root = 1
   while counts and counts[root] == 0 do root = root + 1 end
   local all = copied(self.kept[root])
   if how == 'average' then
      local some = 0
      for r = 1, size do some = some + (counts and counts[r] == 0 and 0 or 1) end
      for i, t in ipairs(all) do
         t:zero()
         for r = 1, size do
            if not counts or counts[r] > 0 then t:add(1 / some, self.kept[r][i]) end
         end
      end
   end
   for r = 1, size do self.kept[r] = copied(all) end
end

-- ---- both networks ----

-- Seeds the generators; both networks draw the same numbers.
local function seed(number)
   torch.manualSeed(number)
   cutorch.manualSeedAll(number)
end

-- Draws the rows of each rank; at least one in total.
local function drawCounts(run, most, least)
   local counts = {}
   for r = 1, size do counts[r] = (least or 0) - 1 + run.choose(most + 1 - (least or 0)) end
   if sum(counts) == 0 then counts[run.choose(size)] = 1 end
   return counts
end

-- Returns the next batch of a sampler, in this epoch or the next.
local function nextOf(sampler) return sampler:next() or sampler:next() end

-- Draws a pass; the given fields replace drawn ones.
local function newPass(run, given)
   run.passes = run.passes + 1
   local pass = {loss = run.loss, scale = run.choose{1, 1, 0.5}, number = run.passes,
      inParts = run.choose(5) == 1,
      noise = run.choose(4) == 1 and (run.loss.isUnclaimed and 'classes'
         or run.choose{'sum', 'weights', 'mean', 'classes'})}
   for k, v in pairs(given or {}) do pass[k] = v end
   torch.manualSeed(run.seed * 1000 + run.passes)
   if run.sampler and not pass.evaluates then
      local indices = nextOf(run.whole)
      local total = indices:nElement()
      pass.counts = {}
      for r = 1, size do
         pass.counts[r] = math.floor(total / size) + (r <= total % size and 1 or 0)
      end
      pass.input = map(run.data, function(t) return t:index(1, indices) end)
   else
      local each = run.isEven and run.devices * run.choose(3)
      if pass.waits and run.isRandom then each = 2 end -- noSync numbers rows this way
      pass.counts = pass.counts or each and {unpack({each, each, each, each}, 1, size)}
         or drawCounts(run, 5, run.least)
      pass.input = run.input(sum(pass.counts))
   end
   pass.target = pass.loss.targets(sum(pass.counts))
   return pass
end

local function drawLoss(run)
   seed(run.seed)
   run.loss = losses.make(run.choose, run)
   note(run, run.loss.name)
end

local function ownForward(run, pass)
   pass.ownInput, pass.ownTarget = rowsOf(pass.input, rank + 1, pass.counts),
      rowsOf(pass.target, rank + 1, pass.counts)
   turn(run, replica(run.net), pass, rank + 1)
   pass.ownOutput = run.net:forward(pass.ownInput)
end

-- Runs the forward of all ranks.
local function forward(run, pass)
   seed(run.seed * 1000 + pass.number)
   if run.sampler and not pass.evaluates then
      local indices = nextOf(run.sampler)
      assert(indices:nElement() == pass.counts[rank + 1])
      if indices:nElement() > 0 then
         near(run, map(run.data, function(t) return t:index(1, indices) end),
            rowsOf(pass.input, rank + 1, pass.counts), 'rows of the sampler')
      end
   end
   ownForward(run, pass)
   near(run, pass.ownOutput, rowsOf(pass.output, rank + 1, pass.counts), 'output')
end

-- Runs the backward of all ranks, after that of the reference.
local function backward(run, pass)
   local gradOutput, value, counts = pass.loss.gradient(pass.ownOutput, pass.ownTarget, 'backward')
   pass.ownValue = value
   if pass.fails then map(gradOutput, function(t) return t:fill(0 / 0) end) end
   if pass.noise then -- another criterion, with the same number of rows and elements
      local other = losses.named(pass.noise, run.choose, run)
      local n = pass.counts[rank + 1]
      other.gradient(losses.scores(n, run.type), other.targets(n), 'backward')
   end
   local net, input = run.net, pass.ownInput
   if pass.inParts and not counts and not run.isSynced then
      pass.ownGradInput = net:updateGradInput(input, gradOutput)
      net:accGradParameters(input, gradOutput, pass.scale)
   else
      pass.ownGradInput = net:backward(input, gradOutput, pass.scale, counts)
   end
end

local function reference(run, pass)
   seed(run.seed * 1000 + pass.number)
   run.reference:forward(pass)
end

-- Runs forward and backward; gradInput is scaled for this rank's loss.
local function both(run, pass, factor)
   reference(run, pass)
   forward(run, pass)
   run.reference:backward(pass, factor or 1)
   backward(run, pass)
   if pass.gradInput and pass.counts[rank + 1] > 0 and not pass.waits then
      local wanted, weight = rowsOf(pass.gradInput, rank + 1, pass.counts), pass.loss.weight
      if weight then
         local own = weight(pass.ownTarget, pass.counts[rank + 1])
         if own == 0 then return end
         wanted = wanted * (weight(pass.target, sum(pass.counts)) / own)
      end
      near(run, pass.ownGradInput, wanted, 'gradInput')
   end
end

local function compareStatistics(run)
   local wanted = run.isSplit and run.reference.kept[rank + 1] or run.reference.statistics
   near(run, statisticsOf(run.net), wanted, 'running statistics')
end

local function compare(run, what)
   local x, dx = run.net:parameters()
   local y, dy = run.reference.net:parameters()
   near(run, dx, dy, what .. ', gradients')
   near(run, x, y, what .. ', parameters')
   if run.isExact then
      for i, t in ipairs(x) do assert((t - y[i]):abs():max() == 0, what .. ': other bits') end
   end
   local flat = {}
   for _, list in ipairs{x, dx} do
      for _, t in ipairs(list) do flat[#flat + 1] = t:double():view(-1) end
   end
   flat = torch.cat(flat, 1)
   local first = flat:clone()
   distributed.broadcast(first, 0)
   assert((flat - first):abs():max() == 0, what .. ': other bits than rank 0')
end

local function zero(run)
   run.net:zeroGradParameters()
   run.reference.net:zeroGradParameters()
end

local function wrap(run, net)
   local options = {}
   for k, v in pairs(run.options) do options[k] = v end
   if run.turns then replica(net):findModules('dptspec.Turns')[1].turn = 1 end -- on all ranks
   seed(run.seed)
   options.group = group
   run.net = nn.DistributedDataParallel(net, options)
   run.x, run.dx = run.net:getParameters()
   for r = 2, size do run.reference.kept[r] = copied(run.reference.kept[1]) end
end

-- Adds a layer to both.
local function addLayer(run)
   seed(run.seed)
   local net = nn.Sequential():add(nn.Linear(losses.width, losses.width)):add(nn.Tanh())
   local added = (run.outputs == 1 and net or nn.ParallelTable():add(net):add(nn.Identity()))
      :type(run.type)
   for _, whole in ipairs{run.net, run.reference.net} do replica(whole):add(added:clone()) end
end

-- Gets the parameters of a changed network, and drops the optimizer's state.
local function layOut(run)
   run.x, run.dx = run.net:getParameters()
   run.state, run.states = {}, {}
end

-- ---- actions of a step, before its last pass ----

local actions = {}

function actions.pass(run)
   local pass = newPass(run)
   both(run, pass)
   run.reference:syncBuffers(pass.counts)
   return pass
end

-- Calls that raise while gradients are pending, and leave them unchanged.
local whileWaiting = {
   function(net) return net:clone() end,
   function(net) return torch.serialize(net) end,
}

-- Runs a few passes in noSync, and one of the calls that sum them.
function actions.noSync(run)
   if not run.mayWait then return end
   local list, n = {}, run.choose(3)
   local how = run.choose{'pass', 'syncGradients', 'clipGradNorm', 'update', 'update'}
   if how == 'update' and run.update == 'hand' then how = 'syncGradients' end
   local total, isSum = 0, false
   for i = 1, n + (how == 'pass' and 1 or 0) do
      list[i] = newPass(run, {waits = i <= n})
      local weight = weightOf(run, list[i])
      isSum = weight == nil
      total = total + (weight or 0)
   end
   local function factor(pass) return isSum and 1 or weightOf(run, pass) * #list / total end
   if total == 0 and not isSum then return end
   note(run, how)
   local done = 0
   repeat
      local before = done
      done = done + run.choose(n - done)
      run.net:noSync(function()
         for i = before + 1, done do both(run, list[i], factor(list[i])) end
      end)
   until done == n
   if run.choose(3) == 1 then
      expect.raises('syncGradients', run.choose(whileWaiting), run.net)
   end
   if how == 'pass' then
      both(run, list[n + 1], factor(list[n + 1]))
      run.reference:syncBuffers(list[n + 1].counts)
   elseif how == 'clipGradNorm' then
      actions.clip(run)
   elseif how == 'syncGradients' then
      run.net:syncGradients()
   else
      run.waits = true
   end
end

-- Runs a backward that fails on all ranks.
local function fail(run, pass)
   reference(run, pass)
   forward(run, pass)
   pass.fails = true
   local ok, message = pcall(backward, run, pass)
   assert(not ok and tostring(message):find 'it is not finite', 'a failure was not seen: '
      .. tostring(message))
end

local function clear(run)
   expect.raises('zeroGradParameters', run.net.updateParameters, run.net, RATE)
   zero(run)
end

-- Draws a pass in which each rank has rows, so that non-finite gradients raise.
local function failingPass(run, waits)
   return newPass(run, {waits = waits, counts = drawCounts(run, 5, 1), inParts = false})
end

function actions.failure(run)
   if run.isSynced or run.isRandom or run.sampler then return end
   fail(run, failingPass(run))
   clear(run)
end

function actions.failureInNoSync(run)
   if not run.mayWait or run.isSynced or run.isRandom or run.sampler then return end
   run.net:noSync(function()
      if run.choose(2) == 1 then both(run, newPass(run, {waits = true})) end
      fail(run, failingPass(run, true))
   end)
   if run.net.pending.spoiled then clear(run) else zero(run) end -- it may not have added anything
end

-- The first of two passes is pending, the second fails.
function actions.failureAfterNoSync(run)
   if not run.mayWait or run.isSynced or run.isRandom or run.sampler then return end
   run.net:noSync(function() both(run, newPass(run, {waits = true})) end)
   fail(run, failingPass(run))
   clear(run)
end

-- If the network is changed while gradients are pending, the next pass raises.
function actions.meanwhile(run)
   if not run.mayWait or run.sampler then return end
   local pass, changes = newPass(run, {waits = true}), run.choose(2) == 1
   run.net:noSync(function() both(run, pass) end)
   if changes then
      addLayer(run)
   else
      for _, net in ipairs{run.net, run.reference.net} do
         for _, t in ipairs((net:parameters())) do t:mul(0.99) end
      end
   end
   expect.raises(changes and 'the network was changed while gradients waited'
      or 'parameters were written to', ownForward, run, newPass(run))
   zero(run)
   if changes then layOut(run) end
end

-- Losses of two kinds cannot be pending together.
function actions.mixed(run)
   if not run.mayWait or run.sampler or run.isRandom or run.options.reduce ~= 'samples'
      or run.outputs > 1 then
      return
   end
   local choose = run.choose
   run.net:noSync(function()
      local counts = drawCounts(run, 4, 2)
      local first = newPass(run, {waits = true, counts = counts,
         loss = losses.named('sum', choose, run)})
      local second = newPass(run, {waits = true, counts = counts,
         loss = losses.named('weights', choose, run)})
      both(run, first)
      reference(run, second)
      forward(run, second)
      expect.raises('', backward, run, second)
   end)
   zero(run)
end

-- Runs backward with a gradient of no criterion, after a criterion that does not divide by rows.
function actions.unclaimed(run)
   if run.outputs > 1 or run.options.reduce ~= 'samples' or run.isSynced then return end
   local choose = run.choose
   local name = choose{'sum', 'weights'}
   local kind = choose{'rows', 'copy', 'through'}
   local loss = losses.named(kind == 'rows' and kind or name, choose, run)
   if kind == 'through' then loss = losses.through(loss, run, true) end
   local pass = newPass(run, {loss = loss, noise = kind == 'rows' and name, inParts = false})
   reference(run, pass)
   forward(run, pass)
   local gradient = loss.gradient
   function loss.gradient(...)
      local gradOutput, value = gradient(...)
      return kind == 'copy' and gradOutput:clone() or gradOutput, value
   end
   expect.raises('denominator =', backward, run, pass)
   local output = run.net.output -- gradients by rows work again after one with a given denominator
   run.net:backward(pass.ownInput, map(output, function(t) return t:clone():zero() end), 1,
      {denominator = false})
   run.reference:syncBuffers(pass.counts)
   zero(run)
end

-- Runs an evaluation; sometimes with a backward.
function actions.evaluate(run)
   if run.isFixed then return end
   local tunes = run.choose(2) == 1 and not run.isRecurrent
   run.net:evaluate()
   run.reference.net:evaluate()
   local pass = newPass(run, {evaluates = true})
   if tunes then
      both(run, pass)
      run.reference:syncBuffers(pass.counts)
   else
      reference(run, pass)
      forward(run, pass)
   end
   run.net:training()
   run.reference.net:training()
end

local function layerOf(net, place)
   local list = {}
   for _, module in ipairs(net:listModules()) do
      if module.weight and not module.running_mean then list[#list + 1] = module end
   end
   return list[(place - 1) % #list + 1]
end

function actions.freeze(run)
   local place, freezes = run.choose(4), run.choose(3) < 3
   for _, net in ipairs{run.net, run.reference.net} do
      layerOf(replica(net), place).accGradParameters = freezes and function() end or nil
   end
end

function actions.clip(run)
   local most = run.choose{0.1, 1, 100}
   local got, wanted = run.net:clipGradNorm(most), run.reference.net:clipGradNorm(most)
   near(run, torch.Tensor{got}, torch.Tensor{wanted}, 'norm')
end

-- Adds a layer, and drops the optimizer's state.
function actions.surgery(run)
   addLayer(run)
   layOut(run)
   zero(run)
end

-- Converts the network to another type, on the same device.
function actions.retype(run)
   if run.isExact then return end
   local other = run.type:find 'Double' and run.type:gsub('Double', run.type:find 'Cuda' and ''
      or 'Float') or run.type:gsub('Float', ''):gsub('Tensor', 'DoubleTensor')
   if run.isNormalized and not other:find 'Double' then return end
   run.type, run.tolerance = other, math.max(run.tolerance, 1e-5)
   run.net:type(other)
   run.reference:type(other)
   if run.data then run.data = map(run.data, function(t) return t:type(other) end) end
   layOut(run)
   drawLoss(run)
end

-- Runs a method that evaluates a batch several times, and depends on the loss.
function actions.search(run)
   local isPrecise = run.type:find 'Double' and run.tolerance < 1e-6
   if not isPrecise or run.sampler or run.isRandom or run.isExact
      or run.options.reduce ~= 'samples' then
      return
   end
   local pass, method = newPass(run, {scale = 1}), optim[run.choose{'cg', 'lbfgs'}]
   local config = {maxIter = 2, maxEval = 4, learningRate = RATE}
   local whole = {meanLoss = function(loss) return run.net:meanLoss(loss) end}
   for name, value in pairs(config) do whole[name] = value end
   local one, net = run.reference, run.net
   local y, dy = one.net:getParameters()
   method(function()
      one.net:zeroGradParameters()
      one:forward(pass)
      one:backward(pass, 1)
      one:syncBuffers(pass.counts)
      return pass.value, dy
   end, y, config, {})
   method(function()
      net:zeroGradParameters()
      ownForward(run, pass)
      backward(run, pass)
      return pass.ownValue, run.dx
   end, run.x, whole, {})
   zero(run)
end

function actions.clone(run) wrap(run, run.net:clone()) end

function actions.checkpoint(run)
   local state = run.update == 'zero' and run.zero:whole(run.state) or run.state
   if run.update == 'zero' then
      near(run, state.m or torch.Tensor(), run.states.m or torch.Tensor(), 'whole state')
   end
   local saved = torch.deserialize(torch.serialize{net = run.net, state = state})
   run.state = saved.state
   if run.isSynced then nn.SyncBatchNormalization.convert(saved.net, {group = group}) end
   wrap(run, saved.net)
end

-- ---- updates ----

local methods = {sgd = optim.sgd, adam = optim.adam}

local updates = {}
function updates.updateParameters(run)
   run.net:updateParameters(RATE)
   run.reference.net:updateParameters(RATE)
end
function updates.hand(run)
   for _, net in ipairs{run.net, run.reference.net} do
      local values, gradients = net:parameters()
      for i, t in ipairs(values) do t:add(-RATE, gradients[i]) end
   end
end
local function optimize(run, method, plain)
   method(function() return 0, run.dx end, run.x, run.config, run.state)
   local y, dy = run.reference.net:getParameters()
   plain(function() return 0, dy end, y, run.config, run.states)
end
function updates.sgd(run) optimize(run, methods.sgd, methods.sgd) end
function updates.adam(run) optimize(run, methods.adam, methods.adam) end
function updates.zero(run) optimize(run, run.zero, methods.adam) end

local function update(run)
   updates[run.update](run)
   run.waits = false
   compareStatistics(run)
   compare(run, 'after the update')
   if run.isLossy then assign((run.reference.net:parameters()), (run.net:parameters())) end
end

-- Loops over batches; ranks have different numbers of them.
function actions.join(run)
   if run.sampler or run.isEven then return end
   local counts, most, passes = {}, 0, {}
   for r = 1, size do
      counts[r] = run.choose(4) - 1
      most = math.max(most, counts[r])
   end
   for i = 1, most do
      local rows = {}
      for r = 1, size do
         rows[r] = i <= counts[r] and run.choose(3) + (run.least and run.least - 1 or 0) or 0
      end
      passes[i] = newPass(run, {counts = rows})
   end
   local i, done = 0, 0
   for input, target in run.net:join(function()
      i = i + 1
      if i > counts[rank + 1] then return nil end
      local pass = passes[i]
      return rowsOf(pass.input, rank + 1, pass.counts), rowsOf(pass.target, rank + 1, pass.counts)
   end) do
      done = done + 1
      local pass = passes[done]
      near(run, input, rowsOf(pass.input, rank + 1, pass.counts), 'input of join')
      near(run, target, rowsOf(pass.target, rank + 1, pass.counts), 'target of join')
      zero(run)
      both(run, pass)
      run.reference:syncBuffers(pass.counts)
      compare(run, 'in join')
      update(run)
   end
   assert(done == most, 'join has another number of steps')
end

local actionNames = namesOf(actions)
table.insert(actionNames, 'noSync') -- twice as often as others

-- ---- a run ----

-- Draws a run.
local function plan(number)
   local choose = random.choices(number)
   local run = {seed = number, choose = choose, passes = 0,
      log = {}, title = 'is not built yet'}
   run.name = choose(networkNames)
   run.isExact = choose(5) == 1 and size == 2
   run.type = choose{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.CudaTensor',
      'torch.CudaDoubleTensor'}
   run.devices = choose{1, 1, 2}
   run.outputs = choose{1, 1, 1, 2}
   run.options = {reduce = choose{'samples', 'samples', 'samples', 'samples', 'ranks', 'sum'},
      buffers = choose{'own', 'first', 'average'}, overlap = choose(2) == 1,
      hook = choose{'none', 'none', 'none', 'none', 'same', 'other', 'half', 'bfloat16'}}
   run.samples, run.small = choose(5) == 1, choose(2) == 1
   run.isSynced = choose(2) == 1
   run.update = choose(namesOf(updates))
   run.steps = 2 + choose(4)
   return run
end

-- Hooks that return the sum in place, or in another tensor.
local hooks = {
   same = function(t) distributed.allReduce(t) end,
   other = function(t)
      local sums = t:clone()
      distributed.allReduce(sums)
      return sums
   end,
}

-- Makes the drawn choices consistent.
local function settle(run, kind)
   local options = run.options
   for name, value in pairs(kind) do run[name] = value end
   run.isExact = run.isExact and not kind.isNormalized and not kind.turns
   run.mayGoThrough = not run.isExact and not run.isRandom and run.options.reduce == 'samples'
   if run.isExact then
      options.reduce, options.hook = 'samples', 'none'
      run.isEven, run.isSynced = true, true
      run.samples = false
   end
   if (run.devices > 1 or run.isExact or kind.isOnDevice) and not run.type:find 'Cuda' then
      run.type = run.type:gsub('torch%.', 'torch.Cuda'):gsub('Float', '')
   end
   if kind.isNormalized and not run.isSynced then run.devices = 1 end
   run.isSynced = kind.isNormalized and run.isSynced
   if run.isSynced or run.isRandom then options.reduce = 'samples' end
   run.isSplit = kind.turns or kind.isNormalized and not run.isSynced
   run.least = run.isSplit and not kind.turns and 2 or nil
   if kind.isNormalized and not run.type:find 'Double' then
      run.type = run.type:find 'Cuda' and 'torch.CudaDoubleTensor' or 'torch.DoubleTensor'
   end
   -- nn.SyncBatchNormalization weights a pending table of sums by rows
   run.tolerance = run.type:find 'Double' and 1e-8 or 1e-5
   run.isLossy = options.hook == 'half' or options.hook == 'bfloat16'
   if run.isLossy then -- rounding in a step; then the reference continues with the same parameters
      run.tolerance = 0.02
      if run.update ~= 'sgd' then run.update = 'updateParameters' end
   end
   options.hook = hooks[options.hook] or options.hook ~= 'none' and options.hook or nil
   -- in host memory, noSync draws other numbers than one process
   run.mayWait = not run.isExact and (not run.isRandom or run.samples or run.type:find 'Cuda')
   run.config = {learningRate = RATE, momentum = run.update == 'sgd' and 0.9 or nil,
      epsilon = 1e-2}
   run.state, run.states = {}, {}
end

local function titleOf(run)
   return ('%s x%d, %s, %d x %d, %s, %s%s%s%s%s%s'):format(run.name, run.outputs, run.type, size,
      run.devices, run.options.reduce, run.update,
      run.options.overlap and ', overlap' or '', run.sampler and ', sampler' or '',
      run.options.hook and ', hook ' .. tostring(run.options.hook):sub(1, 8) or '',
      run.isExact and ', exact' or '', run.isSynced and ', synced' or '')
      .. (run.isSplit and ', buffers ' .. run.options.buffers or '')
end

local function build(run)
   torch.manualSeed(run.seed)
   local net, input, kind = networks[run.name](run.choose)
   settle(run, kind or {})
   if run.outputs == 2 then
      net:add(nn.ConcatTable():add(nn.Tanh()):add(nn.Linear(losses.width, losses.width)))
   end
   function run.input(n) return map(input(n), function(t) return t:type(run.type) end) end
   net:type(run.type)
   local alone = net:clone()
   if run.isSynced then net = nn.SyncBatchNormalization.convert(net, {group = group}) end
   if run.devices > 1 then
      local list = {}
      for i = 1, run.devices do list[i] = i end
      net = nn.DataParallelTable(1, true):add(net, list):type(run.type)
      if run.choose(4) == 1 then
         net:threads(function()
            require 'spec.support.modules'
            require 'spec.support.training_modules'
         end)
      end
   end
   if run.isExact then
      local list = {}
      for i = 1, size * run.devices do list[i] = i end
      alone = nn.DataParallelTable(1, true):add(alone, list):type(run.type)
   end
   if run.samples then
      local options = {batch = 3 + run.choose(6), seed = run.choose(100)}
      local n = options.batch + run.choose(12)
      run.whole = Sampler.new(n, {batch = options.batch, seed = options.seed}, 0, 1)
      options.group = group
      run.sampler = distributed.sampler(n, options)
      run.data, run.options.sampler = run.input(n), run.sampler
   end
   run.zero = optim.ZeroRedundancyOptimizer(optim.adam, {group = group})
   run.reference = Reference.new(run, alone)
   run.title = titleOf(run)
   if rank == 0 then print(run.title) end
   dpt.setDeterministic(run.isExact)
   wrap(run, net)
   zero(run)
end

local function step(run, number)
   if number == 1 or run.choose(4) > 1 then zero(run) end
   run.log = {}
   note(run, 'step ' .. number)
   drawLoss(run)
   for _ = 1, run.choose(3) do
      local name = run.choose(actionNames)
      note(run, name)
      actions[name](run)
      if run.waits then break end
   end
   if not run.waits then
      note(run, 'pass')
      local pass = actions.pass(run)
      near(run, torch.Tensor{run.net:meanLoss(pass.ownValue)}, torch.Tensor{pass.value},
         'meanLoss')
      compare(run, 'after the passes')
   end
   update(run)
end

local function train(number)
   group = number % 3 == 0 and permuted or nil
   rank = group and group:rank() or distributed.rank()
   local run = plan(number)
   if rank == 0 then
      io.write(('DPT_RUN=%d '):format(number))
      io.stdout:flush()
   end
   local kept = {buckets.first, buckets.rest}
   if run.small then buckets.first, buckets.rest = 64, 128 end -- bytes
   local ok, message = xpcall(function()
      build(run)
      for k = 1, run.steps do step(run, k) end
   end, function(why) return debug.traceback(tostring(why)) end)
   buckets.first, buckets.rest = unpack(kept)
   dpt.setDeterministic(false)
   if not ok then
      error(('seed %d: %s\n%s\n%s'):format(number, run.title, table.concat(run.log, ' '), message),
         0)
   end
   if run.devices > 1 then run.net:get(1).impl:close() end
end

local first, count = tonumber(arg[1]), tonumber(arg[2])
for number = first, first + count - 1 do
   train(number)
   if number % 10 == 0 then collectgarbage() end
end
distributed.barrier()
if rank == 0 then print(count .. ' runs agree') end
