-- Tests how gradients are weighted in nn.DistributedDataParallel, and pending gradients: each check
-- prints its name if all ranks have passed it.
local dpt = require 'dpt'
local optim = dpt.optim
local distributed = require 'dpt.distributed'
local raises = require('spec.support.ranks.expect').raises
local rank, size = distributed.rank(), distributed.size()

local total = 2 * size * (size + 1) -- rank r has 4 (r + 1) rows
local first = 2 * rank * (rank + 1) + 1
local g = torch.Generator()
torch.manualSeed(g, 3)
local types = {'torch.DoubleTensor', 'torch.CudaDoubleTensor'}
local x, y = torch.rand(g, total, 6), torch.rand(g, total, 3)

local function part(t) return t:narrow(1, first, 4 * (rank + 1)) end

local function make(name)
   return nn.Sequential():add(nn.Linear(6, 5)):add(nn.Tanh()):add(nn.Linear(5, 3)):type(name)
end

local function near(a, b, what)
   local off = (a:double() - b:double()):abs():max()
   if off >= 1e-12 or off ~= off then
      error(('%s on rank %d: off by %g'):format(what, rank, off))
   end
end

-- Calls f(network, input, target, criterion class) for a network of one process, then for one of
-- all ranks, and compares gradients.
local function compare(what, f)
   for _, name in ipairs(types) do
      local one = make(name)
      local all = nn.DistributedDataParallel(one:clone())
      local _, wanted = one:getParameters()
      local _, got = all:getParameters()
      one:zeroGradParameters()
      all:zeroGradParameters()
      f(all, part(x):type(name), part(y):type(name), name)
      f(one, x:type(name), y:type(name), name)
      near(got, wanted, what .. ', ' .. name)
   end
end

local function trained(net, criterion, a, b, ...)
   criterion:forward(net:forward(a), b)
   return net:backward(a, criterion:backward(net.output, b), ...)
end

local checks = {}

-- A gradient is weighted by its own divisor. Calls before it may cause an error, never another
-- value.
function checks.gradients()
   local function mse(name, isMean) return nn.MSECriterion(isMean):type(name) end
   local function byHand(net, a, b) -- returns the gradient of the mean over elements
      return (net:forward(a) - b) * (2 / b:nElement())
   end
   compare('by hand', function(net, a, b) net:backward(a, byHand(net, a, b)) end)
   compare('by hand after a mean of other rows', function(net, a, b, name)
      local other = torch.ones(3 + rank, 2):type(name)
      mse(name):backward(other, other)
      net:backward(a, byHand(net, a, b))
   end)
   compare('a sum, by hand', function(net, a, b)
      net:backward(a, (net:forward(a) - b) * 2, 1, {denominator = false})
   end)
   compare('divided by something else, by hand', function(net, a, b)
      local odd = b:clone():gt(0.5):double()
      local n = odd:sum()
      net:backward(a, (net:forward(a) - b):cmul(odd:type(b:type())) * (2 / n), 1,
         {denominator = n})
   end)
   compare('a view, changed in place', function(net, a, b, name)
      local sum = mse(name, false)
      sum:forward(net:forward(a), b)
      net:backward(a, sum:backward(net.output, b):mul(0.25):view(1, -1):viewAs(b))
   end)
   compare('an entry of a table', function(net, a, b, name)
      local both = nn.ParallelCriterion():add(mse(name, false)):add(mse(name), 0.5):type(name)
      both:forward({net:forward(a), b}, {b, b})
      net:backward(a, both:backward({net.output, b}, {b, b})[1])
   end)
   compare('by a method without scale, in two calls', function(net, a, b, name)
      local layer = net:findModules('nn.Linear')[1]
      layer.accGradParameters = function(self, input, gradOutput)
         nn.Linear.accGradParameters(self, input, gradOutput)
      end
      local criterion = mse(name)
      criterion:forward(net:forward(a), b)
      local gradient = criterion:backward(net.output, b)
      net:updateGradInput(a, gradient)
      net:accGradParameters(a, gradient)
   end)
   if size == 1 then return end
   local net, a, b = nn.DistributedDataParallel(make(types[1])), part(x), part(y)
   for _, isLocal in ipairs{true, false} do -- on one rank, on all
      if not isLocal or rank == 0 then mse(types[1], false):backward(b, b) end
      local gradient = byHand(net, a, b)
      for _ = 1, 2 do -- also if it is retried
         raises("gradOutput of rank 0 is no criterion's gradient", net.backward, net, a, gradient)
      end
      net:backward(a, gradient, 1, {denominator = b:nElement()})
      net:backward(a, gradient)
   end
   mse(types[1], false):backward(b, b)
   raises("gradOutput of rank " .. rank .. " is no criterion's gradient", net.noSync, net,
      function() net:backward(a, byHand(net, a, b)) end)
   net:backward(a, byHand(net, a, b), 1, {denominator = 4})
end

-- Ranks with the option evenBatches do not communicate about batches.
function checks.even()
   local criterion, rows = nn.ClassNLLCriterion(), 4 * size
   local inputs, labels = torch.rand(g, 3 * rows, 6), torch.ones(3 * rows)
   for _, reduce in ipairs{'samples', 'ranks', 'sum'} do
      local one = make(types[1]):add(nn.Dropout(0.3)):add(nn.LogSoftMax())
      local all = nn.DistributedDataParallel(one:clone(), {evenBatches = true, reduce = reduce})
      local _, wanted = one:getParameters()
      local _, got = all:getParameters()
      one:zeroGradParameters()
      all:zeroGradParameters()
      local exchange = all._allGatherNumbers
      function all:_allGatherNumbers() error 'something was exchanged' end
      local state = torch.getRNGState()
      for k = 0, 2 do
         local function pass(net, from, n, scale)
            local a, b = inputs:narrow(1, k * rows + from, n), labels:narrow(1, k * rows + from, n)
            criterion:forward(net:forward(a), b)
            net:backward(a, criterion:backward(net.output, b), scale)
         end
         torch.setRNGState(state)
         if k == 0 then all:noSync(pass, all, 4 * rank + 1, 4) else pass(all, 4 * rank + 1, 4) end
         torch.setRNGState(state)
         pass(one, 1, rows, reduce == 'sum' and size or 1)
      end
      near(got, wanted, 'even batches, ' .. reduce)
      all:zeroGradParameters()
      all:backward(inputs:narrow(1, 1, 4), torch.zeros(4, 3), 1, {denominator = 0})
      near(got, got:clone():zero(), 'even batches that count nothing')
      all._allGatherNumbers = exchange
   end
end

-- gradInput is scaled for this rank, so that it is the gradOutput of a preceding network.
function checks.inputs()
   for _, name in ipairs(types) do
      local one = make(name)
      local all = nn.DistributedDataParallel(one:clone())
      local a, b = part(x):type(name), part(y):type(name)
      local criterion = nn.MSECriterion():type(name)
      near(trained(all, criterion, a, b), trained(one, criterion, a, b), 'gradInput')
      all:noSync(trained, all, criterion, a, b)
      near(all.gradInput, one.gradInput, 'gradInput in noSync')
      all:updateGradInput(a, criterion.gradInput)
      near(all.gradInput, one.gradInput, 'updateGradInput')
      all:zeroGradParameters()
   end
end

-- Tests a module that adds its own loss.
function checks.penalty()
   for _, isMean in ipairs{true, false} do
      compare('penalty', function(net, a, b, name)
         local inner = torch.type(net) == 'nn.Sequential' and net or net:get(1)
         inner:insert(nn.L1Penalty(0.2, isMean):type(name), 2)
         trained(net, nn.MSECriterion():type(name), a, b)
      end)
      local name = types[2]
      local one = make(name)
      one:insert(nn.L1Penalty(0.2, isMean):type(name), 2)
      local all = nn.DistributedDataParallel(nn.DataParallelTable(1):add(one:clone(), {1, 2}))
      one:zeroGradParameters()
      all:zeroGradParameters()
      local criterion = nn.MSECriterion():type(name)
      trained(all, criterion, part(x):type(name), part(y):type(name))
      trained(one, criterion, x:type(name), y:type(name))
      local _, wanted = one:parameters()
      local _, got = all:parameters()
      for i, t in ipairs(wanted) do near(got[i], t, 'penalty of tables') end
      if size > 1 then
         local net = nn.DistributedDataParallel(one:clone())
         raises('nn.L1Penalty: adds a loss of its own', net.noSync, net, trained, net, criterion,
            part(x):type(name), part(y):type(name))
         net:zeroGradParameters()
         trained(net, criterion, part(x):type(name), part(y):type(name))
      end
   end
end

-- A backward that fails is not counted, or invalidates pending gradients.
function checks.failures()
   if size == 1 then return end
   for _, kind in ipairs{'one', 'table'} do
      local function wrapped()
         local inner = make(types[2])
         if kind == 'table' then
            inner = nn.DataParallelTable(1):add(inner, {1, 2})
         end
         return nn.DistributedDataParallel(inner), inner:get(1).modules and inner:get(1) or inner
      end
      local criterion = nn.MSECriterion():type(types[2])
      local a, b = part(x):type(types[2]), part(y):type(types[2])
      local function pass(net) return trained(net, criterion, a, b) end
      local function failing(net, inner, k)
         local layer = inner:get(k)
         layer.backward = function() error 'boom' end
         raises('boom', pass, net)
         layer.backward = nil
      end
      local net, inner = wrapped()
      local function gradient()
         local list = {}
         for i, t in ipairs((select(2, net:parameters()))) do list[i] = t:double():view(-1) end
         return torch.cat(list, 1)
      end
      net:zeroGradParameters()
      net:noSync(pass, net)
      pass(net)
      local wanted = gradient()
      for _, k in ipairs{3, 1} do -- before and after it has added to gradients
         for _, when in ipairs{'first', 'second', 'outside'} do
            net:zeroGradParameters()
            local what = ('%s, %s, %d'):format(kind, when, k)
            local ok, message = pcall(function()
               if when == 'first' then net:noSync(failing, net, inner, k) end
               net:noSync(pass, net)
               if when == 'second' then net:noSync(failing, net, inner, k) end
               if when == 'outside' then failing(net, inner, k) end
               pass(net)
            end)
            if ok then
               near(gradient(), wanted, what)
            else
               assert(k == 1 or when == 'outside' or kind == 'table', what)
               assert(message:find 'a backward failed after it had added to gradients',
                  message)
               raises('a backward failed', net.syncGradients, net)
               raises('a backward failed', net.updateParameters, net, 0.1)
               if when == 'outside' then torch.serialize(net) end -- parameters are unchanged
            end
         end
      end
      net:zeroGradParameters()
      net:noSync(pass, net)
      pass(net)
      near(gradient(), wanted, 'after all')
   end
end

-- One rank's part of pending gradients cannot be used.
function checks.waiting()
   if size == 1 then return end
   local criterion = nn.MSECriterion():type(types[2])
   local a, b = part(x):type(types[2]), part(y):type(types[2])
   local inner = make(types[2])
   local net = nn.DistributedDataParallel(inner)
   local params, gradients = net:getParameters()
   local function wait()
      net:zeroGradParameters()
      net:noSync(trained, net, criterion, a, b)
   end
   wait()
   raises('the network is saved while gradients wait on the ranks', torch.serialize, net)
   raises('the network is copied while gradients wait on the ranks', net.clone, net)
   raises('the network is copied while gradients wait on the ranks', function()
      return require 'dpt.clone'(net)
   end)
   net:syncGradients()
   torch.serialize(net)
   for _, use in ipairs{net.syncGradients, trained} do
      wait()
      params:add(-0.1, gradients)
      raises('parameters were written to while ranks hold parts of the gradients', use, net,
         criterion, a, b)
      net:zeroGradParameters() -- ranks may have diverged: the next forward checks
      raises('modules[1].weight differs: rank 1 has another value than rank 0', trained, net,
         criterion, a, b)
      net:syncParameters()
      wait()
      params:add(-0.1) -- other values, the same on all ranks
      net:zeroGradParameters()
      trained(net, criterion, a, b)
   end
   wait()
   inner:add(nn.Linear(3, 3):type(types[2]))
   raises('the network was changed while gradients waited', trained, net, criterion, a, b)
   net:zeroGradParameters()
   trained(net, criterion, a, b)
   wait() -- a table inside: gradients of its replicas are pending as well
   local many = nn.DataParallelTable(1):add(make(types[2]), {1, 2})
   net = nn.DistributedDataParallel(many)
   wait()
   raises('while gradients wait on the ranks', torch.serialize, many)
   net:syncGradients()
   net:updateParameters(0.1)
   optim.sgd(function()
      wait()
      return 0, (select(2, net:getParameters()))
   end, (net:getParameters()), {learningRate = 0.1})
end

for _, name in ipairs{'gradients', 'even', 'inputs', 'penalty', 'failures', 'waiting'} do
   torch.manualSeed(7)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
