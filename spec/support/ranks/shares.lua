-- Tests the weight of a gradient before ranks have agreed on it (noSync, updateGradInput), after a
-- criterion was used again, and with a script's hook: compares each of `checks` on all ranks with
-- one process that has all rows. Rank 0 prints the name of each check that all have passed.
require 'dpt'
local distributed = require 'dpt.distributed'
local expect = require 'spec.support.ranks.expect'
local raises = expect.raises
local rank, size = distributed.rank(), distributed.size()

torch.manualSeed(3)
local rows = {} -- rank r has 2 r + 1 of them
for r = 0, size do rows[r] = r * r end
local x = torch.randn(rows[size], 3)
local labels = torch.Tensor(rows[size]):apply(function() return torch.random(3) end)

local function whole(t) return t end
local function part(t) return t:narrow(1, rows[rank] + 1, 2 * rank + 1) end

local losses = {
   {'mean', function() return nn.ClassNLLCriterion() end},
   {'sum', function() return nn.ClassNLLCriterion(nil, false) end},
   {'weighted', function() return nn.ClassNLLCriterion(torch.Tensor{1, 5, 0.2}) end},
}

local function network()
   return nn.Sequential():add(nn.Linear(3, 4)):add(nn.BatchNormalization(4)):add(nn.Tanh())
      :add(nn.Linear(4, 3)):add(nn.LogSoftMax())
end

-- Trains one process and all ranks, and compares their gradients.
local function compare(what, one, all, train)
   local _, wanted = one:getParameters()
   local _, got = all:getParameters()
   one:zeroGradParameters()
   all:zeroGradParameters()
   train(one, whole)
   train(all, part)
   local off = (wanted - got):abs():max()
   if off > 1e-12 or off ~= off then error(('%s on rank %d: off by %g'):format(what, rank, off)) end
end

local checks = {}

function checks.normalization()
   for _, loss in ipairs(losses) do
      local name, make = unpack(loss)
      local one = network()
      local all = nn.DistributedDataParallel(nn.SyncBatchNormalization.convert(one:clone()))
      local function pass(net, cut)
         local criterion = make()
         criterion:forward(net:forward(cut(x)), cut(labels))
         net:backward(cut(x), criterion:backward(net.output, cut(labels)))
      end
      compare(name .. ' in noSync', one, all, function(net, cut)
         for _ = 1, 2 do
            if net == all then net:noSync(pass, net, cut) else pass(net, cut) end
         end
         if net == all then net:syncGradients() end
      end)
      local plain = nn.Linear(3, 3)
      local generator = nn.DistributedDataParallel(plain:clone())
      compare(name .. ' by updateGradInput', plain, generator, function(net, cut)
         local judge, criterion = net == plain and one or all, make()
         criterion:forward(judge:forward(net:forward(cut(x))), cut(labels))
         local gradient = criterion:backward(judge.output, cut(labels))
         net:backward(cut(x), judge:updateGradInput(net.output, gradient))
      end)
   end
end

function checks.loss()
   for _, loss in ipairs(losses) do
      local name, make = unpack(loss)
      local one, criterion = nn.Sequential():add(nn.Linear(3, 3)):add(nn.LogSoftMax()), make()
      local all = nn.DistributedDataParallel(one:clone())
      local wanted = criterion:forward(one:forward(x), labels)
      local value
      all:noSync(function()
         value = criterion:forward(all:forward(part(x)), part(labels))
         all:backward(part(x), criterion:backward(all.output, part(labels)))
      end)
      for _ = 1, 2 do -- before and after gradients are summed
         local off = math.abs(all:meanLoss(value) - wanted)
         assert(off < 1e-12, ('%s on rank %d: the loss is off by %g'):format(name, rank, off))
         all:syncGradients()
      end
   end
end

function checks.criterion()
   for _, loss in ipairs(losses) do
      local name, make = unpack(loss)
      local one = nn.Sequential():add(nn.Linear(3, 3)):add(nn.LogSoftMax())
      local all = nn.DistributedDataParallel(one:clone())
      compare(name .. ', used again', one, all, function(net, cut)
         local criterion = make()
         criterion:forward(net:forward(cut(x)), cut(labels))
         local gradient = criterion:backward(net.output, cut(labels))
         criterion:forward(torch.zeros(20 * (rank + 1), 3), torch.ones(20 * (rank + 1)))
         net:backward(cut(x), gradient)
      end)
   end
end

-- A network with several outputs gets a table of gradients, without a criterion that combines them.
function checks.heads()
   local function head() return nn.Sequential():add(nn.Linear(4, 3)):add(nn.LogSoftMax()) end
   for i = 1, 3 do
      for j = 1, 3 do
         local name = losses[i][1] .. ' and ' .. losses[j][1]
         local last = nn.ConcatTable():add(nn.Linear(4, 3)):add(nn.Linear(4, 3))
         local one = nn.Sequential():add(nn.Linear(3, 4))
            :add(nn.ConcatTable():add(head()):add(head()):add(last))
         local all = nn.DistributedDataParallel(one:clone())
         local function pass(net, cut, gradients, isScaled)
            local first, second = losses[i][2](), losses[j][2]()
            local both = nn.ParallelCriterion():add(nn.AbsCriterion(), 0.5):add(nn.MSECriterion())
            local o = net:forward(cut(x))
            first:forward(o[1], cut(labels))
            second:forward(o[2], cut(labels))
            both:forward(o[3], {cut(x), cut(x)})
            gradients[1] = first:backward(o[1], cut(labels))
            gradients[2] = second:backward(o[2], cut(labels))
            gradients[3] = both:backward(o[3], {cut(x), cut(x)})
            net:backward(cut(x),
               isScaled and optim.LossScaler{scale = 2}:scale(gradients) or gradients)
         end
         local kept = {[one] = {}, [all] = {}} -- refilled in each pass
         compare(name, one, all, function(net, cut)
            for k = 1, 2 do pass(net, cut, kept[net], k == 2) end
         end)
         local function waits()
            compare(name .. ' in noSync', one, all, function(net, cut)
               if net == one then return pass(net, cut, kept[net]) end
               net:noSync(pass, net, cut, kept[net])
               net:syncGradients()
            end)
         end
         if size == 1 or i == 1 and j == 1 then waits()
         else raises('call backward for each', waits) end
      end
   end
end

-- Sums and copies of criterions' gradients are weighted by rows. If a criterion has another
-- divisor, they are an error unless the script gives the divisor.
function checks.sums()
   local unequal = 'has run there that divides by something else than rows'
   local function both(first, second)
      return nn.MultiCriterion():add(first, 0.5):add(second)
   end
   for i = 1, 3 do
      local name = losses[i][1]
      local one = nn.Sequential():add(nn.Linear(3, 3)):add(nn.LogSoftMax())
      local all = nn.DistributedDataParallel(one:clone())
      local function summed(net, cut)
         local first, second = losses[i][2](), nn.MSECriterion()
         first:forward(net:forward(cut(x)), cut(labels))
         second:forward(net.output, cut(x))
         net:backward(cut(x), first:backward(net.output, cut(labels))
            + second:backward(net.output, cut(x)))
      end
      local function copied(net, cut)
         local criterion = both(losses[i][2](), losses[1][2]())
         criterion:forward(net:forward(cut(x)), cut(labels))
         net:backward(cut(x), criterion:backward(net.output, cut(labels)) * 0.5)
      end
      for _, train in ipairs{summed, copied} do
         if size == 1 or i == 1 then compare(name, one, all, train)
         else raises(unequal, compare, name, one, all, train) end
      end
      -- two networks in a row: the result of the second also determines the loss
      local plain = nn.Linear(3, 3)
      local first = nn.DistributedDataParallel(plain:clone())
      compare(name .. ', two in a row', plain, first, function(net, cut)
         local head = net == plain and one or all
         local criterion = losses[i][2]()
         criterion:forward(head:forward(net:forward(cut(x))), cut(labels))
         net:backward(cut(x), head:backward(net.output, criterion:backward(head.output,
            cut(labels))))
      end)
   end
end

-- Rows are the second dimension: ranks draw different numbers, and their generators stay equal.
function checks.dropout()
   for _, counts in ipairs{{2, 3, 1}, {4, 0, 3}} do -- some without rows
      local count = counts[rank + 1]
      local all = nn.DistributedDataParallel(nn.Sequential():add(nn.SeqLSTM(3, 8))
         :add(nn.Dropout(0.5)))
      local input = torch.rand(5, count > 0 and count or 1, 3)
      if count == 0 then input = torch.Tensor(5, 0, 3) end
      all:forward(input)
      local mask = all:get(1):get(2).noise
      local masks = distributed.allGatherValue(count > 0 and mask:contiguous():view(-1):narrow(1, 1,
         40):totable() or {})
      for r = 1, size do
         for q = r + 1, size do
            local same = 0
            for i = 1, 40 do same = same + (masks[r][i] == masks[q][i] and 1 or 0) end
            assert(same < 40, 'ranks have dropped the same')
         end
      end
      local numbers = distributed.allGatherValue(torch.random())
      for r = 2, size do assert(numbers[r] == numbers[1], 'the generators have come apart') end
   end
end

-- Any optimizer object can gather a whole state; a part can be used only by its own rank.
function checks.states()
   local n = 5 * size + 1
   local function step(method, params, state)
      return method(function(y) return y:dot(y), y * 2 end, params, {learningRate = 0.1}, state)
   end
   local one, all = torch.ones(n), torch.ones(n)
   local own, state = {}, {}
   for _ = 1, 2 do
      step(optim.adam, one, own)
      step(optim.ZeroRedundancyOptimizer(optim.adam), all, state) -- another object at each step
   end
   local full = optim.ZeroRedundancyOptimizer(optim.adam):whole(state)
   assert((full.m - own.m):abs():max() == 0 and full.zeroPart == nil and full.t == 2)
   assert((one - all):abs():max() == 0)
   if size == 1 then return end
   local function loaded() return torch.deserialize(torch.serialize(state)) end
   step(optim.ZeroRedundancyOptimizer(optim.adam), all, loaded())
   local other = loaded()
   other.zeroPart.rank = (rank + 1) % size
   raises(('the state is the part of rank %d of %d, and this is rank %d of %d'):format(
      other.zeroPart.rank, size, rank, size), step, optim.ZeroRedundancyOptimizer(optim.adam), all,
      other)
   other = loaded()
   other.zeroPart.first = nil
   raises('the state is a part as dpt 1.0 cut it', step,
      optim.ZeroRedundancyOptimizer(optim.adam), all, other)
end

-- All ranks skip a step together, although only one rank's part of the gradient is not finite.
-- Ranks without a part also adapt the scale. A scaled gradient has the weight of the gradient.
function checks.scaler()
   for _, loss in ipairs(losses) do
      local name, make = unpack(loss)
      local one = nn.Sequential():add(nn.Linear(3, 3)):add(nn.LogSoftMax())
      compare(name .. ', scaled', one, nn.DistributedDataParallel(one:clone()), function(net, cut)
         local criterion, scaler = make(), optim.LossScaler{scale = 2}
         criterion:forward(net:forward(cut(x)), cut(labels))
         net:backward(cut(x), scaler:scale(criterion:backward(net.output, cut(labels))))
      end)
   end
   local cases = {}
   for _, kind in ipairs{'Double', 'Float', 'Cuda', 'CudaHalf'} do
      for _, name in ipairs{'adam', 'sgd', 'adamax'} do
         local isRejected = kind == 'CudaHalf' and name == 'adamax' -- underflows
         for _, n in ipairs(isRejected and {} or {5 * size + 1, 2, 1}) do
            cases[#cases + 1] = {kind, name, n}
         end
      end
   end
   for _, case in ipairs(cases) do
      local kind, name, n = unpack(case)
      local make, key = torch[kind .. 'Tensor'], name == 'sgd' and 'evalCounter' or 't'
      local one, all, own, state = make(n):fill(1), make(n):fill(1), {}, {}
      local scalers = {}
      for k = 1, 2 do scalers[k] = optim.LossScaler{scale = 8, every = 2} end
      local zero = optim.ZeroRedundancyOptimizer(optim[name])
      for i = 1, 7 do
         for k, method in ipairs{optim[name], zero} do
            local scaler = scalers[k]
            method(function(y)
               local gradient = scaler:scale(torch.mul(y, 2))
               if i % 2 == 1 then gradient[n] = 1 / 0 end
               if i > 5 and kind ~= 'CudaHalf' then scaler:unscale(gradient) end
               return 0, gradient
            end, k == 1 and one or all, {learningRate = 0.1, momentum = 0.9, scaler = scaler},
               k == 1 and own or state)
         end
         assert((one - all):double():abs():max() == 0)
         assert(scalers[1]:getScale() == scalers[2]:getScale())
         if i == 4 then state = torch.deserialize(torch.serialize(zero:whole(state))) end
      end
      local full = zero:whole(state)
      assert(scalers[2]:skipped() == 4 and own[key] == 3 and full[key] == 3)
      local saved = name == 'sgd' and 'dfdx' or 'm'
      assert((full[saved] - own[saved]):double():abs():max() == 0)
      assert(not full.tOnDevice and not full.evalCounterOnDevice)
   end
   raises("argument 'scaler' is a string, wanted an optim.LossScaler",
      optim.ZeroRedundancyOptimizer(optim.sgd), function() return 0, torch.ones(1) end,
      torch.ones(1), {scaler = 'on'})

   -- the step after a rejected one inspects its gradient
   local y, scaler, value = torch.CudaTensor(2 * size):fill(1), optim.LossScaler{scale = 4}, 4
   local function step(decay)
      optim.ZeroRedundancyOptimizer(optim.sgd)(function() return 0, y:clone():fill(value) end, y,
         {weightDecay = decay, scaler = scaler})
   end
   raises("argument 'weightDecay' is a string, wanted a number", step, 'high')
   value = 0 / 0
   step(0)
   assert(scaler:skipped() == 1 and y:sum() == 2 * size)
end

-- A hook may return the sum; one that gives the tensor other memory is an error.
function checks.hook()
   local function trained(hook)
      return function()
         local one = nn.Linear(3, 2)
         local all = nn.DistributedDataParallel(one:clone(), {hook = hook})
         compare('hook', one, all, function(net, cut)
            local criterion = nn.MSECriterion()
            criterion:forward(net:forward(cut(x)), cut(x):narrow(2, 1, 2))
            net:backward(cut(x), criterion:backward(net.output, cut(x):narrow(2, 1, 2)))
         end)
      end
   end
   trained(function(t)
      local sum = t:clone()
      distributed.allReduce(sum)
      return sum
   end)()
   trained(function(t)
      distributed.allReduce(t)
      return t
   end)()
   if size == 1 then return end -- nothing is sent
   raises('the hook has given bucket 1 other memory: it is to write into it, or to return a tensor',
      trained(function(t) t:set(t:clone()) end))
   raises('the hook has returned a tensor of 1 elements for bucket 1, wanted nothing or a tensor of'
      .. ' 8 elements', trained(function() return torch.zeros(1) end))
   raises('the hook has returned a number', trained(function() return 3 end))
end

for _, name in ipairs{'normalization', 'loss', 'criterion', 'heads', 'sums', 'dropout', 'states',
   'scaler', 'hook'} do
   torch.manualSeed(7)
   checks[name]()
   distributed.barrier()
   if rank == 0 then print(name .. ' holds') end
end
