-- Tests changes that a script makes in a network after wrapping it: runs each of `checks` on all
-- ranks. Rank 0 prints the name of each check that all have passed. With several devices the
-- network is in an nn.DataParallelTable.
require 'dpt'
local distributed = require 'dpt.distributed'
local buckets = require 'dpt.parallel.params.buckets'
local expect = require 'spec.support.ranks.expect'
local raises = expect.raises
local rank = distributed.rank()
buckets.first, buckets.rest = 64, 128 -- bytes: several in each network

local devices = torch.range(1, cutorch.getDeviceCount()):totable()
local double = #devices > 1 and 'torch.CudaDoubleTensor' or 'torch.DoubleTensor'

-- Returns the network, and the same one wrapped.
local function wrapped(net)
   net = net:type(double)
   local inner = #devices > 1 and nn.DataParallelTable(1):add(net, devices) or net
   return net, nn.DistributedDataParallel(inner)
end

local rows = 2 * rank + 2 -- gradients have different weights
local x = torch.ones(rows, 3):type(double)

local function step(all)
   all:zeroGradParameters()
   all:forward(x)
   all:backward(x, all.output:clone():fill(1))
end

local checks = {}

-- A layer frozen after wrapping stays frozen, and another method also stays; a method that ignores
-- its scale gives the same gradient.
function checks.methods()
   local net, all = wrapped(nn.Sequential():add(nn.Linear(3, 2)))
   local layer = net:get(1)
   step(all)
   local gradient = layer.gradBias[1]
   assert(gradient ~= 0)
   for factor, method in pairs{[0] = function() end, [2] = function(self, input, gradOutput, scale)
      nn.Linear.accGradParameters(self, input, gradOutput, 2 * scale)
   end} do
      layer.accGradParameters = method
      for _ = 1, 2 do
         step(all)
         assert(layer.accGradParameters == method)
         assert(math.abs(layer.gradBias[1] - factor * gradient) < 1e-12, layer.gradBias[1])
      end
   end
   for _, method in ipairs{false, function(self, input, gradOutput) -- without the argument scale
      nn.Linear.accGradParameters(self, input, gradOutput)
   end} do
      layer.accGradParameters = method or nil
      step(all)
      assert(math.abs(layer.gradBias[1] - gradient) < 1e-12)
   end
end

-- Added layers get rank 0's values.
function checks.added()
   local net, all = wrapped(nn.Sequential():add(nn.Linear(3, 3)))
   step(all)
   torch.manualSeed(10 + rank)
   net:add(nn.Linear(3, 3):type(double))
   torch.manualSeed(3)
   for _ = 1, 2 do
      step(all)
      all:updateParameters(0.1)
   end
   local sum = 0
   for _, t in ipairs((net:parameters())) do sum = sum + t:sum() end
   for _, other in ipairs(distributed.allGatherValue(sum)) do assert(other == sum) end
   net:add((rank == 0 and nn.Add(3) or nn.CMul(3)):type(double))
   raises('ranks differ: rank 1 has module', step, all)
end

-- A network without parameters is on the device of its output.
function checks.dropout()
   local net = nn.Sequential():add(nn.Dropout(0.5)):cuda()
   local input, first = torch.CudaTensor(4 * distributed.size(), 4):fill(1), 4 * rank + 1
   cutorch.manualSeed(5)
   local whole = net:clone():forward(input)
   cutorch.manualSeed(5)
   local part = nn.DistributedDataParallel(net):forward(input:narrow(1, first, 4))
   assert(torch.equal(whole:narrow(1, first, 4):float(), part:float()))
end

-- Fails if f() compares networks or sends parameters.
local function sendsGradientsOnly(nets, f)
   local compare, before = distributed.allGatherValue, {}
   for i, net in ipairs(nets) do before[i] = net.sentBytes.parameters end
   distributed.allGatherValue = function() error('networks were compared', 2) end
   f()
   distributed.allGatherValue = compare
   for i, net in ipairs(nets) do assert(net.sentBytes.parameters == before[i], i) end
end

-- An actor and a critic with a common trunk, each wrapped, train as in one process. Neither takes
-- the trunk from the other when flat parameters are requested.
function checks.trunk()
   local trunk = nn.Linear(3, 4)
   local actor = nn.Sequential():add(trunk):add(nn.Tanh()):add(nn.Linear(4, 3))
   local critic = nn.Sequential():add(trunk):add(nn.Tanh()):add(nn.Linear(4, 2))
   nn.Container():add(actor):add(critic):type(double)
   distributed.broadcast(actor:parameters(), 0)
   distributed.broadcast(critic:parameters(), 0)
   local whole = nn.ConcatTable():add(actor):add(critic):clone()
   local all, _ = {}, nil
   _, all[1] = wrapped(actor)
   _, all[2] = wrapped(critic)
   local criterion = nn.MSECriterion():type(double)
   local rowsOfAll = distributed.size() * (distributed.size() + 1)
   local inputs = torch.randn(rowsOfAll, 3):type(double)
   local targets = {torch.randn(rowsOfAll, 3):type(double), torch.randn(rowsOfAll, 2):type(double)}
   local first = rank * (rank + 1) + 1

   local function gradient(net, input, target)
      criterion:forward(net:forward(input), target)
      net:backward(input, criterion:backward(net.output, target))
   end
   -- Runs one step that updates the networks in `stepped`, as in one process.
   local function train(stepped, update)
      whole:zeroGradParameters()
      for _, net in ipairs(all) do net:zeroGradParameters() end
      for i, net in ipairs(all) do
         gradient(net, inputs:narrow(1, first, rows), targets[i]:narrow(1, first, rows))
         gradient(whole:get(i), inputs, targets[i])
      end
      for _, i in ipairs(stepped) do whole:get(i):updateParameters(0.1) end
      update()
      for i, net in ipairs(all) do
         for k, t in ipairs((net:parameters())) do
            assert((t - whole:get(i):parameters()[k]):abs():max() < 1e-12, i .. ' ' .. k)
         end
      end
   end
   local function sgd(p, g) optim.sgd(function() return 0, g end, p, {learningRate = 0.1}) end

   sendsGradientsOnly(all, function()
      for _ = 1, 2 do
         for i = 1, 2 do train({i}, function() all[i]:updateParameters(0.1) end) end
      end
   end)
   local v, dv = all[1]:getParameters()
   local y, dy = all[2]:getParameters() -- includes the trunk
   raises('parameters that have moved elsewhere', sgd, v, dv)
   train({2}, function() sgd(y, dy) end)
   sendsGradientsOnly(all, function()
      for _ = 1, 2 do train({2}, function() sgd(y, dy) end) end
   end)
   local z, dz = nn.Container():add(all[1]):add(all[2]):getParameters() -- all three
   raises('parameters that have moved elsewhere', sgd, y, dy)
   assert(z:nElement() == 16 + 15 + 10)
   local function update()
      sgd(z, dz)
      for _, t in ipairs{whole:get(1):get(1), whole:get(1):get(3), whole:get(2):get(3)} do
         t:updateParameters(0.1)
      end
   end
   train({}, update)
   sendsGradientsOnly(all, function() for _ = 1, 2 do train({}, update) end end)
end

-- Layers that share tensors still do after both networks are wrapped, if they are flattened
-- together.
function checks.shared()
   local layer = nn.Linear(3, 4):type(double)
   local one = nn.Sequential():add(layer):add(nn.Add(4):type(double))
   local two = nn.Sequential():add(layer:clone('weight', 'bias', 'gradWeight', 'gradBias'))
      :add(nn.Add(4):type(double))
   local flat = nn.Container():add(one):add(two):getParameters()
   for _, net in ipairs{one, two} do step(select(2, wrapped(net))) end
   optim.sgd(function() return 0, flat:clone():fill(1) end, flat, {learningRate = 1})
   assert(flat:nElement() == 16 + 4 + 4 and torch.equal(layer.weight, two:get(1).weight))
   assert(layer.weight[1][1] == flat[1])
end

-- Parameters with another layout in memory get rank 0's values, or raise an error.
function checks.places()
   local function layers()
      local one, two = nn.Linear(3, 3):type(double), nn.Linear(3, 3):type(double)
      one.weight:add(rank)
      return one, two
   end
   local one, two = layers()
   local between = nn.Add(1):type(double)
   if rank == 0 then nn.Container():add(one):add(between):add(two):getParameters() end
   local _, all = wrapped(nn.Sequential():add(one):add(two))
   local sums = {}
   for i, t in ipairs((all:parameters())) do sums[i] = t:sum() end
   for _, others in ipairs(distributed.allGatherValue(sums)) do
      for i, sum in ipairs(others) do assert(sum == sums[i]) end
   end
   step(all)
   one, two = layers()
   if rank == 0 then nn.Container():add(two):add(one):getParameters() end
   raises('ranks differ: rank 1 has parameter 1 (modules[1].', wrapped,
      nn.Sequential():add(one):add(two))
end

local Fails = torch.class('Fails', 'nn.Identity')
local fails = false
function Fails:updateGradInput(_, gradOutput)
   if fails then error 'it fails' end
   self.gradInput = gradOutput
   return gradOutput
end

-- A backward that fails in the middle, also on a rank without rows, can be caught on all ranks.
function checks.failures()
   local net, all = wrapped(nn.Sequential():add(nn.Linear(3, 4)):add(Fails.new())
      :add(nn.Linear(4, 2)):add(nn.Linear(2, 2)))
   for _ = 1, 3 do step(all) end
   local gradient = net:get(1).gradWeight:clone()
   local function failing(here)
      fails = here
      local ok, why = pcall(step, all)
      fails = false
      assert(ok == not here and (ok or tostring(why):find 'it fails'), why)
   end
   for count = 1, 2 do
      x = torch.ones(rank == 0 and count - 1 or 2, 3):type(double)
      failing(true)
      x = torch.ones(rows, 3):type(double)
      step(all)
      assert((net:get(1).gradWeight - gradient):abs():max() < 1e-12)
   end
   if #devices > 1 then -- gradients are sent before it fails
      failing(rank == 1)
      raises('a backward has failed on rank 1 that has not on rank 0', step, all)
   end
end

for _, name in ipairs{'methods', 'added', 'dropout', 'failures', 'trunk', 'shared', 'places'} do
   torch.manualSeed(3)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
