--- Modules called step by step, and the sequence modules made of them.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local check = require 'spec.support.jacobian'
local same = require 'spec.support.parallel'

local T, B, I, H = 4, 3, 2, 3
local R = function(...) return torch.randn(...):mul(0.5):double() end

local function sequence(...)
   local list = {}
   for t = 1, T do list[t] = R(...) end
   return list
end

-- Copies the parameters of the cell of a step module to an nn.RNN.
local function sameWeights(whole, step)
   whole.weight:copy(step.modules[1].weight)
   return whole
end

describe('Recurrent modules:', function()
   before_each(function() torch.manualSeed(6) end)

   for _, class in ipairs{'LSTM', 'GRU'} do
      it('nn.' .. class .. ' returns step by step what it returns for a whole sequence', function()
         local step = nn[class](I, H):double()
         local whole = sameWeights(nn['Seq' .. class](I, H):double(), step)
         local x, g = R(T, B, I), R(T, B, H)
         for _ = 1, 2 do
            local expected, outputs = whole:forward(x), {}
            for t = 1, T do outputs[t] = step:forward(x[t]) end
            for t = 1, T do same.close(expected[t], outputs[t], 1e-12) end
            whole:zeroGradParameters()
            step:zeroGradParameters()
            local gradInput = whole:backward(x, g, 0.5)
            for t = T, 1, -1 do same.close(gradInput[t], step:backward(x[t], g[t], 0.5), 1e-12) end
            same.close(whole.gradWeight, step.modules[1].gradWeight, 1e-12)
            assert.error_matches(function() step:backward(x[1], g[1]) end, 'more often')
            step:forget()
         end
         -- one vector at a time
         same.close(whole:forward(x:narrow(2, 1, 1))[1][1], step:forward(x[1][1]), 1e-12)
         assert.same({I}, step:backward(x[1][1], g[1][1]):size():totable())
      end)
   end

   it('all have gradients, in lists and tensors', function()
      local function lists() return sequence(B, I) end
      local function tensors() return R(T, B, I) end
      for _, make in ipairs{
         function() return nn.LSTM(I, H) end,
         function() return nn.GRU(I, H) end,
         function()
            return nn.Recurrent(H, nn.Linear(I, H), nn.Linear(H, H), nn.Tanh())
         end,
         function() return nn.Linear(I, H) end,
         function()
            return nn.Sequential():add(nn.LSTM(I, H)):add(nn.Linear(H, H)):add(nn.GRU(H, I))
         end,
      } do
         check.module(function() return nn.Sequencer(make()):double() end, lists)
         check.module(function() return nn.Sequencer(make()):double() end, tensors)
      end
      for _, class in ipairs{'SeqLSTM', 'SeqGRU', 'SeqBRNN'} do
         for _, batchFirst in ipairs{false, true} do
            check.module(function() return nn[class](I, H, batchFirst):double() end, tensors)
         end
      end
   end)

   it('nn.Recursor calls any module once a step, with one copy and one set of parameters each',
      function()
         local net = nn.Recursor(nn.Sequential():add(nn.Linear(I, H)):add(nn.LSTM(H, H))):double()
         local x, g = sequence(B, I), sequence(B, H)
         local again = {}
         for t = 1, T do again[t] = net:forward(x[t]):clone() end
         assert.is_true(rawequal(net:getStepModule(2), net:getStepModule(2)))
         assert.is_true(net:getStepModule(1):get(1).weight:isSetTo(
            net:getStepModule(3):get(1).weight))
         -- the inner recurrent module is a single object, which counts its own steps
         local inner = net:getStepModule(1):get(2)
         assert.equal('nn.RecurrentStep', torch.type(inner))
         assert.equal(inner.modules[1], net:getStepModule(2):get(2).modules[1])
         for t = T, 1, -1 do assert.same({B, I}, net:backward(x[t], g[t]):size():totable()) end
         net:forget()
         for t = 1, T do same.close(again[t], net:forward(x[t]), 1e-12) end
      end)

   it('all are nn.AbstractRecurrent, as nn.StepRNN for steps, or an nn.SeqRNN', function()
      for name, parent in pairs{LSTM = 'StepRNN', GRU = 'StepRNN', Recurrent = 'AbstractRecurrent',
         StepRNN = 'AbstractRecurrent', Recursor = 'AbstractRecurrent', SeqLSTM = 'SeqRNN',
         SeqGRU = 'SeqRNN', SeqRNN = 'RNN'} do
         assert.equal(torch.getmetatable('nn.' .. parent),
            getmetatable(torch.getmetatable('nn.' .. name)), name)
      end
      local step = nn.StepRNN('CUDNN_RNN_TANH', I, H):double()
      local whole = sameWeights(nn.SeqRNN('CUDNN_RNN_TANH', I, H):double(), step)
      local x = R(T, B, I)
      local expected = whole:forward(x)
      for t = 1, T do same.close(expected[t], step:forward(x[t]), 1e-12) end
      assert.error_matches(function() step:forward(x) end, 'input wants 1 or 2 dimensions, got 3')
      assert.equal('nn.StepRNN(2 -> 3)', tostring(step))
   end)

   it('nn.Recurrent computes its definition', function()
      local start, input, feedback = nn.Add(H):double(), nn.Linear(I, H):double(),
         nn.Linear(H, H):double()
      local net = nn.Recurrent(start, input, feedback):double()
      local x, sigmoid = sequence(B, I), nn.Sigmoid():double()
      local h = sigmoid:forward(start:forward(input:forward(x[1]))):clone()
      same.close(h, net:forward(x[1]), 1e-12)
      for t = 2, T do
         h = sigmoid:forward(input:forward(x[t]):clone():add(feedback:forward(h))):clone()
         same.close(h, net:forward(x[t]), 1e-12)
      end
      assert.equal(5, #net:parameters())
      local before = input.weight:clone()
      input.gradWeight:fill(1)
      net:updateParameters(0.5)
      same.close(before - 0.5, input.weight, 1e-12)
   end)

   it('the argument rho limits how far gradients go', function()
      local net = nn.LSTM(I, H, 2):double()
      local x = sequence(B, I)
      for t = 1, T do net:forward(x[t]) end
      local g = R(B, H)
      assert.is_true(net:backward(x[4], g):abs():max() > 0)
      assert.is_true(net:backward(x[3], g):abs():max() > 0)
      assert.equal(0, net:backward(x[2], g):abs():max())
      assert.equal(0, net:backward(x[1], g):abs():max())
   end)

   it('the method remember continues from the present state, forget resets it', function()
      for _, inner in ipairs{nn.LSTM(I, H), nn.Sequential():add(nn.GRU(I, H))} do
         local net, x = nn.Sequencer(inner):double(), R(2 * T, B, I)
         local expected = net:forward(x):clone()
         net:remember()
         net:forget()
         for _, mode in ipairs{'training', 'evaluate'} do
            net[mode](net)
            same.close(expected:narrow(1, 1, T), net:forward(x:narrow(1, 1, T)), 1e-12)
            same.close(expected:narrow(1, T + 1, T), net:forward(x:narrow(1, T + 1, T)), 1e-12)
            net:forget()
         end
         net:training()
         net:remember('eval')
         for _ = 1, 2 do same.close(expected, net:forward(x), 1e-12) end
         assert.error_matches(function() net:remember('sometimes') end, "wants 'both', 'train'")
      end
      local seq, x = nn.SeqLSTM(I, H):double():remember(), R(2 * T, B, I)
      local expected = seq:forward(x):clone()
      seq:forget()
      seq:forward(x:narrow(1, 1, T))
      same.close(expected:narrow(1, T + 1, T), seq:forward(x:narrow(1, T + 1, T)), 1e-12)
   end)

   it('name forget if a batch of another size meets a remembered state', function()
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         local function x(...) return torch.randn(...):type(typename) end
         local recurrent = nn.Recurrent(I, nn.Linear(I, I), nn.Linear(I, I))
         for name, case in pairs{
            LSTM = {nn.LSTM(I, H), {2, I}, {3, I}, 3}, GRU = {nn.GRU(I, H), {2, I}, {I}, 1},
            Recurrent = {recurrent, {2, I}, {3, I}, 3},
            Recursor = {nn.Recursor(nn.Sequential():add(nn.GRU(I, H))), {2, I}, {3, I}, 3},
            SeqLSTM = {nn.SeqLSTM(I, H):remember(), {4, 2, I}, {4, 3, I}, 3},
            SeqGRU = {nn.SeqGRU(I, H, true):remember(), {2, 4, I}, {3, 4, I}, 3},
            ['Sequencer of an LSTM'] = {nn.Sequencer(nn.LSTM(I, H)):remember(), {4, 2, I},
               {4, 3, I}, 3},
            ['Sequencer of a Recurrent'] = {nn.Sequencer(recurrent:clone()):remember(), {4, 2, I},
               {4, 3, I}, 3},
         } do
            local module = case[1]:type(typename)
            local first, second = x(unpack(case[2])), x(unpack(case[3]))
            module:forward(first)
            assert.error_matches(function() module:forward(second) end, ('the remembered state is '
               .. 'of a batch of 2 rows, the input has %d: call forget() before a batch of another '
               .. 'size'):format(case[4]), 1, true)
            module:forget()
            local expected = module:forward(second):clone()
            local fresh = module:clone():forget()
            same.close(fresh:forward(second), expected, 1e-6, name)
         end
         -- as in cudnn.torch
         local plain = nn.RNN('CUDNN_GRU', I, H, 1, false, 0, true):type(typename)
         plain:forward(x(4, 2, I))
         assert.equal(3, plain:forward(x(4, 3, I)):size(2))
      end
   end)

   it('do not continue in evaluation from a state of training', function()
      for _, class in ipairs{'SeqLSTM', 'SeqGRU'} do
         local seq, x = nn[class](I, H):remember('eval'), torch.randn(T, B, I)
         local expected = seq:clone():forward(x)
         seq:training()
         seq:forward(x)
         seq:evaluate()
         same.close(expected, seq:forward(x), 1e-12)
         assert.is_true((seq:forward(x) - expected):abs():max() > 1e-3)
      end
   end)

   it('reject the field maskzero, which would have no effect', function()
      local net = nn.SeqLSTM(2, 3)
      net.maskzero = false
      net:forward(torch.zeros(2, 1, 2))
      net.maskzero = true
      assert.error_matches(function() net:forward(torch.zeros(2, 1, 2)) end,
         'nn.SeqLSTM: got maskzero = true, wanted lengths in its stead: {input, lengths}', 1, true)
   end)

   it('accept B x T if their field batchfirst is set', function()
      for _, class in ipairs{'SeqLSTM', 'SeqGRU'} do
         local plain = nn[class](I, H):float()
         local net = plain:clone()
         local x, g = torch.randn(B, T, I):float(), torch.randn(B, T, H):float()
         local function compare(one, input, gradOutput)
            for _, module in ipairs{plain, one} do module:zeroGradParameters() end
            local y = plain:forward(x:transpose(1, 2))
            local gx = plain:backward(x:transpose(1, 2), g:transpose(1, 2))
            local _, gw = one:parameters()
            same.close(y, one:forward(input:type(one:type())):float():transpose(1, 2), 1e-6)
            one:backward(input:type(one:type()), gradOutput:type(one:type()))
            same.close(gx, one.gradInput:float():transpose(1, 2), 1e-6)
            same.close(plain.gradWeight, gw[1]:float(), 1e-5)
         end
         net:forward(x:transpose(1, 2))
         net.batchfirst = true
         compare(net, x, g)
         compare(net:clone(), x, g)
         compare(torch.deserialize(torch.serialize(net)), x, g)
         compare(nn.Sequential():add(net):float(), x, g)
         if cutorch.getDeviceCount() > 1 then
            compare(nn.DataParallelTable(1, true):add(net:clone():cuda(), {1, 2}), x, g)
            local many = nn.DataParallelTable(1, true):add(plain:clone():cuda(), {1, 2})
            many:forward(x:transpose(1, 2):cuda())
            many:get(1).batchfirst = true
            for _ = 1, 2 do compare(many, x, g) end
         end
         net.batchfirst = false
         same.close(plain:forward(x:transpose(1, 2)), net:forward(x:transpose(1, 2)), 1e-6)
         -- overrides the constructor's argument
         net = nn[class](I, H, true):float()
         net.batchfirst = false
         assert.same({T, B, H}, net:forward(x:transpose(1, 2)):size():totable())
         assert.equal(2, net:inputSplit(x:transpose(1, 2)))
      end
   end)

   it('all share their parameters over steps, also when these move or are saved', function()
      local net = nn.Sequencer(nn.Sequential():add(nn.LSTM(I, H)):add(nn.Linear(H, 2)))
      local x = torch.randn(T, B, I)
      local first = net:forward(x):clone()
      local parameters, gradients = net:getParameters()
      assert.equal(4 * H * (I + H + 2) + 2 * (H + 1), parameters:nElement())
      same.bits(first, net:forward(x))
      local function step(module, input)
         module:zeroGradParameters()
         module:backward(input, module:forward(input):clone())
         module:updateParameters(0.1)
         return module:forward(input):clone()
      end
      local copy, back = net:clone(), torch.deserialize(torch.serialize(net))
      local expected = step(net, x)
      assert.is_true(gradients:abs():max() > 0)
      same.bits(expected, step(copy, x))
      same.bits(expected, step(back, x))
      local floats = x:float()
      same.close(expected, net:float():forward(floats), 1e-5)
      net:clearState()
      same.close(step(copy, x), step(net, floats), 1e-5)
   end)

   it('nn.SequencerCriterion adds losses over the steps, or averages them', function()
      for _, average in ipairs{false, true} do
         for _, make in ipairs{nn.MSECriterion, nn.AbsCriterion} do
            local one = make():double()
            local criterion = nn.SequencerCriterion(make(), average):double()
            local x, y, sum = R(T, B, I), R(T, B, I), 0
            for t = 1, T do sum = sum + one:forward(x[t], y[t]) end
            local weight = average and 1 / T or 1
            assert.near(sum * weight, criterion:forward(x, y), 1e-12)
            local gradient = criterion:backward(x, y)
            for t = 1, T do same.close(one:backward(x[t], y[t]) * weight, gradient[t], 1e-12) end
            local lists = {{}, {}}
            for t = 1, T do lists[1][t], lists[2][t] = x[t], y[t] end
            assert.near(sum * weight, criterion:forward(lists[1], lists[2]), 1e-12)
            same.close(gradient[2], criterion:backward(lists[1], lists[2])[2], 1e-12)
         end
      end
      local classes = nn.SequencerCriterion(nn.ClassNLLCriterion()):double()
      local loss = classes:forward(R(T, B, 5), torch.LongTensor(T, B):fill(2))
      assert.equal('number', type(loss))
      assert.error_matches(function() classes:forward(R(3, B, 5), torch.ones(2, B)) end,
         'the input has 3 steps, the target 2')
   end)

   it('nn.LookupTableMaskZero returns zeros for index 0, and nn.NoBackprop no gradient', function()
      local net = nn.LookupTableMaskZero(5, 2)
      local input = torch.LongTensor{{0, 3}, {5, 0}}
      local y = net:forward(input)
      same.bits(net.weight[4], y[1][2])
      assert.equal(0, y[1][1]:abs():max() + y[2][2]:abs():max())
      net:zeroGradParameters()
      net:backward(input, torch.ones(2, 2, 2))
      assert.equal(4, net.gradWeight:sum())
      assert.equal(0, net.gradWeight[1]:abs():max())
      local none, x = nn.NoBackprop(nn.Linear(2, 3)), torch.randn(4, 2)
      none:zeroGradParameters()
      none:forward(x)
      assert.equal(0, none:backward(x, torch.ones(4, 3)):abs():max())
      assert.equal(0, none:get(1).gradWeight:abs():max())
   end)
end)

same.dispatched('recurrent modules on several devices', function()
   it('train as on one', function()
      torch.manualSeed(6)
      cutorch.setDevice(1)
      local devices = same.range(math.min(4, cutorch.getDeviceCount()))
      local rows = 2 * #devices + 1
      local lookup = nn.Sequential():add(nn.LookupTableMaskZero(7, I)):add(nn.SplitTable(2))
      for _, make in ipairs{
         function() return nn.LSTM(I, H) end,
         function() return nn.Recurrent(H, nn.Linear(I, H), nn.Linear(H, H)) end,
         function() return nn.Sequential():add(nn.GRU(I, H)):add(nn.Linear(H, 2)) end,
      } do
         local net = nn.Sequential():add(lookup:clone()):add(nn.Sequencer(make()))
            :add(nn.JoinTable(2)):cuda()
         local many = nn.DataParallelTable(1, true):add(net:clone(), devices)
         net:getParameters()
         for _ = 1, 3 do
            local input = torch.LongTensor(rows, T):apply(function() return torch.random(0, 7) end)
            same.compare(net, many, input:cuda(), 1e-5)
            net:updateParameters(0.1)
            many:updateParameters(0.1)
         end
      end
   end)
end)
