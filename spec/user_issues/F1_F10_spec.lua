--- Requests of users of recurrent networks: docs/user-issues.md, section "Recurrent networks".
local dpt = require 'dpt'
local torch, nn, cudnn, cutorch = dpt.torch, dpt.nn, dpt.cudnn, dpt.cutorch
local same = require 'spec.support.parallel'
local weights = require 'dpt.rnn.weights'

-- Checks that every named view shows its part of the weight: each element of the weight is in
-- exactly one view, and a write to either is visible in the other.
local function checkViews(rnn)
   local total = 0
   for _, lists in ipairs{rnn:weights(), rnn:biases()} do
      assert.equal(rnn.numLayers * rnn.numDirections, #lists)
      for layer, list in ipairs(lists) do
         for id, vector in ipairs(list) do
            vector:fill(1000 * layer + id)
            total = total + vector:nElement()
         end
      end
   end
   assert.equal(rnn.weight:nElement(), total)
   local w, b = rnn:weights()[2], rnn:biases()[2]
   assert.equal(2002, w.input.f[1][1])
   assert.equal(2007, w.recurrent.g[2][1])
   assert.equal(2008, b.recurrent.o[1])
   w.input.o:fill(7)
   assert.equal(7, rnn:weights()[2][4][1])
   assert.equal(w.input.o:nElement(), rnn.weight:eq(7):sum())
   rnn.weight:zero()
   assert.equal(0, w.input.o:abs():max())
   assert.equal(0, rnn.compactions)
end

describe('F:', function()
   same.seeded(3)

   it('F1: views of the weights after flatten, cast, move, share, clone, replicate', function()
      local rnn = cudnn.BLSTM(3, 4, 2)
      checkViews(rnn)
      local net = nn.Sequential():add(nn.Linear(2, 3):cuda()):add(rnn)
      checkViews(rnn)
      local flat = net:getParameters()
      checkViews(rnn)
      rnn.weight:fill(2)
      assert.equal(2, flat[flat:nElement()])
      net:double()
      checkViews(rnn)
      net:float():cuda()
      checkViews(rnn)
      net:getParameters()
      checkViews(net:clone():get(2))
      checkViews(net:get(2))
      local other = cudnn.BLSTM(3, 4, 2)
      checkViews(other)
      other:share(rnn, 'weight', 'gradWeight')
      checkViews(other)
      rnn.weight:fill(5)
      assert.equal(5, other:weights()[1].input.i[1][1])
      local many = nn.DataParallelTable(1, true):add(net, same.range(math.min(3,
         cutorch.getDeviceCount())))
      many:syncParameters()
      many.impl:exec(function(replica) checkViews(replica:get(2)) end)
      if cutorch.getDeviceCount() > 1 then
         checkViews(nn.utils.moveTo(rnn:clone(), 2))
      end
   end)

   it('F1: gradients have views, too', function()
      local rnn = cudnn.GRU(3, 4)
      local x = torch.randn(5, 2, 3):cuda()
      rnn:forward(x)
      rnn:backward(x, rnn.output:clone())
      local sum = 0
      for _, lists in ipairs{rnn:gradWeights()[1], rnn:gradBiases()[1]} do
         for _, t in ipairs(lists) do sum = sum + t:double():abs():sum() end
      end
      assert.near(rnn.gradWeight:double():abs():sum(), sum, 1e-4)
      assert.same({4, 4}, rnn:gradWeights()[1].recurrent.n:size():totable())
   end)

   it('F2: counts do not depend on the default type', function()
      local default = torch.getdefaulttensortype()
      for _, typename in ipairs{'torch.FloatTensor', 'torch.DoubleTensor'} do
         torch.setdefaulttensortype(typename)
         local ok, count = pcall(function() return cudnn.LSTM(1001, 1003).weight:nElement() end)
         torch.setdefaulttensortype(default)
         assert.is_true(ok, count)
         assert.equal(4 * 1003 * (1001 + 1003 + 2), count)
      end
   end)

   it('F3: places come from the library, with memory that is nowhere near its start', function()
      local storage = torch.FloatTensor(100000):fill(-1)
      local rnn = nn.RNN('CUDNN_LSTM', 3, 4, 2):float()
      local size = rnn.weight:nElement()
      rnn.weight:set(storage:storage(), 70001, size)
      for layer, list in ipairs(rnn:weights()) do
         for id, vector in ipairs(list) do vector:fill(10 * layer + id) end
      end
      assert.equal(100000 - size, storage:eq(-1):sum() - rnn.weight:eq(-1):sum())
      assert.is_true(rnn:weights()[2].recurrent.o:storageOffset() > 70000)
   end)

   it('F4: lengths in any order; padding is worth nothing', function()
      local rnn = cudnn.BGRU(3, 4, 2)
      local x, lengths = torch.randn(5, 3, 3):cuda(), {2, 5, 3}
      local y = rnn:forward{x, lengths}:clone()
      local noise = x:clone()
      noise:narrow(1, 3, 3):select(2, 1):fill(1e30)
      noise:narrow(1, 4, 2):select(2, 3):fill(0 / 0)
      same.bits(y, rnn:forward{noise, lengths})
      rnn:zeroGradParameters()
      local gradInput = rnn:backward({noise, lengths}, y)[1]
      assert.equal(0, gradInput:narrow(1, 3, 3):select(2, 1):abs():max())
      assert.is_true(rnn.gradWeight:eq(rnn.gradWeight):min() == 1) -- no NaN
   end)

   it('F5: states are set, remembered and reset', function()
      local rnn = cudnn.LSTM(3, 4, 1, false, 0, true)
      local x = torch.randn(6, 2, 3):cuda()
      local whole = rnn:forward(x):clone()
      rnn:resetStates()
      local first = rnn:forward(x:narrow(1, 1, 2)):clone()
      same.close(whole:narrow(1, 1, 2), first, 1e-6)
      same.close(whole:narrow(1, 3, 4), rnn:forward(x:narrow(1, 3, 4)), 1e-6)
      rnn:resetStates()
      same.close(whole, rnn:forward(x), 1e-6)
      rnn:forward(x:narrow(2, 1, 1)) -- a batch of another size starts with zeros
      same.close(whole:narrow(2, 1, 1), rnn.output, 1e-6)

      rnn = cudnn.LSTM(3, 4)
      local h, c = torch.randn(1, 2, 4):cuda(), torch.randn(1, 2, 4):cuda()
      local expected = rnn:forward{x, h, c}[1]:clone()
      rnn:setStates(h, c)
      same.bits(expected, rnn:forward(x))
      rnn.gradHiddenOutput = h
      rnn:backward(x, expected)
      assert.same({1, 2, 4}, rnn.gradHiddenInput:size():totable())
      assert.is_true(rnn.gradCellInput:abs():max() > 0)
      rnn:resetStates()
      assert.is_nil(rnn.hiddenInput)
      assert.is_nil(rnn.gradHiddenOutput)
   end)

   it('F8: a replica knows its parameters, type and device in its own forward', function()
      local Spy = cudnn.GRU(3, 4)
      function Spy:updateOutput(input)
         local parameters, gradients = self:parameters()
         self.seen = {#parameters, #gradients, self:type(), self.weight:getDevice()}
         return cudnn.GRU.updateOutput(self, input)
      end
      local devices = same.range(math.min(4, cutorch.getDeviceCount()))
      local many = nn.DataParallelTable(1, true):add(Spy, devices)
      many:forward(torch.randn(5, #devices, 3):cuda())
      local seen = many.impl:exec(function(replica) return replica.seen end)
      for i in ipairs(devices) do assert.same({1, 1, 'torch.CudaTensor', i}, seen[i]) end
   end)

   it('F9: weights go out and in by name and by one order', function()
      for _, class in ipairs{'LSTM', 'GRU', 'RNNTanh'} do
         local from, to = cudnn[class](3, 4, 2), cudnn[class](3, 4, 2)
         for _, side in ipairs{'weights', 'biases'} do
            for layer, list in ipairs(to[side](to)) do
               for id, vector in ipairs(list) do vector:copy(from[side](from)[layer][id]) end
            end
         end
         same.bits(from.weight, to.weight)
         -- weights in a file: the matrices of layer 1 by number, then layer 2's, then biases
         local flat, at = weights.toFile(from, from.weight), 0
         for _, side in ipairs{'weights', 'biases'} do
            for _, list in ipairs(from[side](from)) do
               for _, vector in ipairs(list) do
                  same.bits(vector, flat:narrow(1, at + 1, vector:nElement()))
                  at = at + vector:nElement()
               end
            end
         end
         assert.equal(at, flat:nElement())
      end
   end)

   it('F10: a weight that a script sets to other memory is taken in again, once', function()
      local rnn, x = cudnn.LSTM(3, 4), torch.randn(5, 2, 3):cuda()
      local dropped = torch.randn(4, 4):cuda()
      rnn:weights()[1].recurrent.f:set(dropped)
      rnn:forward(x)
      assert.equal(1, rnn.compactions)
      same.bits(dropped:view(-1), rnn:weights()[1][6])
      rnn:forward(x)
      rnn:flattenParameters()
      assert.equal(1, rnn.compactions)
      dropped:zero() -- the network no longer uses it
      assert.is_true(rnn:weights()[1].recurrent.f:abs():max() > 0)
      rnn:biases()[1].input.i = torch.CudaTensor(4):fill(3)
      rnn:flattenParameters()
      assert.equal(2, rnn.compactions)
      assert.equal(4, rnn.weight:eq(3):sum())
      rnn:weights()[1].recurrent.f = torch.CudaTensor(3)
      assert.error_matches(function() rnn:forward(x) end, 'replaced by a torch.CudaTensor of 3', 1,
         true)
   end)
end)

same.dispatched('F6, F7:', function()
   it('F6: states are split along the batch, their second dimension', function()
      local devices = same.range(math.min(4, cutorch.getDeviceCount()))
      local rnn, B = cudnn.GRU(3, 4, 2, true), 2 * #devices + 1
      local many = nn.DataParallelTable(1, true):add(rnn:clone(), devices)
      local input = {torch.randn(B, 5, 3):cuda(), torch.randn(2, B, 4):cuda()}
      same.compare(rnn, many, input, 1e-5)
      local sizes = many.impl:exec(function(replica) return replica.hiddenOutput:size(2) end)
      local sum = 0
      for i in ipairs(devices) do sum = sum + sizes[i] end
      assert.equal(B, sum)
      assert.same({2, B, 4}, many.output[2]:size():totable())
   end)

   it('F7: a replica\'s weights are one chunk of its flat buffer, and nothing is copied', function()
      local devices = same.range(math.min(4, cutorch.getDeviceCount()))
      local net = nn.Sequential():add(cudnn.LSTM(3, 4, 2)):add(cudnn.GRU(4, 2)):cuda()
      local many = nn.DataParallelTable(1, true):add(net, devices)
      local x = torch.randn(5, 2 * #devices, 3):cuda()
      for _ = 1, 3 do
         many:zeroGradParameters()
         many:backward(x, many:forward(x):clone())
         many:updateParameters(0.1)
      end
      local report = many.impl:exec(function(replica)
         local list, storage = {}, nil
         for i, rnn in ipairs(replica.modules) do
            storage = storage or rnn.weight:storage()
            list[i] = {rnn.compactions, rnn.weight:isContiguous(), rnn.weight:storage() == storage}
         end
         return list
      end)
      for i in ipairs(devices) do assert.same({{0, true, true}, {0, true, true}}, report[i]) end
   end)
end)
