--- Recurrent networks on several devices: results equal one device, and weights stay one block.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local same = require 'spec.support.parallel'

local T, I, H = 4, 3, 5

same.dispatched('recurrent networks in a DataParallelTable', function()
   local most = same.most(4)
   same.seeded(9)

   local function wrap(net, devices, dimension)
      return nn.DataParallelTable(dimension or 1, true):add(net:clone(), same.range(devices))
   end

   local function random(...) return torch.randn(...):cuda() end

   -- Returns {x, h0, c0, lengths} for B sequences of unsorted lengths.
   local function inputFor(rnn, B)
      local layers, lengths = rnn.numLayers * rnn.numDirections, {}
      for b = 1, B do lengths[b] = 1 + (b * 5) % T end
      local x = rnn.batchFirst and random(B, T, I) or random(T, B, I)
      if rnn.mode ~= 'CUDNN_LSTM' then return {x, random(layers, B, H), lengths} end
      return {x, random(layers, B, H), random(layers, B, H), lengths}
   end

   local function neverCompacted(many)
      many.impl:exec(function(replica, i)
         for _, module in ipairs(replica:listModules()) do
            assert((module.compactions or 0) == 0, 'replica ' .. i .. ' compacted weights')
         end
      end)
   end

   for _, class in ipairs{'RNNTanh', 'BLSTM', 'GRU'} do
      for _, batchFirst in ipairs{false, true} do
         it(('%s%s splits sequences, states and lengths, each along its dimension'):format(class,
            batchFirst and ', batch first' or ''), function()
            for devices = 1, most do
               local rnn = cudnn[class](I, H, 2, batchFirst)
               local many = wrap(rnn, devices)
               for _, B in ipairs{2 * devices + 1, 1, devices} do
                  same.compare(rnn, many, inputFor(rnn, B), 1e-5)
                  local x = inputFor(rnn, B)[1]
                  same.compare(rnn, many, x, 1e-5)
                  same.compare(rnn, many, {x, torch.LongTensor(inputFor(rnn, B)[3 +
                     (class == 'BLSTM' and 1 or 0)])}, 1e-5)
               end
               neverCompacted(many)
            end
         end)
      end
   end

   it('are synced by the bytes of their weights, and by none without a change', function()
      local rnn = cudnn.LSTM(I, H, 2)
      local many = wrap(rnn, most)
      local x = random(T, 2 * most, I)
      many:forward(x)
      for _ = 1, 3 do
         many:zeroGradParameters()
         same.pass(many, x)
         many:updateParameters(0.1)
         local before = same.copied()
         many:syncParameters()
         assert.equal((most - 1) * 4 * many:get(1).weight:nElement(), same.copied() - before)
         before = same.copied()
         many:syncParameters()
         assert.equal(before, same.copied())
      end
      neverCompacted(many)
   end)

   it('train a whole network, from words to words, as one device does', function()
      local B, words = 2 * most + 1, 7
      local net = nn.Sequential():add(nn.LookupTable(words, I))
         :add(cudnn.BLSTM(I, H, 2, true)):add(nn.Bottle(nn.Linear(2 * H, words)))
         :add(nn.Transpose({2, 3})):cuda()
      local many, one = wrap(net, most), net
      one:getParameters()
      local input = torch.LongTensor(B, T):apply(function() return torch.random(words) end):cuda()
      for _ = 1, 3 do
         same.compare(one, many, input, 2e-5)
         one:updateParameters(0.5)
         many:updateParameters(0.5)
      end
      same.close(one:parameters(), many:get(1):parameters(), 2e-5)
      neverCompacted(many)
      for _, module in ipairs(many:get(1):listModules()) do
         if module.weights then assert.is_true(module.weight:isContiguous()) end
      end
   end)

   it('keep remembered states with their sequences', function()
      for _, batchFirst in ipairs{false, true} do
         local rnn = cudnn.LSTM(I, H, 1, batchFirst, 0, true)
         local many, B = wrap(rnn, most), 2 * most
         for _ = 1, 3 do
            local x = batchFirst and random(B, T, I) or random(T, B, I)
            same.compare(rnn, many, x, 1e-5)
         end
         assert.is_true(rnn.hiddenInput:abs():max() > 0)
      end
   end)

   it('remember and forget as a network does', function()
      local net = nn.Sequential():add(nn.SeqLSTM(I, H)):add(nn.Sequencer(nn.LSTM(H, 2))):cuda()
      net:get(1).batchfirst = true
      net = nn.Sequential():add(net:get(1)):add(nn.Transpose{1, 2}):add(net:get(2))
         :add(nn.Transpose{1, 2}):cuda()
      local many, x = wrap(net, most, 1), random(2 * most, T, I)
      for _, mode in ipairs{'both', 'neither'} do
         assert.equal(net, net:remember(mode))
         assert.equal(many, many:remember(mode))
         local first
         for _ = 1, 3 do
            same.compare(net, many, x, 1e-5)
            first = first or net.output:clone()
         end
         assert.equal(mode == 'both', (net.output - first):abs():max() > 0)
         assert.equal(net, net:forget())
         assert.equal(many, many:forget())
         same.compare(net, many, x, 1e-5)
         same.close(first, net.output, 0)
      end
      assert.error_matches(function() many:remember 'always' end,
         "remember wants 'both', 'train', 'eval' or 'neither', got always")
   end)

   it('drop the same elements between layers as one device', function()
      for _, batchFirst in ipairs{false, true} do
         local rnn = cudnn.GRU(I, H, 3, batchFirst, 0.5)
         local many, B = wrap(rnn, most, batchFirst and 1 or 2), 2 * most + 1
         for _ = 1, 2 do
            local x = batchFirst and random(B, T, I) or random(T, B, I)
            same.compare(rnn, many, x, 1e-5)
         end
         local x = batchFirst and random(B, T, I) or random(T, B, I)
         local first = rnn:forward(x):clone()
         assert.is_true((rnn:forward(x) - first):abs():max() > 0) -- a new mask
      end
   end)

   it('are joined along the dimension of the split, whatever modules follow', function()
      local function both() return nn.ParallelTable():add(nn.Identity()):add(nn.Tanh()) end
      local x = random(T, 2 * most, I)
      for _, make in ipairs{
         function() return nn.SeqLSTM(I, H), nn.Sequencer(nn.Linear(H, 2)) end,
         function() return cudnn.LSTM(I, H, 1), nn.Dropout(0), nn.Bottle(nn.Linear(H, 2)) end,
         function() return nn.SeqGRU(I, H), nn.Tanh(), nn.Sequential():add(nn.Identity()) end,
         function() return nn.Sequencer(nn.Linear(I, H)), nn.Sequencer(nn.LSTM(H, 2)) end,
         function() return nn.SeqGRU(I, H), nn.Transpose{1, 2}, nn.Contiguous() end,
         function() return nn.SeqGRU(I, H), nn.Transpose({1, 3}, {2, 3}) end,
         function() return nn.SeqGRU(I, H), nn.Select(1, -1), nn.Linear(H, 2) end,
         function() return nn.SeqGRU(I, H), nn.ConcatTable():add(nn.Identity()):add(nn.Tanh()),
            nn.CAddTable() end,
         function()
            return nn.SeqGRU(I, H), nn.ConcatTable():add(nn.Identity()):add(nn.Identity()), both(),
               nn.SelectTable(2)
         end,
      } do
         local net = nn.Sequential()
         for _, module in ipairs{make()} do net:add(module) end
         same.compare(net:cuda(), wrap(net, most), x, 1e-5)
      end
      local last = nn.ConcatTable():add(nn.Identity()):add(nn.Select(1, -1))
      for index, k in pairs{[2] = 1, [-1] = 1, [1] = 2} do
         local net = nn.Sequential():add(nn.SeqLSTM(I, H)):add(last:clone())
            :add(nn.SelectTable(index))
         same.compare(net:cuda(), wrap(net, most), x, 1e-5)
         assert.equal(2 * most, net.output:size(k))
      end
      local flat = nn.Sequential():add(nn.SeqLSTM(I, H)):add(nn.View(-1, H)):cuda()
      local loose = nn.DataParallelTable(1, true, false, {gather = false})
         :add(flat:clone(), same.range(most))
      assert.equal(most, #loose:forward(x)) -- outputs are not joined
      local square = nn.Sequential():add(nn.SeqLSTM(I, H)):add(nn.Narrow(1, 1, 2)):cuda()
      local words = nn.Sequential():add(nn.LookupTable(5, I)):add(nn.SeqLSTM(I, H)):cuda()
      for size, case in pairs{['8x5'] = {flat, x}, ['2x2x5'] = {square, x},
         ['1x3x5'] = {words, torch.LongTensor(most, 3):fill(1)}} do
         assert.error_matches(function() wrap(case[1], most):forward(case[2]) end, 'the input was'
            .. ' cut along dimension %d and outputs would be joined along dimension %d, but for %d'
            .. ' of it that of replica 1 is of size ' .. size)
      end
   end)

   it('leave sequences where they are with gather = false', function()
      local rnn = cudnn.LSTM(I, H)
      local many = nn.DataParallelTable(1, true, false, {gather = false})
         :add(rnn:clone(), same.range(most))
      local x = random(T, 2 * most, I)
      local shares = many:forward(x)
      for i = 1, most do assert.same({T, 2, H}, shares[i]:size():totable()) end
      local expected = rnn:forward(x)
      for i = 1, most do same.close(expected:narrow(2, 2 * i - 1, 2), shares[i], 1e-5) end
   end)

   it('reject packed sequences and name the forms that can be split', function()
      local many = wrap(cudnn.LSTM(I, H), most)
      assert.error_matches(function() many:forward{random(5, I), {2, 2, 1}} end,
         'packed sequences cannot be split: give {x, lengths}', 1, true)
   end)
end)
