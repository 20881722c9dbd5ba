-- Tests problems of users of PyTorch's DistributedDataParallel: each check has the name of a row of
-- docs/user-issues.md. Rank 0 prints the name if all ranks have passed the check.
local distributed = require 'dpt.distributed'
local buckets = require 'dpt.parallel.params.buckets'
local optim = require 'dpt'.optim
local expect = require 'spec.support.ranks.expect'
local raises, silently = expect.raises, expect.silently
local rank, size = distributed.rank(), distributed.size()
buckets.first, buckets.rest = 40, 200 -- bytes: the first bucket is a layer of 4 to 2

local g = torch.Generator()
torch.manualSeed(g, 3)
local function rand(...) return torch.rand(g, ...):cuda() end

local function linears(...)
   local net, sizes = nn.Sequential(), {...}
   for i = 2, #sizes do
      net:add(nn.Linear(sizes[i - 1], sizes[i]))
      if i < #sizes then net:add(nn.Tanh()) end
   end
   return net:cuda()
end

local function near(a, b, what)
   local off = (a:double() - b:double()):abs():max()
   if off >= 1e-5 or off ~= off then error(('%s on rank %d: off by %g'):format(what, rank, off)) end
end

local function equal(a, b, what)
   assert((a:double() - b:double()):abs():max() == 0, what .. ' on rank ' .. rank)
end

-- Runs a pass on this rank's rows of an input, `each` rows for each rank.
local function backward(net, input, gradOutput, each, scale)
   each = each or input:size(1) / size
   local a = input:narrow(1, rank * each + 1, each)
   net:forward(a)
   return net:backward(a, gradOutput:narrow(1, rank * each + 1, each), scale)
end

-- Runs the same pass in one process: the mean over all ranks.
local function alone(net, input, gradOutput, scale)
   net:forward(input)
   net:backward(input, gradOutput, (scale or 1) / size)
end

local function pair(net, options)
   local one = net:clone()
   local all = nn.DistributedDataParallel(net, options)
   local _, dx = all:getParameters()
   local _, px = one:getParameters()
   all:zeroGradParameters()
   one:zeroGradParameters()
   return all, one, dx, px
end

local Turns, parent = torch.class('Turns', 'nn.Container')
function Turns:__init(...)
   parent.__init(self)
   for _, module in ipairs{...} do self:add(module) end
   self.turns = {1}
end
function Turns:updateOutput(input)
   self.output = self.modules[self.turns[1]]:updateOutput(input):clone()
   for i = 2, #self.turns do self.output:add(self.modules[self.turns[i]]:updateOutput(input)) end
   return self.output
end
function Turns:updateGradInput(input, gradOutput)
   self.gradInput = self.modules[self.turns[1]]:updateGradInput(input, gradOutput)
   return self.gradInput
end
function Turns:accGradParameters(input, gradOutput, scale)
   for _, turn in ipairs(self.turns) do
      self.modules[turn]:accGradParameters(input, gradOutput, scale)
   end
end
Turns.leavesGradients = true

local rows = {}

-- Parameters unused on some ranks or on all need no option.
function rows.H6()
   local all, one, dx, px = pair(Turns.new(nn.Linear(3, 2), nn.Linear(3, 2)):cuda())
   for step = 1, 4 do
      local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
      all:get(1).turns = {rank == 0 and step > 1 and 2 or 1}
      backward(all, input, gradOutput)
      for r = 0, size - 1 do -- one process runs each rank's pass
         one.turns = {r == 0 and step > 1 and 2 or 1}
         local a = input:narrow(1, 2 * r + 1, 2)
         one:forward(a)
         one:backward(a, gradOutput:narrow(1, 2 * r + 1, 2), 1 / size)
      end
      near(dx, px, 'H6')
   end
end

-- Gradients that no rank used keep their bits, also -0 and non-finite ones; momentum continues.
function rows.H7()
   local all, one, dx, px = pair(Turns.new(nn.Linear(3, 2), nn.Linear(3, 2)):cuda())
   local odd = torch.FloatTensor{-0, 1e-30, 1 / 0, -3, 7, 0.1}
   odd[1] = -1 / math.huge
   all:get(1).modules[2].gradWeight:copy(odd)
   for _ = 1, 3 do backward(all, rand(2 * size, 3), rand(2 * size, 2)) end
   local left = all:get(1).modules[2].gradWeight:float():view(-1)
   for i = 1, 6 do
      assert(left[i] == odd[i] and 1 / left[i] == 1 / odd[i], 'H7: element ' .. i)
   end
   all:zeroGradParameters()
   local x, y = all:getParameters(), one:getParameters()
   local config = {learningRate = 0.1, momentum = 0.9}
   local a, b = {}, {}
   for step = 1, 4 do
      local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
      all:get(1).turns, one.turns = {step % 2 + 1}, {step % 2 + 1}
      optim.sgd(function()
         all:zeroGradParameters()
         backward(all, input, gradOutput)
         return 0, dx
      end, x, config, a)
      optim.sgd(function()
         one:zeroGradParameters()
         alone(one, input, gradOutput)
         return 0, px
      end, y, config, b)
   end
   near(x, y, 'H7')
end

-- The bytes sent do not depend on the parameters used, and no collective is needed to find them.
function rows.H8()
   if size == 1 then return end
   local all = pair(Turns.new(nn.Linear(3, 2), nn.Linear(3, 2)):cuda())
   local bytes
   for step = 1, 5 do
      all:get(1).turns = {step % 2 + 1}
      local before = all.sentBytes.gradients
      backward(all, rand(2 * size, 3), rand(2 * size, 2))
      bytes = bytes or all.sentBytes.gradients - before
      assert(bytes == all.sentBytes.gradients - before and bytes == 16 * 4)
   end
end

-- Tests a module that is called twice, and shared weights.
function rows.H9()
   local shared = nn.Linear(4, 4)
   local tied = nn.Linear(4, 4):share(shared, 'weight', 'bias', 'gradWeight', 'gradBias')
   local net = nn.Sequential():add(nn.Linear(3, 4)):add(shared):add(nn.Tanh()):add(tied)
      :add(Turns.new(nn.Linear(4, 2))):cuda()
   net:get(5).turns = {1, 1}
   local all, one, dx, px = pair(net)
   for _ = 1, 4 do
      local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
      backward(all, input, gradOutput)
      alone(one, input, gradOutput)
      near(dx, px, 'H9')
   end
end

-- An error names a module that is called again after its gradients were sent.
function rows.H10()
   if size == 1 then return end
   local net = nn.Sequential():add(nn.Linear(3, 4)):add(Turns.new(nn.Linear(4, 2))):cuda()
   local all = pair(net)
   for _ = 1, 3 do backward(all, rand(2 * size, 3), rand(2 * size, 2)) end
   net:get(2).turns = {1, 1}
   raises('nn.Linear with parameters 2x4, 2 is called 2 times in this pass, 1 in those before',
      backward, all, rand(2 * size, 3), rand(2 * size, 2))
end

-- Ranks with 5, 3, 0, 7 batches end together; the mean is over the samples that exist.
function rows.H11()
   local counts = {5, 3, 0, 7, 1, 0, 2, 6}
   local all, one, dx, px = pair(linears(3, 4, 2))
   local x, y = all:getParameters(), one:getParameters()
   local batches = {} -- of all ranks
   for r = 1, size do
      batches[r] = {}
      for i = 1, counts[r] do batches[r][i] = {rand(2, 3), rand(2, 2)} end
   end
   local a, b, config = {}, {}, {learningRate = 0.1, momentum = 0.9}
   local criterion, i, steps = nn.MSECriterion():cuda(), 0, 0
   for input, target in all:join(function()
      i = i + 1
      return unpack(batches[rank + 1][i] or {})
   end) do
      steps = steps + 1
      assert(input:size(1) == (i <= counts[rank + 1] and 2 or 0) and input:size(2) == 3)
      optim.sgd(function()
         all:zeroGradParameters()
         local loss = criterion:forward(all:forward(input), target)
         all:backward(input, criterion:backward(all.output, target))
         return loss, dx
      end, x, config, a)
      optim.sgd(function()
         one:zeroGradParameters()
         local live = 0
         for r = 1, size do live = live + (batches[r][steps] and 1 or 0) end
         for r = 1, size do
            local batch = batches[r][steps]
            if batch then
               criterion:forward(one:forward(batch[1]), batch[2])
               one:backward(batch[1], criterion:backward(one.output, batch[2]), 1 / live)
            end
         end
         return 0, px
      end, y, config, b)
      near(x, y, 'H11')
   end
   assert(steps == math.max(unpack(counts, 1, size)))
end

-- Tests the mean over samples, over ranks, and the sum.
function rows.H12()
   for i, reduce in ipairs{'samples', 'ranks', 'sum'} do
      local factor = i == 3 and size or 1
      local all, one, dx, px = pair(linears(3, 4, 2), {reduce = reduce})
      for _ = 1, 3 do
         local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
         backward(all, input, gradOutput)
         alone(one, input, gradOutput, factor)
         near(dx, px, 'H12 ' .. reduce)
      end
   end
   -- ranks with more rows have more weight, unless all ranks have the same weight
   for _, reduce in ipairs{'samples', 'ranks'} do
      local all, one, dx, px = pair(linears(3, 4, 2), {reduce = reduce})
      local before = 0
      local total = size * (size + 1) / 2
      local input, gradOutput = rand(total, 3), rand(total, 2)
      for r = 0, size - 1 do
         local a, b = input:narrow(1, before + 1, r + 1), gradOutput:narrow(1, before + 1, r + 1)
         if r == rank then
            all:forward(a)
            all:backward(a, b)
         end
         one:forward(a)
         one:backward(a, b, reduce == 'samples' and (r + 1) / total or 1 / size)
         before = before + r + 1
      end
      near(dx, px, 'H12 ' .. reduce)
   end
   -- sums are added: a view of a sum's gradient, one changed in place, and one with the option that
   -- says so; another tensor is an error
   for k, change in ipairs{function(t) return t:view(1, -1):view(-1, 2) end,
      function(t) return t:mul(0.3) end, function(t) return t * 0.3 end} do
      local all, one, dx, px = pair(linears(3, 4, 2))
      local sum = nn.MSECriterion(false):cuda()
      local input, target = rand(2 * size, 3), rand(2 * size, 2)
      for r = 0, size - 1 do
         local a, b = input:narrow(1, 2 * r + 1, 2), target:narrow(1, 2 * r + 1, 2)
         if r == rank then
            sum:forward(all:forward(a), b)
            local gradient = change(sum:backward(all.output, b))
            if k == 3 and size > 1 then
               raises('that divides by something else than rows', all.backward, all, a, gradient)
            end
            all:backward(a, gradient, 1, k == 3 and {denominator = false} or nil)
         end
         sum:forward(one:forward(a), b)
         one:backward(a, change(sum:backward(one.output, b)))
      end
      near(dx, px, 'H12, another tensor ' .. k)
   end
   if size > 1 then -- gradients that cannot be combined
      local all = nn.DistributedDataParallel(linears(3, 2))
      local criterion = nn.MSECriterion():cuda()
      criterion.sizeAverage = rank == 0
      local input, target = rand(2, 3), rand(2, 2)
      criterion:forward(all:forward(input), target)
      raises("the gradient of rank 0 was divided by the criterion's denominator, that of rank 1 by"
         .. ' nothing, since its loss is a sum', all.backward, all, input,
         criterion:backward(all.output, target))
   end
end

-- Returns a criterion of several terms with different divisors: ragged rows, class weights.
local function several(kind)
   local nll = nn.ClassNLLCriterion(torch.Tensor{1, 5}):cuda()
   local function two(class)
      return nn[class]():add(nll:clone(), 0.7):add(nn.ClassNLLCriterion():cuda(), 0.2):cuda()
   end
   if kind == 'multi' then return two 'MultiCriterion' end
   if kind == 'parallel' then
      return nn.ParallelCriterion():add(nll, 0.5):add(nn.MSECriterion():cuda())
         :add(nn.MSECriterion(false):cuda(), 0.1):cuda()
   end
   if kind == 'sequence' then return nn.SequencerCriterion(nll):cuda() end
   return nn.ModuleCriterion(two 'MultiCriterion', nn.LogSoftMax():cuda()):cuda()
end

-- Terms of a loss with different divisors are each the mean over all samples, if each has its own
-- gradient; if one gradient is their sum, other ratios are an error.
function rows.H12_terms()
   for _, kind in ipairs{'multi', 'parallel', 'sequence', 'module'} do
      local net, failed = linears(3, 4, 2), false
      if kind == 'parallel' then
         net = nn.Sequential():add(net):add(nn.ConcatTable():add(nn.LogSoftMax())
            :add(nn.Linear(2, 3)):add(nn.Linear(2, 1))):cuda()
      elseif kind == 'sequence' then
         net = nn.Sequential():add(nn.Bottle(net:add(nn.LogSoftMax()))):cuda()
      elseif kind == 'multi' then
         net:add(nn.LogSoftMax():cuda())
      end
      local all, one, dx, px = pair(net)
      local theirs, own = several(kind), several(kind)
      for step = 1, 4 do
         local counts, before, total = {}, 0, 0
         for r = 1, size do
            counts[r] = step == 4 and 2 or (r + step) % 3
            if r == 1 then counts[r] = counts[r] + 1 end
            if r <= rank then before = before + counts[r] end
            total = total + counts[r]
         end
         local function part(t, dim)
            local count = counts[rank + 1]
            if count > 0 then return t:narrow(dim or 1, before + 1, count) end
            local sizes = t:size():totable()
            sizes[dim or 1] = 0
            return t.new(unpack(sizes))
         end
         local input, target, mine
         if kind == 'sequence' then -- steps, rows
            input, target = rand(3, total, 3), torch.rand(g, 3, total):mul(2):floor():add(1):cuda()
            mine = {part(input, 2), part(target, 2)}
         else
            input, target = rand(total, 3), torch.rand(g, total):mul(2):floor():add(1):cuda()
            mine = {part(input), part(target)}
         end
         if kind == 'parallel' then
            local b, c = rand(total, 3), rand(total, 1)
            mine[2] = {mine[2], part(b), part(c)}
            target = {target, b, c}
         end
         all:zeroGradParameters()
         one:zeroGradParameters()
         own:forward(one:forward(input), target)
         one:backward(input, own:backward(one.output, target))
         theirs:forward(all:forward(mine[1]), mine[2])
         local gradient = theirs:backward(all.output, mine[2])
         if kind == 'parallel' or size == 1 then
            all:backward(mine[1], gradient)
            near(dx, px, 'H12 terms ' .. kind .. ' step ' .. step)
         else
            local ok, message = pcall(all.backward, all, mine[1], gradient)
            assert(ok and (dx - px):abs():max() < 1e-5
               or not ok and message:find 'the terms of the loss count differently on the ranks')
            failed = failed or not ok
         end
      end
      assert(failed == (kind ~= 'parallel' and size > 1), kind)
   end
end

-- In noSync all terms must have one weight.
function rows.H13_terms()
   local all, one, dx, px = pair(linears(3, 4, 2))
   local function make()
      return nn.MultiCriterion():add(nn.MSECriterion():cuda(), 0.5):add(nn.AbsCriterion():cuda())
         :cuda()
   end
   local theirs, own = make(), make()
   local input, target = rand(4 * size, 3), rand(4 * size, 2)
   local function pass(first)
      local a, b = input:narrow(1, first, 2), target:narrow(1, first, 2)
      theirs:forward(all:forward(a), b)
      all:backward(a, theirs:backward(all.output, b))
   end
   all:noSync(pass, 4 * rank + 1)
   pass(4 * rank + 3)
   own:forward(one:forward(input), target)
   one:backward(input, own:backward(one.output, target), 2)
   near(dx, px, 'H13 terms')
   all:zeroGradParameters()
   all:noSync(pass, 4 * rank + 1)
   all:noSync(pass, 4 * rank + 3)
   all:syncGradients()
   near(dx, px, 'H13 terms, by themselves')
   if size > 1 then -- terms with different weights on the ranks
      local net = nn.DistributedDataParallel(linears(3, 2):add(nn.LogSoftMax():cuda()))
      theirs = several 'multi'
      target = torch.CudaTensor{rank == 0 and 1 or 2, 1}
      net:noSync(function()
         theirs:forward(net:forward(rand(2, 3)), target)
         net:backward(rand(2, 3), theirs:backward(net.output, target))
      end)
      raises('the terms of the loss count differently', net.syncGradients, net)
      net:zeroGradParameters()
      theirs:forward(net:forward(rand(2, 3)), target)
      raises('the terms of the loss count differently', net.backward, net, rand(2, 3),
         theirs:backward(net.output, target))
   end
end

-- noSync sends nothing; the result is that of the large batch, added to the previous gradients.
function rows.H13()
   for _, reduce in ipairs{'samples', 'ranks', 'sum'} do
      local all, one, dx, px = pair(linears(3, 4, 2), {reduce = reduce})
      local factor = reduce == 'sum' and size or 1
      for step = 1, 3 do
         local function pass(last)
            local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
            alone(one, input, gradOutput, factor)
            backward(all, input, gradOutput)
            return last
         end
         silently(function()
            for _ = 1, 2 do assert(all:noSync(pass, 5) == 5) end
         end)
         if step == 2 then all:syncGradients() else pass() end
         near(dx, px, 'H13 ' .. reduce .. ' step ' .. step)
      end
   end
   -- an optimizer syncs gradients
   local all, one, dx, px = pair(linears(3, 2))
   local x, y = all:getParameters(), one:getParameters()
   local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
   all:noSync(backward, all, input, gradOutput)
   alone(one, input, gradOutput)
   optim.sgd(function() return 0, dx end, x, {learningRate = 1})
   optim.sgd(function() return 0, px end, y, {learningRate = 1})
   near(x, y, 'H13 by the optimizer')
   if size > 1 then
      all:noSync(backward, all, input, gradOutput)
      dx:mul(2)
      raises('gradients were written to while ranks hold parts of them', backward, all, input,
         gradOutput)
      all:zeroGradParameters()
   end
end

-- Buckets are views of the flat gradient: nothing is copied, for any strides.
function rows.H14()
   local net = nn.Sequential():add(nn.SpatialConvolution(3, 4, 1, 1)):add(nn.ReLU())
      :add(nn.SpatialConvolution(4, 5, 1, 1)):cuda()
   local all = pair(net)
   local _, dx = all:getParameters()
   local seen = 0
   for _ = 1, 3 do backward(all, rand(size, 3, 4, 4), rand(size, 5, 4, 4)) end
   if size == 1 then return end
   for _, sums in ipairs(all.params.overlap.sums) do
      for _, t in ipairs(sums) do
         assert(torch.pointer(t:storage()) == torch.pointer(dx:storage()))
         seen = seen + t:nElement()
      end
   end
   assert(seen == dx:nElement() and #all.params.overlap.sums > 1)
end

-- Parameters and gradients use memory; buckets use none.
function rows.H15()
   local function peak(net)
      net:getParameters()
      collectgarbage()
      collectgarbage()
      cutorch.synchronize()
      cutorch.resetPeakMemory(1)
      local before = cutorch.memoryStats(1).live
      for _ = 1, 3 do
         net:zeroGradParameters()
         net:forward(rand(2, 500))
         net:backward(net:parameters() and rand(2, 500), rand(2, 400))
      end
      cutorch.synchronize()
      return cutorch.memoryStats(1).peak - before
   end
   local bare = peak(linears(500, 400))
   local wrapped = peak(nn.DistributedDataParallel(linears(500, 400)))
   assert(wrapped - bare < 500 * 400 * 4 / 20, ('H15: %d and %d bytes'):format(bare, wrapped))
end

-- A write to a gradient after its bucket was sent is detected.
function rows.H16()
   if size == 1 then return end
   local net = linears(3, 4, 4, 2)
   local all = pair(net)
   for _ = 1, 3 do backward(all, rand(2 * size, 3), rand(2 * size, 2)) end
   local last, tanh = net:get(5), net:get(2)
   local before = tanh.updateGradInput
   function tanh:updateGradInput(...)
      last.gradWeight:mul(2)
      return before(self, ...)
   end
   -- hooks: half precision has its rounding error, and overflow is detected
   local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
   local half, one, dx, px = pair(linears(3, 4, 2), {hook = 'half'})
   for _ = 1, 3 do
      half:zeroGradParameters()
      one:zeroGradParameters()
      backward(half, input, gradOutput)
      alone(one, input, gradOutput)
      local off = (dx - px):abs():max()
      assert(off > 0 and off < 2e-3 * px:abs():max() * size, 'H16: halves are off by ' .. off)
   end
   assert(not half:foundInf())
   backward(half, input, rank == 0 and gradOutput:clone():fill(1e6) or gradOutput)
   assert(half:foundInf(), 'H16: an overflow was not found')
   local calls = 0
   local own, other, a, b = pair(linears(3, 4, 2), {hook = function(t)
      calls = calls + 1
      distributed.allReduce(t)
   end})
   backward(own, input, gradOutput)
   alone(other, input, gradOutput)
   near(a, b, 'H16: a hook of a script')
   assert(calls > 0)
   raises('gradients were written to after their sum', backward, all, rand(2 * size, 3),
      rand(2 * size, 2))
end

-- If networks differ, every rank reports where.
function rows.H17()
   if size == 1 then return end
   local last = size - 1
   local function wrong(message, make, options)
      raises(('ranks differ: rank %d has '):format(last) .. message, nn.DistributedDataParallel,
         make(rank == last), options and options(rank == last))
   end
   wrong('parameter 1 (modules[1].weight): torch.CudaTensor of 4x3', function(other)
      return linears(3, other and 4 or 5, 2)
   end)
   wrong('module 3: nn.ReLU, rank 0 has module 3: nn.Tanh', function(other)
      return nn.Sequential():add(nn.Linear(3, 2)):add(other and nn.ReLU() or nn.Tanh())
   end)
   wrong('parameter 1 (weight): torch.DoubleTensor of 2x3', function(other)
      local net = nn.Linear(3, 2)
      return other and net:double() or net:float()
   end)
   wrong('parameter 2 (modules[1].bias): torch.CudaTensor of 2, ignored: it has no gradient',
      function(other)
         local net = linears(3, 2)
         if other then net:get(1).gradBias = nil end
         return net
      end)
   wrong('option reduce = sum, rank 0 has option reduce = samples', function()
      return linears(3, 2)
   end, function(other) return {reduce = other and 'sum' or 'samples'} end)
   wrong('nothing more, rank 0 has buffer 1 (modules[2].running_mean)', function(other)
      local net = linears(3, 2):add(nn.BatchNormalization(2, nil, nil, false):cuda())
      if other then net:get(2).runningStatistics = function() return {} end end
      return net
   end)
end

-- Ranks drop different elements; together they drop those that one process would.
function rows.H22()
   local net = nn.Sequential():add(nn.Dropout(0.5)):add(nn.Linear(8, 8)):cuda()
   local one = net:clone()
   local all = nn.DistributedDataParallel(net)
   cutorch.manualSeed(9)
   for _ = 1, 3 do
      local state = cutorch.getRNGState()
      one:forward(torch.ones(4 * size, 8):cuda())
      cutorch.setRNGState(state)
      all:forward(torch.ones(4, 8):cuda())
      local masks = one:get(1).noise
      equal(masks:narrow(1, 4 * rank + 1, 4), net:get(1).noise, 'H22')
      for r = 1, size - 1 do
         assert((masks:narrow(1, 1, 4) - masks:narrow(1, 4 * r + 1, 4)):abs():max() > 0)
      end
   end
   -- also on a device other than the current one
   if cutorch.getDeviceCount() > 1 and size > 1 then
      local there = nn.utils.moveTo(nn.Sequential():add(nn.Dropout(0.5)):add(nn.Linear(8, 8))
         :cuda(), 2)
      all = nn.DistributedDataParallel(there)
      all:forward(cutorch.withDevice(2, function() return torch.ones(4, 8):cuda() end))
      assert(cutorch.getDevice() == 1)
      local masks = distributed.allGatherValue(there:get(1).noise:float())
      for r = 2, size do assert((masks[r] - masks[1]):abs():max() > 0, 'H22 elsewhere') end
   end
   -- a sampler knows the position of the rows: a forward sends nothing
   local sampler = distributed.sampler(7 * size - 1, {batch = 4 * size - 1, shuffle = false})
   one = net:clone()
   all = nn.DistributedDataParallel(net, {sampler = sampler})
   for indices, _, total in sampler:epoch() do
      local state = cutorch.getRNGState()
      one:forward(torch.ones(total, 8):cuda())
      cutorch.setRNGState(state)
      local count = indices:nElement()
      silently(function() all:forward(torch.ones(count, 8):cuda()) end)
      equal(one:get(1).noise:narrow(1, sampler.before + 1, count), net:get(1).noise, 'H22')
      if size > 1 then
         raises(('got 9 rows, the batch of the sampler has %d'):format(count), all.forward, all,
            torch.ones(9, 8):cuda())
      end
   end
   -- also in host memory, with any number of rows; only the generator's state matters
   net = nn.Sequential():add(nn.Dropout(0.5)):add(nn.Linear(8, 8)):float()
   one = net:clone()
   all = nn.DistributedDataParallel(net)
   torch.manualSeed(4)
   for step = 1, 3 do
      local before, total, count = 0, 0, 0
      for r = 0, size - 1 do
         local rows_ = (r + step) % 3 + (r == 0 and 1 or 0)
         if r < rank then before = before + rows_ end
         if r == rank then count = rows_ end
         total = total + rows_
      end
      local state = torch.getRNGState()
      one:forward(torch.ones(total, 8):float())
      local after = torch.getRNGState()
      torch.setRNGState(state)
      local a = count > 0 and torch.ones(count, 8):float() or torch.FloatTensor(0, 8)
      all:forward(a)
      all:backward(a, a)
      if count > 0 then
         equal(one:get(1).noise:narrow(1, before + 1, count), net:get(1).noise, 'H22: host tensors')
      end
      equal(after, torch.getRNGState(), 'H22: the generator')
      if size > 1 then
         all:noSync(function() all:forward(torch.ones(rank + 1, 8):float()) end)
         local noise = distributed.allGatherValue(net:get(1).noise[1])
         for r = 2, size do assert((noise[r] - noise[1]):abs():max() > 0, 'H22 in noSync') end
      end
   end
   -- slopes are those of one process, whatever the signs of other ranks' rows
   local slopes = nn.Sequential():add(nn.RReLU()):add(nn.Linear(8, 8)):float()
   local own
   for r = 0, size - 1 do -- all ranks create all groups
      local group = distributed.group{r}
      if r == rank then own = group end
   end
   one = nn.DistributedDataParallel(slopes:clone(), {group = own})
   all = nn.DistributedDataParallel(slopes)
   for _ = 1, 2 do
      local input = torch.rand(g, size * (size + 1) / 2, 8):add(-0.5):float()
      local before = rank * (rank + 1) / 2
      local state = torch.getRNGState()
      one:forward(input)
      local after = torch.getRNGState()
      torch.setRNGState(state)
      all:forward(input:narrow(1, before + 1, rank + 1))
      equal(one:get(1):get(1).noise:narrow(1, before + 1, rank + 1), all:get(1):get(1).noise,
         'H22: slopes')
      equal(after, torch.getRNGState(), 'H22: the generator after slopes')
   end
   -- a module that draws different numbers on each rank
   all = nn.DistributedDataParallel(net)
   net:insert(nn.Identity():float(), 1)
   net:get(1).updateOutput = function(self, input)
      torch.rand(rank + 1)
      self.output = input
      return input
   end
   all:forward(torch.ones(1, 8):float())
   all:backward(torch.ones(1, 8):float(), torch.ones(1, 8):float())
   local orders = distributed.allGatherValue(torch.randperm(20))
   for r = 2, size do equal(orders[r], orders[1], 'H22: the order of data') end
end

-- Each rank keeps a part of an optimizer's state. The whole state is saved, and any number of ranks
-- can load it.
function rows.H19()
   local each, decays = rand(37), rand(37)
   local cases = {{'sgd', {momentum = 0.9, weightDecay = 0.1}}, {'adam', {}},
      {'adam', {learningRates = each, weightDecays = decays:double()}},
      {'adamw', {learningRates = each, weightDecays = decays, amsgrad = true}}, {'adagrad', {}},
      {'rmsprop', {}}, {'nag', {momentum = 0.5}}, {'adadelta', {}}, {'adamax', {}}, {'asgd', {}},
      {'rprop', {niter = 3}}}
   for _, name in ipairs{'adam', 'rmsprop', 'nag'} do
      cases[#cases + 1] = {name, {learningRates = each}, 'torch.CudaHalfTensor'}
   end
   for _, case in ipairs(cases) do
      local name, config, typename = unpack(case)
      local n = name == 'adam' and not config.learningRates and 2 or 37 -- fewer than some ranks
      local function random(...) return rand(...):type(typename or 'torch.CudaTensor') end
      local x = random(n)
      local y, a, b = x:clone(), {}, {}
      local zero = optim.ZeroRedundancyOptimizer(optim[name])
      for step = 1, 6 do
         -- a gradient of all of x, which some methods move before they call it, or call often
         local matrix, vector = random(n, n):mul(0.1), random(n):add(-0.4)
         local function at(t)
            return function() return t:sum(), torch.mv(matrix, t):add(vector) end
         end
         local _, history = zero(at(x), x, config, a)
         local _, wanted = optim[name](at(y), y, config, b)
         assert(#wanted == #history, 'H19: values of ' .. name)
         for i, v in ipairs(wanted) do assert(v == history[i], 'H19: a value of ' .. name) end
         equal(x, y, 'H19 ' .. name)
         if step == 3 then -- saved, and loaded by any number of ranks, or by the method itself
            a = torch.deserialize(torch.serialize(zero:whole(a)))
            for key, value in pairs(b) do
               if torch.isTensor(value) and value:nElement() == n then
                  equal(a[key], value, 'H19: state of ' .. name)
               end
            end
            b = torch.deserialize(torch.serialize(zero:whole(a)))
         end
      end
      local part = math.floor(n / size) + (rank == 0 and n % size or 0)
      for _, t in pairs(a) do
         assert(not torch.isTensor(t) or t:nElement() <= part, 'H19: more than a part')
      end
   end
   raises('optim.lbfgs looks at all parameters at once', optim.ZeroRedundancyOptimizer, optim.lbfgs)
end

-- Tests normalization over all ranks: parts of any size, none, and nothing sent in evaluation.
function rows.H18()
   local function close(a, b, what) -- in doubles
      assert((a - b):abs():max() < 1e-11, what)
   end
   local plain = nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4))
      :add(nn.Tanh()):add(nn.BatchNormalization(4, 1e-3, 0.3, false)):cudaDouble()
   local one = plain:clone()
   local net = nn.SyncBatchNormalization.convert(plain)
   assert(torch.type(net:get(2)) == 'nn.SyncBatchNormalization')
   local all = nn.DistributedDataParallel(net)
   local _, dx = all:getParameters()
   local _, px = one:getParameters()
   for step = 1, 5 do
      local counts, before, total = {}, 0, 0
      for r = 1, size do
         counts[r] = (r + step) % 3 == 0 and r > 1 and 0 or r + step
         if step == 2 then counts[r] = r == 1 and 1 or 0 end -- a single value
         if r <= rank then before = before + counts[r] end
         total = total + counts[r]
      end
      local input, gradOutput = rand(total, 3):cudaDouble(), rand(total, 4):cudaDouble()
      local count = counts[rank + 1]
      local a = count > 0 and input:narrow(1, before + 1, count) or input.new(0, 3)
      local b = count > 0 and gradOutput:narrow(1, before + 1, count) or input.new(0, 4)
      all:zeroGradParameters()
      one:zeroGradParameters()
      if step == 4 then -- weighted by rows
         all:noSync(function()
            all:forward(a)
            all:updateGradInput(a, b)
            all:accGradParameters(a, b)
         end)
         all:syncGradients()
      else
         all:forward(a)
         all:backward(a, b)
      end
      one:forward(input)
      -- gradient of each rank's mean, weighted by rows
      local first = 0
      local whole = gradOutput:clone()
      for r = 1, size do
         if counts[r] > 0 then whole:narrow(1, first + 1, counts[r]):mul(counts[r] / total) end
         first = first + counts[r]
      end
      one:backward(input, whole)
      close(dx, px, 'H18 step ' .. step)
      if count > 0 then
         close(all.output, one.output:narrow(1, before + 1, count), 'H18: output')
         close(all.gradInput, one.gradInput:narrow(1, before + 1, count) * (total / count),
            'H18: gradInput')
      end
      for _, i in ipairs{2, 4} do
         close(net:get(i).running_mean, one:get(i).running_mean, 'H18: mean')
         close(net:get(i).running_var, one:get(i).running_var, 'H18: variance')
      end
   end
   all:evaluate()
   one:evaluate()
   local input = rand(2, 3):cudaDouble()
   silently(function() close(all:forward(input), one:forward(input), 'H18: evaluation') end)
end

-- The same if each rank has an nn.DataParallelTable, some of whose devices have no rows; a rank may
-- have none, and its steps are not mixed up with later ones of others.
function rows.H18_devices()
   if cutorch.getDeviceCount() < 2 then return end
   local plain = nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4)):cudaDouble()
   local one = plain:clone()
   local net = nn.DataParallelTable(1, true):add(nn.SyncBatchNormalization.convert(plain), {1, 2})
      :cudaDouble()
   local _, dx = net:getParameters()
   local _, px = one:getParameters()
   local function close(a, b, what) assert((a - b):abs():max() < 1e-11, 'H18: ' .. what) end
   local cases = {{1, 1}, {1, 2}, {1, 4}, {0, 4}, {-1, 4}, {1, 4}}
   for _, case in ipairs(cases) do -- rank r has case[1] + 2 r rows, at most case[2]
      local counts, before, total = {}, 0, 0
      for r = 0, size - 1 do
         counts[r] = math.max(0, math.min(2 * r + case[1], case[2]))
         if r < rank then before = before + counts[r] end
         total = total + counts[r]
      end
      if total > 1 then
         local count = counts[rank]
         local input, gradOutput = rand(total, 3):cudaDouble(), rand(total, 4):cudaDouble()
         one:zeroGradParameters()
         net:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput)
         local function part(t)
            return count > 0 and t:narrow(1, before + 1, count) or t.new(0, t:size(2))
         end
         net:forward(part(input))
         -- ranks weight their gradients by rows: gradOutput is that of each rank's own mean
         net:backward(part(input), part(gradOutput) * (count > 0 and total / count or 1))
         assert(net.output:isSameSizeAs(part(one.output)), 'H18: sizes on devices')
         if count > 0 then
            close(net.output, part(one.output), 'rows on devices')
            close(net.gradInput, part(one.gradInput) * (total / count), 'gradInput on devices')
         end
         dx:mul(count / total)
         distributed.allReduce(dx)
         close(dx, px, 'gradients on devices')
      end
   end
   net:syncBuffers()
   for _, name in ipairs{'running_mean', 'running_var'} do
      close(net:get(1):get(2)[name], one:get(2)[name], name .. ' on devices')
   end
end

-- One rank's infinity makes all skip the step; clipping and the mean loss are one call each.
function rows.H23()
   local all, one, dx, px = pair(linears(3, 4, 2))
   local x, y = all:getParameters(), one:getParameters()
   for step = 1, 4 do
      local input, gradOutput = rand(2 * size, 3), rand(2 * size, 2)
      if step == 2 then gradOutput[2 * size][1] = 1 / 0 end -- in a row of the last rank
      all:zeroGradParameters()
      backward(all, input, gradOutput)
      assert(all:foundInf() == (step == 2), 'H23')
      if step ~= 2 then
         one:zeroGradParameters()
         alone(one, input, gradOutput)
         local norm = px:norm()
         assert(math.abs(all:clipGradNorm(norm / 2) - norm) < 1e-5 * norm)
         px:mul(0.5)
         near(dx, px, 'H23')
         x:add(-0.1, dx)
         y:add(-0.1, px)
      end
   end
   near(x, y, 'H23')
   local criterion = nn.MSECriterion():cuda()
   local input, target = rand(size * (size + 1) / 2, 3), rand(size * (size + 1) / 2, 2)
   local first = rank * (rank + 1) / 2
   local a, b = input:narrow(1, first + 1, rank + 1), target:narrow(1, first + 1, rank + 1)
   local loss = criterion:forward(all:forward(a), b)
   local whole = all:meanLoss(loss)
   all:backward(a, criterion:backward(all.output, b))
   assert(math.abs(all:meanLoss(loss) - whole) < 1e-6)
   assert(math.abs(criterion:forward(one:forward(input), target) - whole) < 1e-5, 'the mean loss')
end

local names = {}
for name in pairs(rows) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
   torch.manualSeed(7)
   rows[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
