-- How ranks stay alike: generators that they have seeded apart, and whose running statistics count.
-- Each of `checks` on all ranks; rank 0 prints the name of each that all have passed.
local distributed = require 'dpt.distributed'
local expect = require 'spec.support.ranks.expect'
local raises = expect.raises
local rank, size = distributed.rank(), distributed.size()
local last = size - 1

local types = {'torch.FloatTensor', 'torch.CudaTensor'}

-- A network whose running statistics are those of the last batch.
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

-- The state of a generator that was seeded.
local function seeded(seed)
   local g = torch.Generator()
   torch.manualSeed(g, seed)
   return torch.getRNGState(g)
end

-- A script that has seeded its ranks apart is told so before anything of the network travels.
function checks.seeds()
   local function wrong(which, seed, seedApart)
      for _, kind in ipairs(types) do
         torch.manualSeed(7)
         local net = network(kind)
         net:get(1).weight:fill(rank)
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
   if rank == 0 then torch.seed() end -- rank 0's seed is by chance, that of others is not
   raises('the default generator of rank 1 has the seed 7, that of', nn.DistributedDataParallel,
      network(types[1]))
end

-- Ranks whose seeds are the same, or nobody's choice, go on from rank 0's state.
function checks.chance()
   local function right(seed)
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
         nn.DistributedDataParallel(network(kind)) -- another one goes on from there
         torch.random()
      end
   end
   right(function() end)
   right(function()
      local host, devices = torch.getRNGState(), cutorch.getRNGStateAll()
      torch.manualSeed(60 + rank)
      torch.setRNGState(host)
      cutorch.setRNGStateAll(devices)
   end)
   right(function()
      if rank == 0 then torch.manualSeed(3) end
   end)
   right(function()
      torch.manualSeed(3)
      for _ = 1, rank do torch.random() end
      torch.CudaTensor(2):uniform(rank, rank + 1)
   end)
end

-- Seeds that a script chooses after the network was wrapped.
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
   for _ = 1, rank do torch.random() end -- more numbers of the same seed
   step(net, types[1])
   same(torch.random(), 'the default generator')
   -- on a device passes leave the default generator as it is
   net = nn.DistributedDataParallel(network(types[2]))
   torch.manualSeed(80 + rank)
   local wanted = torch.random(own:clone())
   torch.setRNGState(torch.getRNGState(own))
   step(net, types[2])
   assert(torch.random() == wanted)
end

-- Statistics are those of ranks that have had rows.
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
         net:evaluate() -- such a pass moves none
         run(net, batch(100 + rank, rank == last and 0 or 2))
         means(net, those(function(r) return r + 1 end), what .. ', evaluation')
         net:training()
         net:noSync(run, net, batch(40 + rank, rank == 0 and 2 or 0))
         run(net, batch(20 + rank, rank == 0 and 0 or 2))
         means(net, those(function(r) return r + 20 end), what .. ', noSync')
         run(net, batch(0, 0)) -- nobody has a row
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
         for rows in sampler:epoch() do -- the last batch has one row, rank 0's
            run(net, batch(rank + 1, rows:nElement()))
            means(net, wanted, what .. ', sampler')
            wanted = 1
         end
      end
   end
end

for _, name in ipairs{'seeds', 'chance', 'later', 'statistics'} do
   torch.manualSeed(7)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
