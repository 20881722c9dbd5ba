-- Tests groups of ranks that train: runs each of `checks` on all ranks, a grid of `replicate` x
-- `shard` ranks, two along `shard`. Rank 0 prints the name of each check that all have passed.
local dpt = require 'dpt'
local distributed = require 'dpt.distributed'
local Sampler = require 'dpt.distributed.sampler'
local expect = require 'spec.support.ranks.expect'
local raises = expect.raises
local rank, size = distributed.rank(), distributed.size()

local mesh = distributed.mesh{replicate = size / 2, shard = 2}
local half, place = mesh.shard:rank(), mesh.replicate:rank() -- of network, of its part
local group = mesh.replicate

local N = 23 -- rows of the data set

local function near(a, b, what)
   local off = (a:double() - b:double()):abs():max()
   if off > 1e-9 or off ~= off then
      error(('%s on rank %d: off by %g'):format(what, rank, off))
   end
end

-- Returns the network, rows and classes of this half.
local function example(kind)
   local g = torch.Generator()
   torch.manualSeed(g, 5 + half)
   local inner = 4 + 3 * half
   torch.manualSeed(11 + half)
   local net = nn.Sequential():add(nn.Linear(3, inner)):add(nn.BatchNormalization(inner))
      :add(nn.Tanh()):add(nn.Dropout(0.3)):add(nn.Linear(inner, 2 + half)):add(nn.LogSoftMax())
   local x, y = torch.randn(g, N, 3), torch.Tensor(N)
   for i = 1, N do y[i] = torch.random(g, 1, 2 + half) end
   if kind then net, x, y = net:type(kind), x:type(kind), y:type(kind) end
   return net, x, y
end

local checks = {}

function checks.grid()
   assert(mesh.shard:size() == 2 and mesh.replicate:size() == size / 2)
   assert(rank == 2 * place + half, 'rows of places are in the order of ranks')
   for r = 0, 1 do assert(mesh.shard:globalRank(r) == 2 * place + r) end
   local t = torch.ones(1):mul(rank)
   distributed.allReduce(t, 'sum', mesh.shard)
   assert(t[1] == 4 * place + 1)
   local columns = distributed.mesh{{'shard', 2}, {'replicate', size / 2}}
   assert(rank == columns.shard:rank() * size / 2 + columns.replicate:rank())
   local deep = distributed.mesh{a = 1, b = size, c = 1}
   assert(deep.a:size() == 1 and deep.b:rank() == rank and deep.c:rank() == 0)
   local name = "distributed.mesh: argument 'dimensions'"
   raises(('%s (a = 3, b = %d) has %d places, wanted one for each of %d ranks'):format(name, size,
      3 * size, size), distributed.mesh, {a = 3, b = size})
   raises(name .. ' is a number, wanted sizes by name', distributed.mesh, 4)
   raises(name .. ' is empty', distributed.mesh, {})
   raises(name .. ', entry a is 0, wanted name = size', distributed.mesh, {a = 0})
   raises(name .. ', entry 1 is 4, wanted', distributed.mesh, {4})
   raises(name .. ', entry 2 is another table', distributed.mesh, {{'a', size}, {'b'}})
   raises(name .. " has the name 'a' twice", distributed.mesh, {{'a', size}, {'a', 1}})
   raises("argument 'rank' is out of range: got 2, wanted 0 to 1", mesh.shard.globalRank,
      mesh.shard, 2)
end

-- Trains for a number of epochs. one: only in this process.
local function train(one, epochs, kind)
   local net, x, y = example(kind)
   local options = {batch = 7, seed = 3}
   if not one then
      options.group = group
      net = nn.SyncBatchNormalization.convert(net, {group = group})
   end
   local batches = one and Sampler.new(N, options, 0, 1) or distributed.sampler(N, options)
   local sampler, steps = batches, 0
   if not one and half == 1 then
      batches = distributed.loader(sampler, function(rows)
         if rows:nElement() == 0 then return x.new(0, 3), y.new(0) end
         return x:index(1, rows), y:index(1, rows)
      end, {threads = 1, device = 0})
   end
   if not one then
      net = nn.DistributedDataParallel(net, {group = group, sampler = batches})
   end
   local method = one and optim.adam
      or optim.ZeroRedundancyOptimizer(optim.adam, {group = group})
   local criterion = nn.ClassNLLCriterion():type(net:type())
   local params, gradients = net:getParameters()
   local config, state, losses = {learningRate = 0.02}, {}, {}
   torch.manualSeed(7)
   for _ = 1, epochs do
      for input, target in batches:epoch() do
         if one or half == 0 then
            local rows = input
            if rows:nElement() == 0 then input, target = x.new(0, 3), y.new(0)
            else input, target = x:index(1, rows), y:index(1, rows) end
         end
         method(function()
            net:zeroGradParameters()
            local loss = criterion:forward(net:forward(input), target)
            net:backward(input, criterion:backward(net.output, target))
            losses[#losses + 1] = one and loss
               or net:meanLoss(input:size(1) > 0 and loss or 0)
            net:clipGradNorm(0.3)
            return losses[#losses], gradients
         end, params, config, state)
         steps = steps + 1
      end
   end
   if not one and half == 1 then batches:close() end
   if not one then state = method:whole(state) end
   assert(steps == 4 * epochs)
   return params, torch.Tensor(losses), state, net
end

-- The halves train different networks for different numbers of steps.
function checks.halves()
   local epochs = 2 + half
   local params, losses, state = train(true, epochs)
   local own, ownLosses, ownState, net = train(false, epochs)
   near(losses, ownLosses, 'losses')
   near(params, own, 'parameters')
   near(state.m, ownState.m, 'the state')
   assert(ownState.zeroPart == nil and ownState.t == 4 * epochs)
   local text = tostring(net)
   assert(text:find(('rank %d of %d'):format(place, size / 2), 1, true), text)
   local all = distributed.allGatherValue(own:totable(), group)
   for r = 2, #all do
      for i, value in ipairs(all[r]) do assert(value == all[1][i], 'ranks have come apart') end
   end
end

-- Tests networks on several devices, whose replicas synchronize within a pass; pending passes;
-- ranks with more or fewer batches; averaged statistics.
function checks.devices()
   local kind = 'torch.CudaDoubleTensor'
   local ways = {function(net) return net end, function(net) return net:threads() end}
   for _, deterministic in ipairs{false, true} do
      for _, way in ipairs(deterministic and {ways[1]} or ways) do
         dpt.setDeterministic(deterministic)
         local net, x, y = example(kind)
         local one = net:clone()
         local parallel = way(nn.DataParallelTable(1, true)
            :add(nn.SyncBatchNormalization.convert(net, {group = group}), {1, 2})
            :type(kind))
         local all = nn.DistributedDataParallel(parallel, {group = group, buffers = 'average'})
         local criterion, own = nn.ClassNLLCriterion():type(kind), nn.ClassNLLCriterion():type(kind)
         local params, gradients = all:getParameters()
         local single, grads = one:getParameters()
         local ranks = size / 2
         for _, drop in ipairs{one:get(4), parallel:get(1):get(4)} do drop:setp(0) end
         local function batch(step, first, count)
            local before = (step - 1) * 6
            return x:narrow(1, before + first, count), y:narrow(1, before + first, count)
         end
         local function pass(network, judge, input, target)
            judge:forward(network:forward(input), target)
            network:backward(input, judge:backward(network.output, target))
         end
         for step = 1, 2 do
            all:zeroGradParameters()
            one:zeroGradParameters()
            pass(one, own, batch(step, 1, 2 * ranks))
            if step == 2 then
               all:noSync(pass, all, criterion, batch(step, 1 + 2 * place, 2))
               all:syncGradients()
            else
               pass(all, criterion, batch(step, 1 + 2 * place, 2))
            end
            near(grads, gradients, 'gradients of step ' .. step)
            all:updateParameters(0.1)
            one:updateParameters(0.1)
            near(single, params, 'parameters of step ' .. step)
         end
         local counts, given = {[0] = 2 + half, [1] = 1}, 0
         local steps = 0
         for input, target in all:join(function()
            given = given + 1
            if given <= counts[place] then return batch(given, 1, 2) end
         end) do
            pass(all, criterion, input, target)
            steps = steps + 1
         end
         assert(steps == 2 + half, 'join')
         parallel.impl:close()
      end
   end
   dpt.setDeterministic(false)
end

-- Mistakes of a script raise errors at its lines, which name ranks by their numbers in the world.
function checks.members()
   local columns = {}
   for k = 1, 2 do columns[k] = distributed.group(torch.range(k - 1, size - 1, 2):totable()) end
   local message = 'option group wants a group of distributed.group that has this rank in it, got a'
      .. ' group of the ranks ' .. (1 - half)
   local given = {group = columns[2 - half]}
   raises('distributed.sampler: ' .. message, distributed.sampler, N, given)
   raises('nn.DistributedDataParallel: ' .. message, nn.DistributedDataParallel, nn.Linear(2, 1),
      given)
   raises('nn.SyncBatchNormalization.convert: ' .. message, nn.SyncBatchNormalization.convert,
      nn.Linear(2, 1), given)
   raises('optim.ZeroRedundancyOptimizer: ' .. message, optim.ZeroRedundancyOptimizer, optim.sgd,
      given)
   raises('got 3', nn.DistributedDataParallel, nn.Linear(2, 1), {group = 3})
   raises(('option sampler cuts batches for rank %d of %d, and the network has this as rank %d of'
      .. ' %d'):format(rank, size, place, size / 2), nn.DistributedDataParallel, nn.Linear(2, 1),
      {group = group, sampler = distributed.sampler(N, {batch = 4})})
   raises(('nn.DistributedDataParallel: option group is %s, but module 1, an'
      .. ' nn.SyncBatchNormalization, adds up over all ranks'):format(tostring(group)),
      nn.DistributedDataParallel, nn.SyncBatchNormalization(3), {group = group})
   if size == 2 then return end
   raises(('rank %d has module 1: %s, rank %d has module 1: nn.Tanh'):format(half + 2,
      half == 0 and 'nn.ReLU' or 'nn.Sigmoid', half), nn.DistributedDataParallel,
      place == 0 and nn.Tanh() or half == 0 and nn.ReLU() or nn.Sigmoid(), {group = group})
end

-- Copies and conversions keep the group; files and other Lua states omit it.
function checks.copies()
   local net = nn.SyncBatchNormalization.convert(example(), {group = group})
   assert(rawequal(net:clone():get(2).group, group))
   assert(rawequal(net:float():clearState():get(2).group, group))
   local loaded = torch.deserialize(torch.serialize(net))
   assert(loaded:get(2).group == nil and torch.type(loaded:get(2)) == 'nn.SyncBatchNormalization')
   assert(rawequal(nn.SyncBatchNormalization.convert(loaded, {group = group}):get(2).group, group))
   assert(torch.deserialize(torch.serialize{1, group, 3})[3] == 3)
end

-- Calls f(...). @return the number of elements in each call of an operation of distributed
local function sent(name, f, ...)
   local counts, before = {}, distributed[name]
   distributed[name] = function(t, ...)
      counts[#counts + 1] = t:nElement()
      return before(t, ...)
   end
   f(...)
   distributed[name] = before
   return counts
end

-- The parts of a step are sent by one collective, after one for the remaining elements.
function checks.shares()
   for _, n in ipairs{1, size, 5 * size, 5 * size + 1, 6 * size - 1} do
      for _, kind in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         local function step(method, x, state)
            return method(function(y) return 0, y * 3 + 1 end, x, {learningRate = 0.1}, state)
         end
         local one = torch.range(1, n):type(kind)
         local all, own, state = one:clone(), {}, {}
         local zero = optim.ZeroRedundancyOptimizer(optim.adam)
         local rest = n % size
         for i = 1, 3 do
            step(optim.adam, one, own)
            local device, gathered = cutorch.getDevice(), nil
            cutorch.setDevice(i % 2 + 1) -- not the parameters' device
            local broadcast = sent('broadcast', function()
               gathered = sent('allGather', step, zero, all, state)
            end)
            cutorch.setDevice(device)
            if n >= size then
               assert(#gathered == 1 and gathered[1] == n - rest, 'one collective')
               assert(#broadcast == (rest > 0 and 1 or 0), 'and what is left over')
               assert(rest == 0 or broadcast[1] == rest)
            end
         end
         assert((one - all):abs():max() == 0, 'other bits')
         assert((own.m - zero:whole(state).m):abs():max() == 0, 'another state')
      end
   end
   -- operations in place: a rank's part may be its slice of the whole
   for _, kind in ipairs{'torch.FloatTensor', 'torch.CudaTensor', 'torch.ByteTensor'} do
      local t = torch.zeros(3 * size):type(kind)
      t:narrow(1, 3 * rank + 1, 3):fill(rank + 1)
      distributed.allGather(t, t:narrow(1, 3 * rank + 1, 3))
      for r = 1, size do assert(t[3 * r] == r and t[3 * r - 2] == r, 'in place') end
   end
end

for _, name in ipairs{'grid', 'halves', 'devices', 'members', 'copies', 'shares'} do
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
