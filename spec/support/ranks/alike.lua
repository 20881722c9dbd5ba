-- Tests that ranks stay alike: generators that are seeded differently, the choice of running
-- statistics, and net:checkAlike. Runs each of `checks` on all ranks; rank 0 prints the name of
-- each check that all have passed.
local distributed = require 'dpt.distributed'
local expect = require 'spec.support.ranks.expect'
local raises = expect.raises
local rank, size = distributed.rank(), distributed.size()
local last = size - 1

local types = {'torch.FloatTensor', 'torch.CudaTensor'}

-- Returns a network whose running statistics are those of the last batch.
local function network(kind)
   return nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4, 1e-5, 1))
      :add(nn.Dropout(0.5)):add(nn.Linear(4, 2)):type(kind)
end

local function pass(net, kind, rows)
   local input = torch.ones(rows or 2, 3):type(kind)
   net:forward(input)
   net:backward(input, torch.ones(rows or 2, 2):type(kind))
end

local function step(net, kind, rate)
   net:zeroGradParameters()
   pass(net, kind)
   net:updateParameters(rate or 0.1)
end

local function same(value, what)
   local all = distributed.allGatherValue(value)
   for r = 2, size do assert(all[r] == all[1], what) end
end

local checks = {}

-- Returns the state of a generator with that seed.
local function seeded(seed)
   local g = torch.Generator()
   torch.manualSeed(g, seed)
   return torch.getRNGState(g)
end

-- If a script has seeded its ranks differently, an error is raised before the network is sent.
function checks.seeds()
   local function wrong(which, seed, seedApart)
      for _, kind in ipairs(types) do
         torch.manualSeed(7)
         local net = network(kind)
         net:get(1).weight:fill(rank)
         torch.seed()
         cutorch.seedAll()
         seedApart()
         raises(('nn.DistributedDataParallel: ranks differ: %s of rank 1 has the seed %d, that of'
            .. ' rank 0 has %d: seed all ranks alike'):format(which, seed + 1, seed),
            nn.DistributedDataParallel, net)
         assert(net:get(1).weight:min() == rank and net:get(1).weight:max() == rank)
      end
   end
   local default = 'the default generator'
   wrong(default, 1000, function() torch.manualSeed(1000 + rank) end)
   assert(torch.initialSeed() == 1000 + rank, 'a generator was set before the error')
   wrong(default, 30, function() torch.setRNGState(seeded(30 + rank)) end)
   wrong('the generator of device 1', 20, function() cutorch.manualSeedAll(20 + rank) end)
   wrong('the generator of device 2', 20, function() cutorch.manualSeed(20 + rank, 2) end)
   wrong('the generator of device 1', 50, function()
      cutorch.manualSeed(50 + rank)
      local state = cutorch.getRNGState()
      cutorch.seed()
      cutorch.setRNGState(state)
   end)
   torch.manualSeed(7)
   if rank == 0 then torch.seed() end -- rank 0's seed is random, those of the others are set
   raises('the default generator of rank 1 has the seed 7, that of', nn.DistributedDataParallel,
      network(types[1]))
end

-- Ranks with equal seeds, or with random ones, continue from rank 0's state.
function checks.chance()
   local function right(isChance, seed)
      for _, kind in ipairs(types) do
         torch.seed()
         cutorch.seedAll()
         local bare = network(kind)
         seed()
         local own = rank == 0 and torch.getRNGState():sum()
         local net = nn.DistributedDataParallel(bare)
         assert(rank > 0 or torch.getRNGState():sum() == own)
         same(torch.getRNGState():sum(), 'the default generator')
         for device = 1, 2 do same(cutorch.initialSeed(device), 'the generator of a device') end
         step(net, kind)
         if isChance and rank == 0 then torch.seed() end
         nn.DistributedDataParallel(network(kind)) -- a second network continues from there
         torch.random()
      end
   end
   right(true, function() end)
   right(true, function()
      local host, devices = torch.getRNGState(), cutorch.getRNGStateAll()
      torch.manualSeed(60 + rank)
      torch.setRNGState(host)
      cutorch.setRNGStateAll(devices)
   end)
   right(false, function()
      if rank == 0 then torch.manualSeed(3) end
   end)
   right(false, function()
      torch.manualSeed(3)
      for _ = 1, rank do torch.random() end
      torch.CudaTensor(2):uniform(rank, rank + 1)
   end)
end

-- Tests seeds that a script sets after the network was wrapped.
function checks.later()
   torch.manualSeed(7)
   local net = nn.DistributedDataParallel(network(types[1]))
   step(net, types[1])
   torch.manualSeed(80 + rank)
   local before = net:get(1):get(1).weight:clone()
   raises('the default generator of rank 1 has the seed 81, that of rank 0 has 80: seed all ranks'
      .. ' alike', step, net, types[1])
   assert(torch.initialSeed() == 80 + rank and torch.equal(before, net:get(1):get(1).weight))
   torch.manualSeed(9)
   local own = torch.Generator()
   torch.manualSeed(own, 80 + rank)
   step(net, types[1])
   local numbers = distributed.allGatherValue(torch.random(own))
   assert(numbers[1] ~= numbers[2], "a rank's own generator")
   for _ = 1, rank do torch.random() end -- draws more numbers from the same seed
   step(net, types[1])
   same(torch.random(), 'the default generator')
   -- on a device, passes leave the default generator unchanged
   net = nn.DistributedDataParallel(network(types[2]))
   torch.manualSeed(80 + rank)
   local wanted = torch.random(own:clone())
   torch.setRNGState(torch.getRNGState(own))
   step(net, types[2])
   assert(torch.random() == wanted)
end

-- Running statistics come only from ranks that had rows.
function checks.statistics()
   local function means(net, wanted, what)
      local found = net:get(1):get(1).running_mean
      assert(math.abs(found:min() - wanted) < 1e-4 and math.abs(found:max() - wanted) < 1e-4,
         ('%s: %g, wanted %g'):format(what, found[1], wanted))
   end
   for _, kind in ipairs(types) do
      for _, policy in ipairs{'first', 'average'} do
         local what = policy .. ' ' .. kind
         torch.manualSeed(7)
         local function make(options)
            options.buffers = policy
            return nn.DistributedDataParallel(nn.Sequential()
               :add(nn.SpatialBatchNormalization(2, 1e-5, 1)):type(kind), options)
         end
         local function batch(value, rows)
            return torch.Tensor(rows or 2, 2, 2, 2):fill(value):type(kind)
         end
         local function run(net, input)
            net:forward(input)
            net:backward(input, input)
         end
         local function those(value) -- of ranks from 1 on
            return policy == 'first' and value(1) or (value(1) + value(last)) / 2
         end
         local net = make{}
         run(net, batch(rank + 1, rank == 0 and 0 or 2))
         means(net, those(function(r) return r + 1 end), what)
         net:evaluate() -- this pass changes none
         run(net, batch(100 + rank, rank == last and 0 or 2))
         means(net, those(function(r) return r + 1 end), what .. ', evaluation')
         net:training()
         net:noSync(run, net, batch(40 + rank, rank == 0 and 2 or 0))
         run(net, batch(20 + rank, rank == 0 and 0 or 2))
         means(net, those(function(r) return r + 20 end), what .. ', noSync')
         run(net, batch(0, 0)) -- no rank has a row
         means(net, those(function(r) return r + 20 end), what .. ', no rows')
         -- rank r has r + 1 batches
         local left = rank + 1
         for input in net:join(function()
            left = left - 1
            return left >= 0 and batch(10 * rank + left) or nil
         end) do
            run(net, input)
         end
         means(net, 10 * last, what .. ', join')
         local sampler = distributed.sampler(size + 1, {batch = size, shuffle = false})
         net = make{sampler = sampler}
         local wanted = policy == 'first' and 1 or (size + 1) / 2
         for rows in sampler:epoch() do -- the last batch has one row, on rank 0
            run(net, batch(rank + 1, rows:nElement()))
            means(net, wanted, what .. ', sampler')
            wanted = 1
         end
      end
   end
end

-- A value that differs is named on all ranks. If none differs, each rank sends 8 bytes.
function checks.values()
   local prefix = 'nn.DistributedDataParallel: checkAlike: '
   for _, kind in ipairs(types) do
      torch.manualSeed(7)
      local net = nn.DistributedDataParallel(network(kind))
      step(net, kind)
      local state = {t = 1, m = torch.ones(5):type(kind), list = {torch.ones(2), {torch.zeros(3)}},
         method = print, isFirst = true, name = 'adam'}
      state.own = state
      local sent, gather = {}, distributed.allGather
      distributed.allGather = function(out, part, ...)
         sent[#sent + 1] = part:nElement() * part:elementSize()
         return gather(out, part, ...)
      end
      net:checkAlike()
      net:checkAlike(state)
      distributed.allGather = gather
      assert(#sent == 2 and sent[1] == 8 and sent[2] == 8)
      -- the smallest change of an element on the last rank
      local function changed(name, t, change)
         local kept = t:clone()
         if rank == last then change(t) end
         raises(('%s%s differs: rank %d has another value than rank 0'):format(prefix, name, last),
            net.checkAlike, net, state)
         t:copy(kept)
         net:checkAlike(state)
      end
      local inner = net:get(1)
      changed('modules[1].weight', inner:get(1).weight, function(t)
         t[2][3] = t[2][3] * 1.0000002
      end)
      changed('modules[4].bias', inner:get(4).bias, function(t) t:mul(-1) end)
      changed('modules[2].running_mean', inner:get(2).running_mean, function(t)
         t[4] = t[4] + 1
      end)
      changed('state.m', state.m, function(t) t:mul(-1) end)
      changed('state.list[2][1]', state.list[2][1], function(t) t:mul(-1) end)
      local function field(key, value, message)
         local kept = state[key]
         if rank == last then state[key] = value end
         raises(prefix .. message, net.checkAlike, net, state)
         state[key] = kept
      end
      local differs = ('differs: rank %d has another value than rank 0'):format(last)
      field('t', 2, 'state.t ' .. differs)
      field('isFirst', false, 'state.isFirst ' .. differs)
      field('name', 'sgd', 'state.name ' .. differs)
      field('m', nil, ('rank %d has no state.m, rank 0 has one'):format(last))
      field('v', 1, ('rank 0 has no state.v, rank %d has one'):format(last))
      raises(prefix .. "argument 'state' is of type number, wanted a table or nil", net.checkAlike,
         net, 3)
      -- values that may differ between ranks
      local input = torch.ones(2, 3):type(kind) * rank
      net:forward(input)
      net:checkAlike(state)
      if rank == last then inner:get(1).bias[1] = 5 end
      raises(prefix .. 'modules[1].bias ' .. differs, net.checkAlike, net)
      net:syncParameters()
      net:noSync(pass, net, kind)
      net:checkAlike(state)
      net:syncGradients()
      net = nn.DistributedDataParallel(network(kind), {buffers = 'own'})
      net:get(1):get(2).running_var:fill(rank + 1)
      net:checkAlike()
      net:forward(input)
      net:backward(input, torch.ones(2, 2):type(kind))
      net:checkAlike()
   end
   -- a network on several devices, and one without values
   local whole = nn.DistributedDataParallel(nn.DataParallelTable(1, true):add(network(types[2]),
      {1, 2}))
   whole:checkAlike()
   if rank == last then whole:get(1):get(1):get(1).bias[1] = 5 end
   raises('modules[1].bias differs', whole.checkAlike, whole)
   nn.DistributedDataParallel(nn.Tanh()):checkAlike{}
end

-- The parts of a sharded state are not compared; its other values are.
function checks.parts()
   for _, n in ipairs{1, 2 * size + 1} do -- with 1 element most ranks have no part
      torch.manualSeed(7)
      local net = nn.DistributedDataParallel(nn.Linear(n, 1, false))
      local x, dx = net:getParameters()
      local adam, state = optim.ZeroRedundancyOptimizer(optim.adam), {extra = torch.ones(9)}
      for _ = 1, 2 do
         local input = torch.ones(2, n) * (rank + 1)
         adam(function()
            net:zeroGradParameters()
            net:forward(input)
            net:backward(input, net.output)
            return 0, dx
         end, x, {learningRate = 0.1}, state)
         net:checkAlike(state)
         net:checkAlike(adam:whole(state))
      end
      if n > 1 then
         if rank == last then state.extra[9] = 2 end
         raises('state.extra differs', net.checkAlike, net, state)
      end
   end
end

-- The option makes the comparison every few steps.
function checks.option()
   raises('option checkAlike wants a number from 1 on, got 0', nn.DistributedDataParallel,
      network(types[1]), {checkAlike = 0})
   raises(('ranks differ: rank %d has option checkAlike = 3, rank 0 has option checkAlike = 2')
      :format(last), nn.DistributedDataParallel, network(types[1]),
      {checkAlike = rank == last and 3 or 2})
   for _, kind in ipairs(types) do
      torch.manualSeed(7)
      local net = nn.DistributedDataParallel(network(kind), {checkAlike = 3})
      local calls, count, steps = net.checkAlike, 0, ''
      net.checkAlike = function(...)
         count = count + 1
         calls(...)
      end
      for i = 1, 7 do
         local before = count
         step(net, kind)
         if count > before then steps = steps .. i .. ' ' end
         net:noSync(pass, net, kind)
         net:syncGradients()
         net:evaluate()
         pass(net, kind)
         net:training()
      end
      assert(steps == '1 4 7 ' and count == 3, steps)
      -- only rank 0 loads values; one rank has another learning rate
      net = nn.DistributedDataParallel(network(kind), {checkAlike = 1})
      if rank == 0 then (net:getParameters()):fill(0.1) else net:getParameters() end
      raises('checkAlike: modules[1].weight differs', step, net, kind)
      net:syncParameters()
      step(net, kind, rank == last and 0.2 or 0.1)
      raises('checkAlike: modules[2].bias differs', step, net, kind)
      -- added layers get rank 0's values
      net:syncParameters()
      local layer = nn.Linear(2, 2):type(kind)
      layer.weight:fill(rank)
      net:get(1):add(layer)
      step(net, kind)
      step(net, kind)
   end
end

for _, name in ipairs{'seeds', 'chance', 'later', 'statistics', 'values', 'parts', 'option'} do
   torch.manualSeed(7)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
