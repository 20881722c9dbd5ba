-- nn.Recompute: the results of its module, bit by bit, from less memory.
local torch, nn, cutorch = require 'torch', require 'nn', require 'cutorch'
local catalogue = require 'spec.support.catalogue'
local check = require 'spec.support.jacobian'
local ranks = require 'spec.support.ranks'
local recompute = require 'spec.support.recompute'

local graphs = not cutorch.getDeviceProperties(1).name:find 'host'

local function rows() return torch.randn(5, 6) end
local function sequence(...)
   local net = nn.Sequential()
   for _, module in ipairs{...} do net:add(module) end
   return net
end
local function equal(a, b) assert.equal(0, a:ne(b):sum()) end

-- A module that counts its forwards and, when told so, fails.
local classes = {}
local Counter, parent = torch.class('recomputeSpec.Counter', 'nn.Identity', classes)
function Counter:updateOutput(input)
   self.count = (self.count or 0) + 1
   if self.fails then error 'on purpose' end
   return parent.updateOutput(self, input)
end

describe('nn.Recompute', function()
   for _, typename in ipairs{'torch.FloatTensor', 'torch.DoubleTensor', 'torch.CudaTensor'} do
      it('gives the bits of its module, moves statistics and generators once, ' .. typename,
         function()
            local plain, other = recompute.pair(recompute.network(), typename, 2, 3, 4)
            recompute.train(plain, other, 3, function() return rows():type(typename) end)
            plain:evaluate()
            other:evaluate()
            local x = rows():type(typename)
            equal(plain:forward(x), other:forward(x))
            for _, net in ipairs{plain, other} do
               net:zeroGradParameters()
               net:backward(x, net.output)
               net:accGradParameters(x, net.output)
            end
            equal(plain.gradInput, other.gradInput)
            local _, gradients = plain:parameters()
            for i, g in ipairs(select(2, other:parameters())) do equal(gradients[i], g) end
         end)
   end

   it('accepts every module whose forward can be repeated', function()
      local reject = {}
      for _, case in ipairs(catalogue) do
         local plain, other = recompute.pair(sequence(case.make()), 'torch.DoubleTensor', 1)
         if case.name == 'Index' or case.name == 'MaskedSelect' then -- inputs of several types
            plain, other = sequence(case.make()), sequence(nn.Recompute(case.make()))
         end
         local ok, message = pcall(recompute.train, plain, other, 2,
            function() return case.input(4) end)
         if not ok then
            assert.truthy(message:find('nn.Recompute: cannot contain nn.', 1, true), case.name
               .. ': ' .. message)
            reject[#reject + 1] = case.name
         end
      end
      assert.same({'GRU', 'IndexLinear', 'LSTM', 'Recurrent', 'Recursor', 'Sequencer', 'StepRNN'},
         reject)
   end)

   it('has the gradients that differences show', function()
      check.module(function() return nn.Recompute(sequence(nn.Linear(6, 4), nn.Tanh())) end, rows)
   end)

   it('takes and returns tables, inside another nn.Recompute and in branches', function()
      local function branches()
         return nn.ConcatTable():add(sequence(nn.Linear(6, 6), recompute.block(6)))
            :add(nn.Identity())
      end
      local plain = sequence(nn.ConcatTable():add(nn.Linear(6, 6)):add(nn.Identity()),
         sequence(nn.CAddTable(true), branches(), nn.JoinTable(2)),
         nn.Concat(2):add(nn.Linear(12, 6)):add(sequence(nn.Linear(12, 6), recompute.block(6))),
         nn.Linear(12, 6),
         branches())
      local other = plain:clone()
      local inner = other:get(2)
      inner.modules[2] = nn.Recompute(inner:get(2))
      local first = inner:get(2):get(1):get(1).modules
      first[2] = nn.Recompute(first[2])
      other.modules[2] = nn.Recompute(inner)
      other:get(3).modules[2] = nn.Recompute(other:get(3):get(2))
      other.modules[5] = nn.Recompute(other:get(5))
      recompute.train(plain, other, 3, rows)
   end)

   it('keeps what a second forward must not lose', function()
      local pooling = nn.SpatialFractionalMaxPooling(2, 2, 3, 3):fixPoolingRegions()
      local plain = sequence(sequence(pooling, nn.SpatialConvolution(2, 2, 2, 2)))
      local _, other = recompute.pair(plain, 'torch.DoubleTensor', 1)
      recompute.train(plain, other, 3, function() return torch.rand(3, 2, 7, 7) end)

      local map = nn.MapTable(sequence(nn.Linear(6, 6), nn.BatchNormalization(6), nn.Dropout(0.5)))
      plain, other = recompute.pair(sequence(map), 'torch.DoubleTensor', 1)
      recompute.train(plain, other, 3, function() return {rows(), rows()} end)

      local words = nn.LookupTable(9, 4, 0, 0.5)
      plain, other = recompute.pair(sequence(words), 'torch.DoubleTensor', 1)
      local x = torch.Tensor{{1, 5}, {5, 2}}
      recompute.train(plain, other, 2, function() return x end)
      local weight = other:get(1):get(1).weight
      local version = require('dpt').comm.version
      other:forward(x)
      local before = version{weight}
      other:backward(x, other.output)
      assert.equal(before, version{weight})
   end)

   it('holds no activations between passes, without a garbage collection', function()
      local net, x = nn.Sequential(), torch.CudaTensor(64, 32):fill(1)
      for _ = 1, 10 do
         net:add(nn.Recompute(sequence(nn.AddConstant(1, true),
            nn.ConcatTable():add(nn.Tanh()):add(nn.Abs()), nn.MapTable(nn.Sigmoid()),
            nn.CAddTable(), nn.Linear(32, 32), nn.Tanh(), nn.Identity(), nn.Square(),
            nn.View(32, 64), nn.ReLU(true), nn.View(64, 32), nn.Sigmoid())))
      end
      nn.utils.shareGradInputs(net:cuda())
      local function live() return cutorch.memoryStats(cutorch.getDevice()).live / (4 * 64 * 32) end
      local function step()
         local before = live()
         net:forward(x)
         local inForward = live()
         net:backward(x, x)
         return inForward - before, live() - before
      end
      step()
      collectgarbage()
      collectgarbage()
      collectgarbage 'stop'
      local a, b = step()
      local c, d = step()
      collectgarbage 'restart'
      assert.same({0, 0, 0, 0}, {a, b, c, d}) -- the outputs of parts replace the older ones
      net:clearState()
      collectgarbage()
      local empty = live()
      net:forward(x)
      assert.equal(10, live() - empty) -- one output of each part
      for _, part in ipairs(net.modules) do
         recompute.map(part:get(1):get(6).output, function(t) assert.equal(0, t:nElement()) end)
      end
      assert.is_true(net.output:ne(0):all())
   end)

   it('shares gradInputs', function()
      local plain, other = recompute.pair(recompute.network(), 'torch.FloatTensor', 2, 3, 4)
      nn.utils.shareGradInputs(other)
      for step = 1, 3 do
         local x = rows():float()
         local results = {}
         for k, net in ipairs{plain, other} do
            torch.manualSeed(step)
            net:zeroGradParameters()
            net:forward(x)
            results[k] = {net:backward(x, net.output:clone()), select(2, net:parameters())}
         end
         equal(results[1][1], results[2][1])
         for i, g in ipairs(results[1][2]) do equal(g, results[2][2][i]) end
      end
      assert.equal(other:get(2).gradInput:storage(), other:get(4).gradInput:storage())
   end)

   it('leaves an input that its modules would change, and lets others change its output', function()
      local net = sequence(nn.Linear(6, 6), nn.Recompute(sequence(nn.AddConstant(1, true),
         nn.Linear(6, 6))), nn.ReLU(true))
      local plain = net:clone()
      plain.modules[2] = plain:get(2):get(1)
      for _ = 1, 3 do
         local x = rows()
         net:zeroGradParameters()
         plain:zeroGradParameters()
         equal(plain:forward(x), net:forward(x))
         equal(net:get(1).output, net:get(1):clone():forward(x))
         equal(plain:backward(x, torch.ones(5, 6)), net:backward(x, torch.ones(5, 6)))
         equal(net:get(1).output, net:get(1):clone():forward(x))
         equal(plain.gradInput, net:backward(x, torch.ones(5, 6)))
      end
   end)

   it('raises if its input changes before backward', function()
      local message = 'nn.Recompute: the input .or memory that it shares. was written to after'
      local m, x = nn.Recompute(nn.Linear(6, 6)), {rows(), rows()}
      m:forward(x[1])
      x[1]:mul(2)
      assert.error_matches(function() m:backward(x[1], x[1]) end, message)
      m = nn.Recompute(nn.CAddTable())
      m:forward(x)
      x[2]:mul(2)
      assert.error_matches(function() m:backward(x, x[1]) end, message)
      local net = sequence(nn.Linear(6, 6), nn.Recompute(nn.View(6)), nn.ReLU(true))
      net:forward(x[1]) -- the first forward finds out whether nn.View changes its input
      net:forward(x[1])
      assert.error_matches(function() net:backward(x[1], x[1]) end, message)
      m = nn.Recompute(nn.Linear(6, 6))
      m:forward(x[1])
      local same = x[1]:clone()
      x[1]:zero()
      local expected = m:get(1):clone():updateGradInput(same, same)
      equal(expected, m:backward(same, same)) -- another tensor with the values of forward
   end)

   it('copies the input if a module begins to work in place', function()
      local m, x = nn.Recompute(nn.AddConstant(1)), torch.zeros(2)
      m:forward(x)
      m:get(1).inplace = true
      assert.error_matches(function() m:forward(x) end,
         'nn.Recompute: nn.AddConstant has changed its input in place, which it did not')
      assert.same({1, 1}, x:totable())
      assert.same({2, 2}, m:forward(x):totable())
      assert.same({1, 1}, x:totable())
      assert.same({1, 1}, m:backward(x, torch.ones(2)):totable())
   end)

   it('computes once for each backward, also in two calls, and again for a second one', function()
      local counter = classes.Counter()
      local plain = sequence(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
      local m = nn.Recompute(plain:clone():add(counter))
      local x, g = rows(), rows()
      local function gradients(net) return select(2, net:parameters()) end
      local function same()
         equal(plain.gradInput, m.gradInput)
         for i, t in ipairs(gradients(plain)) do equal(t, gradients(m)[i]) end
      end
      for _, net in ipairs{plain, m} do
         net:zeroGradParameters()
         net:forward(rows())
         net:forward(x)
         net:updateGradInput(x, g)
         net:accGradParameters(x, g)
      end
      same()
      assert.equal(3, counter.count)
      for _, net in ipairs{plain, m} do
         net:backward(x, g, 0.5)
         net:accGradParameters(x, g, 2)
         net:updateGradInput(x, g)
         net:updateGradInput(x, g)
         net:accUpdateGradParameters(x, g, 0.1)
      end
      assert.equal(6, counter.count)
      equal(plain.gradInput, m.gradInput)
      for i, t in ipairs(plain:parameters()) do equal(t, m:parameters()[i]) end
   end)

   it('accumulates again only if gradOutput was left as it is', function()
      local net = sequence(nn.Linear(6, 6), nn.MulConstant(2, true))
      local m, x = nn.Recompute(net), rows()
      m:forward(x)
      m:accGradParameters(x, torch.ones(5, 6)) -- leaves gradOutput
      local g = torch.ones(5, 6)
      m:accGradParameters(x, g)
      assert.equal(30, g:sum())
      m:backward(x, g)
      assert.equal(60, g:sum())
      assert.error_matches(function() m:accGradParameters(x, g) end,
         'nn.Recompute: accGradParameters: gradOutput was changed in place by the backward before')
   end)

   it('raises without a forward in training, and can be used after an error', function()
      local counter = classes.Counter()
      local m, x = nn.Recompute(sequence(nn.Linear(6, 6), nn.BatchNormalization(6), nn.Dropout(0.5),
         counter)), rows()
      assert.error_matches(function() m:backward(x, x) end, 'nn.Recompute: backward before forward')
      assert.error_matches(function() nn.Recompute() end,
         "nn.Recompute: argument 'module', wanted a module, got nil")
      m:forward(x)
      assert.error_matches(function() m:clone():backward(x, x) end, 'backward before forward')
      local mean = m:get(1):get(2).running_mean
      local before, state = mean:clone(), torch.getRNGState()
      counter.fails = true
      assert.error_matches(function() m:backward(x, x) end, 'on purpose')
      counter.fails = false
      equal(before, mean)
      equal(state, torch.getRNGState())
      equal(m:backward(x, x):clone(), m:backward(x, x))
      equal(before, mean)
      m:forward(x)
      m:evaluate()
      assert.error_matches(function() m:backward(x, x) end, 'nn.Recompute: backward in evaluation')
      m:forward(x)
      assert.truthy(m:get(1):get(1).output:nElement() > 0)
      assert.equal(30, m:backward(x, x):nElement())
      local loaded = torch.deserialize(torch.serialize(m))
      equal(m.output, loaded:forward(x))
   end)

   it('continues with generators that were seeded between its passes', function()
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         local m, x = nn.Recompute(sequence(nn.Dropout(0.5), nn.Tanh())):type(typename),
            torch.ones(40):type(typename)
         torch.manualSeed(1)
         m:forward(x)
         m:forward(x)
         local mask = m.output:ne(0)
         torch.manualSeed(1)
         equal(mask, m:backward(x, x):ne(0))
         local drawn = x.new(9):uniform()
         torch.manualSeed(1)
         equal(drawn, x.new(9):uniform())
      end
   end)

   it('rejects modules that a second forward would change', function()
      local x = torch.CudaTensor(2, 6):zero()
      for _, case in ipairs{
         {nn.DataParallelTable(1):add(nn.Linear(6, 6):cuda(), {1}), 'put nn.Recompute inside'},
         {nn.GPU(nn.Linear(6, 6), 1), 'put nn.Recompute inside'},
         {nn.DistributedDataParallel(nn.Linear(6, 6)), 'put nn.Recompute inside'},
         {nn.GRU(6, 6), 'one step of a sequence'},
         {nn.RNN('CUDNN_GRU', 6, 6, 1, false, 0, true), 'which remembers states'},
         {nn.SeqLSTM(6, 6):remember 'train', 'which remembers states'}} do
         assert.error_matches(function() nn.Recompute(sequence(case[1])):forward(x) end,
            'nn.Recompute: cannot contain .*' .. case[2])
      end
      nn.Recompute(nn.SeqLSTM(6, 6):remember 'eval'):forward(torch.zeros(2, 1, 6))
   end)

   for _, threads in ipairs{false, true} do
      it('works in nn.DataParallelTable' .. (threads and ' with threads' or '')
         .. ' #devices2', function()
         for _, normalization in ipairs{'BatchNormalization', 'SyncBatchNormalization'} do
            local net = recompute.network(normalization)
            local nets = {recompute.pair(net, 'torch.CudaTensor', 2, 3, 4)}
            for k = 1, 2 do
               nets[k] = nn.DataParallelTable(1, true):add(nets[k], {1, 2})
               if threads then nets[k]:threads() end
            end
            recompute.train(nets[1], nets[2], 3, function() return rows():cuda() end)
            for k = 1, 2 do nets[k].impl:close() end
         end
      end)
   end

   it('can be captured in a graph, without random numbers', function()
      local function network(last)
         return sequence(nn.Linear(6, 6), nn.BatchNormalization(6), last)
      end
      local nets = {recompute.pair(sequence(network(nn.ReLU(true)), nn.Linear(6, 6)),
         'torch.CudaTensor', 1)}
      local x = torch.CudaTensor(5, 6)
      for k, net in ipairs(nets) do
         local function step()
            net:zeroGradParameters()
            net:forward(x)
            net:backward(x, x)
            net:updateParameters(0.1)
         end
         x:copy(torch.range(1, 30):cuda())
         step()
         local replay = cutorch.graph(step)
         for _ = 1, 3 do
            x:mul(-0.7):add(1)
            replay()
         end
         nets[k] = net:get(2).weight:clone()
      end
      equal(nets[1], nets[2])
      if not graphs then return end -- a host device calls the function
      local net = nn.Recompute(network(nn.Dropout(0.5))):cuda()
      local ok, message = pcall(cutorch.graph, function()
         net:forward(x)
         net:backward(x, x)
      end)
      assert.is_false(ok)
      assert.truthy(message:find('nn.Recompute: a captured graph cannot draw the same', 1, true))
   end)

   it('works in nn.DistributedDataParallel', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'recompute', '', 'DPT_DEVICES=' .. ranks.devices)
      local expected = ''
      for _, where in ipairs{'host', 'device', 'devices'} do
         expected = ('%s%s\tBatchNormalization\n%s\tSyncBatchNormalization\n'):format(expected,
            where, where)
      end
      assert.equal(0, status, output)
      assert.equal(expected, (output:gsub('^dpt: [^\n]*\n', '')))
   end)
end)
