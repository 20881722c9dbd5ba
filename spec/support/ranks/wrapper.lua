-- Tests unusual uses of nn.DistributedDataParallel: runs each of `checks` on all ranks; rank 0
-- prints the name of each check that all have passed.
local cudnn = require('dpt').cudnn
local distributed = require 'dpt.distributed'
local groups = require 'dpt.distributed.group'
local buckets = require 'dpt.parallel.params.buckets'
local expect = require 'spec.support.ranks.expect'
local script = require 'spec.support.ranks.script'
local raises, silently = expect.raises, expect.silently
local rank, size = distributed.rank(), distributed.size()

local g = torch.Generator()
torch.manualSeed(g, 3)
local function rand(...) return torch.rand(g, ...):cuda() end

local function linears()
   return nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4)):add(nn.Tanh())
      :add(nn.Dropout(0.5)):add(nn.Linear(4, 2)):cuda()
end

local function near(a, b, what, most)
   local off = (a:double() - b:double()):abs():max()
   if off >= (most or 1e-5) or off ~= off then
      error(('%s on rank %d: off by %g'):format(what, rank, off))
   end
end

local checks = {}

buckets.least = 64 -- bytes: also small networks have several buckets

-- Gradients after a forward in evaluation mode (fine-tuning with fixed statistics) are those of one
-- process; such a forward sends nothing.
function checks.evaluation()
   local function check(net, what)
      local one = net:clone()
      one = one.modules and torch.isTypeOf(one, 'nn.DataParallelTable') and one:get(1) or one
      local all = nn.DistributedDataParallel(net)
      local _, dx = all:getParameters()
      local _, px = one:getParameters()
      local criterion, own = nn.MSECriterion():cuda(), nn.MSECriterion():cuda()
      local first = rand(size + 1, 3):narrow(1, 1, size - rank + 1) -- differs by rank
      all:forward(first)
      all:backward(first, rand(size + 1, 2):narrow(1, 1, size - rank + 1))
      one:evaluate()
      all:evaluate()
      for step = 1, 3 do -- in the last one a rank has no rows
         local counts, before, total = {}, 0, 0
         for r = 0, size - 1 do
            counts[r] = step == 3 and r == size - 1 and r > 0 and 0 or 2 * r + step
            if r < rank then before = before + counts[r] end
            total = total + counts[r]
         end
         local input, target = rand(total, 3), rand(total, 2)
         local function part(t)
            if counts[rank] == 0 then return t.new(0, t:size(2)) end
            return t:narrow(1, before + 1, counts[rank])
         end
         all:zeroGradParameters()
         one:zeroGradParameters()
         for i, statistics in ipairs(one:get(2):runningStatistics()) do
            local inner = all:get(1)
            inner = torch.isTypeOf(inner, 'nn.DataParallelTable') and inner:get(1) or inner
            statistics:copy(inner:get(2):runningStatistics()[i])
         end
         silently(function()
            if rank == 0 then all:forward(input) end -- a rank may call it any number of times
            all:forward(part(input))
         end)
         local loss = criterion:forward(all.output, part(target))
         local mean = own:forward(one:forward(input), target)
         assert(math.abs(all:meanLoss(counts[rank] > 0 and loss or 0) - mean) < 1e-5, what)
         local function backward()
            all:backward(part(input), criterion:backward(all.output, part(target)))
         end
         one:backward(input, own:backward(one.output, target))
         if step == 2 then
            all:noSync(backward)
            all:syncGradients()
         else
            backward()
         end
         assert(px:norm() > 0.01)
         near(dx, px, 'evaluation ' .. what .. ' step ' .. step)
      end
   end
   check(linears(), 'one device')
   if cutorch.getDeviceCount() > 1 then
      check(nn.DataParallelTable(1, true):add(linears(), {1, 2}), 'two devices')
   end
end

-- Gradients sent in 16 bits are rounded for each rank, and again for the sum. Infinities are
-- detected on all ranks, which have the same bits.
local function narrow(hook, error)
   for _, typename in ipairs{'torch.CudaTensor', 'torch.CudaDoubleTensor', 'torch.FloatTensor'} do
      local what = hook .. ' ' .. typename
      local net = nn.Sequential():add(nn.Linear(30, 20)):add(nn.Tanh()):add(nn.Linear(20, 2))
         :type(typename)
      local one = net:clone()
      local all = nn.DistributedDataParallel(net, {hook = hook})
      local _, dx = all:getParameters()
      local _, px = one:getParameters()
      local input = rand(2 * size, 30):type(typename)
      local gradOutput = rand(2 * size, 2):add(1):type(typename)
      local function backward(factor)
         all:forward(input:narrow(1, 2 * rank + 1, 2))
         all:backward(input:narrow(1, 2 * rank + 1, 2), gradOutput:narrow(1, 2 * rank + 1, 2),
            factor)
      end
      for _ = 1, 3 do
         all:zeroGradParameters()
         backward()
         one:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput, 1 / size)
         near(dx, px, what, torch.abs(px):max() * error)
         assert(size == 1 or (dx - px):abs():max() > 0, 'nothing was rounded')
      end
      if size > 1 then
         assert(all.sentBytes.gradients == 3 * 2 * dx:nElement(), 'bytes of ' .. what)
      end
      assert(not all:foundInf())
      backward(rank == 0 and 1 / 0 or 1)
      assert(all:foundInf(), what .. ': an infinity was not found')
      local sums = distributed.allGatherValue(dx:double())
      for r = 2, size do
         assert(torch.eq(sums[r], sums[1]):sum() + torch.ne(sums[r], sums[r]):sum()
            == dx:nElement(), what .. ': ranks differ')
      end
   end
end
function checks.half() narrow('half', 2 ^ -10) end
function checks.bfloat16() narrow('bfloat16', 2 ^ -7) end

-- Gradients of reduced types, which layers have on devices; they are small integers, so that all
-- sums are exact.
function checks.reduced_types()
   local function integers(kind, ...) return torch.Tensor(...):random(g, 0, 2):type(kind) end
   for _, kind in ipairs(script.reduced) do
      for _, hook in ipairs(kind:find 'Cuda' and {'none', unpack(script.wires)} or {}) do
         local one = nn.Linear(5, 3):type(kind)
         local all = nn.DistributedDataParallel(one:clone(),
            {hook = hook ~= 'none' and hook or nil})
         local input, gradOutput = integers(kind, 2 * size, 5), integers(kind, 2 * size, 3)
         one:zeroGradParameters()
         one:forward(input)
         one:backward(input, gradOutput)
         all:zeroGradParameters()
         all:forward(input:narrow(1, 2 * rank + 1, 2))
         all:backward(input:narrow(1, 2 * rank + 1, 2), gradOutput:narrow(1, 2 * rank + 1, 2), size)
         for i, t in ipairs(select(2, all:parameters())) do
            near(t, select(2, one:parameters())[i], hook .. ' ' .. kind)
         end
      end
   end
end

-- A script's own line search: halves the step until f decreases.
local function halve(opfunc, x, t, d, f)
   local origin, count = x:clone(), 0
   while true do
      t, count = t / 2, count + 1
      local value, gradient = opfunc(x:copy(origin):add(t, d))
      if value < f or count > 10 then return value, gradient, x, t, count end
   end
end

-- Returns the parameters after running a method on a network, and the values of the loss that it
-- returns.
local function descend(net, input, target, name, config)
   local criterion, x, dx = nn.MSECriterion():double(), net:getParameters()
   local function f(at)
      if at ~= x then x:copy(at) end
      dx:zero()
      local loss = criterion:forward(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
      return loss, dx
   end
   torch.manualSeed(5)
   if name == 'checkgrad' then
      return x, torch.DoubleTensor(select(3, optim.checkgrad(f, x, nil, config)))
   elseif name == 'FistaLS' then
      local function zero() return 0 end
      local history, values = select(2, optim.FistaLS(f, zero, zero, x, config)), {}
      for i, entry in ipairs(history) do values[i] = entry.F end
      return x, torch.DoubleTensor(values)
   end
   local own = {} -- methods keep their state in it
   for key, value in pairs(config) do own[key] = value end
   return x, torch.DoubleTensor((select(2, optim[name](f, x, own))))
end

-- Methods that decide by the loss use the loss of all ranks, so all ranks do the same as one
-- process. Without the setting for that they raise before anything is sent.
function checks.searches()
   local count, first = size * (size + 1) / 2, rank * (rank + 1) / 2 + 1 -- rank r has r + 1 rows
   local input, target = torch.rand(g, count, 3):double(), torch.rand(g, count, 2):double()
   for _, case in ipairs{{'cg', {maxIter = 4}}, {'checkgrad', {}}, {'lbfgs', {maxIter = 8}},
      {'lbfgs', {maxIter = 4, lineSearch = optim.lswolfe}},
      {'lbfgs', {maxIter = 4, lineSearch = halve}}, {'cmaes', {sigma = 0.5, maxEval = 60}},
      {'de', {popsize = 6, maxFEs = 60, scaleFactor = 0.7, crossoverRate = 0.4}},
      {'FistaLS', {maxiter = 4, L = 0.01}}} do
      local name, config = unpack(case)
      torch.manualSeed(6)
      local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(nn.Linear(4, 2)):double()
      local one = net:clone()
      nn.DistributedDataParallel(net):forward(input:narrow(1, first, rank + 1))
      if rank == 0 then collectgarbage() end -- ranks need not have collected the first wrapper
      local all = nn.DistributedDataParallel(net)
      local rows = {input:narrow(1, first, rank + 1), target:narrow(1, first, rank + 1)}
      if size > 1 then
         silently(function()
            raises("meanLoss' is nil, wanted function(loss) return net:meanLoss(loss) end", descend,
               all, rows[1], rows[2], name, config)
         end)
      end
      local alone, its = descend(one, input, target, name, config)
      function config.meanLoss(loss) return all:meanLoss(loss) end
      local x, values = descend(all, rows[1], rows[2], name, config)
      near(x, alone, name)
      near(values, its, name .. "'s values")
   end
end

-- Tests a module frozen by a script.
function checks.frozen()
   local net = linears()
   net:get(1).accGradParameters = function() end
   local frozen, trained = net:get(1).weight:clone(), net:get(5).weight:clone()
   local all = nn.DistributedDataParallel(net)
   for _ = 1, 2 do
      all:zeroGradParameters()
      all:backward(rand(2, 3), all:forward(rand(2, 3)):clone():fill(1))
      all:updateParameters(0.1)
   end
   near(net:get(1).weight, frozen, 'frozen', 1e-30)
   assert((net:get(5).weight - trained):abs():max() > 0, 'nothing was trained')
end

-- Tests different options of modules and of samplers.
function checks.options()
   if size == 1 then return end
   local last = size - 1
   local function wrong(message, make, options)
      raises(('ranks differ: rank %d has '):format(last) .. message, nn.DistributedDataParallel,
         make(rank == last), options and options(rank == last))
   end
   local function with(net) return nn.Sequential():add(nn.Linear(2, 2)):add(net) end
   wrong('p = 0.9 in module 3: nn.Dropout, rank 0 has 0.1', function(other)
      return with(nn.Dropout(other and 0.9 or 0.1))
   end)
   wrong('dH = 2 in module 3: nn.SpatialConvolution, rank 0 has 1', function(other)
      return with(nn.SpatialConvolution(1, 1, 3, 3, 1, other and 2 or 1))
   end)
   wrong('negval = 0.5 in module 3: nn.LeakyReLU, rank 0 has 0.01', function(other)
      return with(nn.LeakyReLU(other and 0.5 or 0.01))
   end)
   wrong('constant_scalar = 2 in module 3: nn.MulConstant, rank 0 has 1', function(other)
      return with(nn.MulConstant(other and 2 or 1))
   end)
   wrong('numElements = 4 in module 3: nn.View, rank 0 has 9', function(other)
      return with(nn.View(-1, other and 4 or 9))
   end)
   local function sampler(n, options)
      return function(other)
         return {sampler = distributed.sampler(other and n or 8, other and options or {batch = 4})}
      end
   end
   local function make() return with(nn.Tanh()) end
   wrong('option sampler = {n = 9, batch = 4, seed = 0, shuffle = true, dropLast = false,'
      .. ' current = 1, position = 0}, rank 0 has option sampler = {n = 8, ', make,
      sampler(9, {batch = 4}))
   wrong('option sampler = {n = 8, batch = 4, seed = 1, ', make, sampler(8, {batch = 4, seed = 1}))
   wrong('option sampler = {n = 8, batch = 4, seed = 0, shuffle = true, dropLast = true, ', make,
      sampler(8, {batch = 4, dropLast = true}))
   -- may differ: modes, and buffers left by passes
   local net = nn.Sequential():add(nn.Reshape(4)):add(nn.Linear(4, 2)):add(nn.Profile(nn.Tanh(), 9))
   for i = 1, rank do net:forward(torch.ones(i + 1, 2, 2)) end
   if rank == 0 then net:evaluate() end
   nn.DistributedDataParallel(net)
end

-- Tests nn.DataParallelTable inside, on ranks one of which sometimes has no rows: replicas that are
-- stale after a pass of the first replica alone are recreated, with their parameters.
function checks.tables()
   local function network(kind)
      return nn.Sequential():add(nn.Linear(3, 1)):add(nn.BatchNormalization(1)):type(kind)
   end
   for _, kind in ipairs{'torch.CudaTensor', 'torch.CudaDoubleTensor'} do
      local all = nn.DistributedDataParallel(nn.DataParallelTable(1, true)
         :add(network(kind), {1, 2}))
      local p, dp = all:getParameters()
      for step = 1, 3 do
         local n = rank == size - 1 and size > 1 and step ~= 2 and 0 or 4
         local input = torch.ones(n, 3):type(kind)
         all:training()
         all:zeroGradParameters()
         all:forward(input)
         all:backward(input, torch.ones(n, 1):type(kind))
         p:add(-0.1, dp)
         all:evaluate()
         local rows = all:forward(torch.ones(4, 3):type(kind)):double():view(-1)
         assert(rows:max() - rows:min() < 1e-6, ('step %d, rank %d'):format(step, rank))
      end
   end
end

-- Tests which replica's running statistics all replicas of all ranks get.
function checks.statistics()
   local function mean(r, replica) return 10 * r + replica end -- mean of a replica's rows
   local middle = (size - 1) / 2 -- mean of the ranks' numbers
   for _, case in ipairs{{'first', 'first', mean(0, 1)}, {'first', 'average', mean(0, 1.5)},
      {'average', 'first', mean(middle, 1)}, {'average', 'average', mean(middle, 1.5)}} do
      local module = nn.Sequential():add(nn.BatchNormalization(2, 1e-5, 1)):cuda()
      local whole = nn.DataParallelTable(1):add(module, {1, 2})
      whole.buffers = case[2]
      local net = nn.DistributedDataParallel(whole, {buffers = case[1]})
      local input = rand(6, 2)
      for replica = 1, 2 do
         local rows = input:narrow(1, 3 * replica - 2, 3)
         rows:add(mean(rank, replica) - rows:mean())
      end
      for _ = 1, 2 do
         net:forward(input)
         net:backward(input, rand(6, 2))
      end
      for replica = 1, 2 do
         local found = whole:get(replica):get(1).running_mean:mean()
         assert(math.abs(found - case[3]) < 1e-4, ('%s of ranks, %s of replicas: %g, wanted %g')
            :format(case[1], case[2], found, case[3]))
      end
   end
end

-- Tests the rows of a batch whose first dimension is time.
function checks.sequences()
   local function run(net, input)
      local p, dp = net:getParameters()
      p:fill(0.1)
      net:zeroGradParameters()
      local output = net:forward(input)
      net:backward(input, output / output:size(2)) -- the mean over the batch
      return dp:clone()
   end
   local function table1() return nn.DataParallelTable(1, true):add(cudnn.LSTM(3, 4, 1), {1, 2}) end
   local input, before, own = rand(4, size * (size + 1), 3), 0, 2 * (rank + 1)
   for r = 0, rank - 1 do before = before + 2 * (r + 1) end
   local wanted = run(cudnn.LSTM(3, 4, 1), input)
   near(wanted, run(nn.DistributedDataParallel(table1()),
      input:narrow(2, before + 1, own):clone()), 'rows beside time')
end

-- Tests calls in an invalid order.
function checks.orders()
   local net = nn.DistributedDataParallel(linears())
   local input, gradOutput = rand(5, 3), rand(5, 2)
   raises('nn.DistributedDataParallel: backward before forward', net.backward, net, input,
      gradOutput)
   raises('nn.DistributedDataParallel: backward before forward', net.updateGradInput, net, input,
      gradOutput)
   raises('nn.DistributedDataParallel: meanLoss before forward', net.meanLoss, net, 1)
   for _, name in ipairs{'add', 'insert', 'remove'} do
      raises(name .. ' would change what is around the network', net[name], net, nn.Tanh())
   end
   assert(torch.type(net:get(1)) == 'nn.Sequential')
   if size == 1 then return end
   net:forward(input)
   net:evaluate()
   net:forward(rand(2, 3))
   net:training()
   raises('a backward of 5 rows, and the last forward, in evaluation, had 2', net.backward, net,
      input, gradOutput)
   local sampler = distributed.sampler(10, {batch = 4})
   net = nn.DistributedDataParallel(linears(), {sampler = sampler})
   raises('the sampler of the option sampler has given out no batch yet', net.forward, net, input)
end

-- Sums begin during the backward pass, in which modules are observed, unless the option overlap of
-- the wrapper, or of the table in it, disables it. The wrapper does not change the table's field.
function checks.overlap()
   for _, case in ipairs{{}, {table = true}, {table = true, ofTable = false, isLate = true},
      {ofRanks = false, isLate = true}, {table = true, ofRanks = false, isLate = true},
      {field = false, isLate = true}, {table = true, field = false, isLate = true}} do
      local observed, net = nil, nn.Sequential():add(nn.Linear(3, 8)):add(nn.Linear(8, 8)):cuda()
      net:get(1).accGradParameters = function(self, ...)
         observed = rawget(self, 'backward') ~= nil
         return nn.Linear.accGradParameters(self, ...)
      end
      if case.table then
         net = nn.DataParallelTable(1, true, false, {overlap = case.ofTable}):add(net, {1, 2})
      end
      local all = nn.DistributedDataParallel(net, {overlap = case.ofRanks})
      if case.field ~= nil then all.overlap = case.field end
      for _ = 1, 2 do
         all:forward(rand(4, 3))
         all:backward(rand(4, 3), rand(4, 8))
         assert(size == 1 or observed == not case.isLate)
      end
      if case.table then assert(rawget(net, 'overlap') == case.ofTable) end
   end
end

-- A network has only the fields that are listed, and each of them is used.
function checks.fields()
   local listed = require 'dpt.nn.DistributedDataParallel.fields'
   local ofModule, seen = {_type = true, train = true, output = true, gradInput = true}, {}
   local function look(net)
      for name in next, net do
         assert(listed[name] or ofModule[name], name)
         seen[name] = true
      end
   end
   local options = {reduce = 'samples', buffers = 'own', overlap = true, hook = 'half',
      evenBatches = false, checkAlike = 2, group = groups.world,
      sampler = distributed.sampler(4 * size, {batch = 2 * size})}
   for i, net in ipairs{linears(), nn.DataParallelTable(1):add(linears(), {1, 2})} do
      local all = nn.DistributedDataParallel(net, i == 1 and options or nil)
      local function step()
         if i == 1 then options.sampler:next() end
         all:forward(rand(2, 3))
         all:backward(rand(2, 3), rand(2, 2))
         look(all)
      end
      step()
      all:noSync(step)
      all:syncGradients()
      all:evaluate()
      all:forward(rand(2, 3))
      look(all)
   end
   for name in pairs(listed) do assert(size == 1 or seen[name], name) end
end

for _, name in ipairs{'evaluation', 'half', 'bfloat16', 'reduced_types', 'searches', 'frozen',
   'options', 'tables', 'statistics', 'sequences', 'orders', 'overlap', 'fields'} do
   torch.manualSeed(7)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
