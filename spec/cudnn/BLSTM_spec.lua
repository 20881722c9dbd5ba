-- cudnn.BLSTM: cudnn.LSTM in both directions.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn
local checks = require 'spec.support.rnn_check'

describe('cudnn.BLSTM', function()
   before_each(function() torch.manualSeed(5) end)

   it('is a cudnn.LSTM whose fields say that it has two directions', function()
      local rnn = cudnn.BLSTM(2, 3, 2)
      assert.is_true(torch.isTypeOf(rnn, 'cudnn.LSTM'))
      assert.same({2, 'CUDNN_BIDIRECTIONAL', 'CUDNN_LSTM'},
         {rnn.numDirections, rnn.bidirectional, rnn.mode})
      assert.equal(6, rnn:forward(torch.CudaTensor(4, 5, 2):fill(1)):size(3))
   end)

   it('equals a cell in plain Lua', function()
      checks.check(checks.make('BLSTM', {layers = 2}), {2, 3, 1})
   end)

   it('computes what cudnn.LSTM does after bothDirections()', function()
      local one, other = cudnn.BLSTM(2, 3), cudnn.LSTM(2, 3)
      other:bothDirections()
      other.weight:copy(one.weight)
      local x = torch.randn(4, 5, 2):cuda()
      assert.equal(0, (one:forward(x) - other:forward(x)):abs():max())
   end)
end)
