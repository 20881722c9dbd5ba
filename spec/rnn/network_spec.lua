-- dpt.rnn.network: describes a module for the C library, using fields with cudnn.torch's names.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local network = require 'dpt.rnn.network'

local function make(mode, ...) return nn.RNN(mode, ...):float() end

describe('dpt.rnn.network', function()
   it('describes a module by its present fields', function()
      local rnn = make('CUDNN_GRU', 3, 4, 2)
      local struct = network.describe(rnn)
      assert.same({3, 4, 2, 1, 0, 0}, {struct.input, struct.hidden, struct.layers,
         struct.directions, struct.batch_first, struct.projection})
      rnn.bidirectional, rnn.batchFirst, rnn.numLayers = 'CUDNN_BIDIRECTIONAL', true, 5
      struct = network.describe(rnn)
      assert.same({2, 1, 5}, {struct.directions, struct.batch_first, struct.layers})
      assert.equal(0, network.describe(rnn, false).batch_first)
   end)

   it("lays out every part of a weight on the host as cuDNN did, and files do: no gaps", function()
      for mode, gates in pairs{CUDNN_RNN_RELU = 1, CUDNN_RNN_TANH = 1, CUDNN_LSTM = 4,
         CUDNN_GRU = 3} do
         local rnn = make(mode, 3, 4, 2)
         local places, total = network.layout(rnn, rnn.weight), 0
         for i, place in ipairs(places) do -- by layer and number; matrices, then biases
            assert.equal(total + 1, place.first)
            assert.equal((i - 1) % (2 * gates) + 1, place.id)
            total = total + network.count(place)
         end
         assert.equal(2 * gates * 2 * 2, #places) -- matrices and biases, of x and of h, 2 layers
         assert.equal(rnn.weight:nElement(), total)
         assert.equal(total, network.size(rnn, rnn.weight))
         assert.same({4, 3}, {places[1].rows, places[1].columns})
         assert.is_nil(places[#places].columns)
      end
   end)

   it('draws another number for each call, reproducible by a seed', function()
      local x = torch.CudaTensor(4, 2, 3):fill(1)
      dpt.cutorch.manualSeed(3)
      local first, second = network.draw(x, 2), network.draw(x, 2)
      assert.is_true(first ~= second)
      dpt.cutorch.manualSeed(3)
      assert.equal(first, network.draw(x, 2))
   end)

   it('rejects invalid values of fields, and lists the valid ones', function()
      local rnn = make('CUDNN_LSTM', 3, 4)
      for field, case in pairs{
         mode = {'LSTM', 'nn.RNN: mode is LSTM, wanted one of CUDNN_GRU, CUDNN_LSTM'},
         biasMode = {1, 'biasMode is 1, wanted one of CUDNN_RNN_DOUBLE_BIAS'},
         bidirectional = {true, 'bidirectional is true, wanted one of CUDNN_BIDIRECTIONAL'},
         numLayers = {0, 'numLayers wants to be a whole number from 1, got 0'},
         hiddenSize = {2.5, 'hiddenSize wants to be a whole number from 1, got 2.5'},
         projSize = {-1, 'projSize wants to be a whole number from 0, got %-1'},
      } do
         local before = rnn[field]
         rnn[field] = case[1]
         assert.error_matches(function() network.describe(rnn) end, case[2])
         rnn[field] = before
      end
   end)
end)
