-- cudnn.LSTM: all depths, directions, layouts, forms of lengths and biases; projections.
local dpt = require 'dpt'
local torch = dpt.torch
local checks = require 'spec.support.rnn_check'

local T, B, I = 3, 3, 2

checks.describe 'LSTM'

describe('cudnn.LSTM', function()
   before_each(function() torch.manualSeed(5) end)

   for _, both in ipairs{false, true} do
      it('equals a cell in plain Lua with a projection' .. (both and ' in both directions' or ''),
         function()
            checks.check(checks.make('LSTM', {layers = 2, projection = 1, both = both}), {2, 3, 1})
         end)
   end

   it('returns the same for padded sequences as for each one alone', function()
      for _, batchFirst in ipairs{false, true} do
         local lengths = {2, 3, 1}
         local rnn = checks.make('LSTM', {layers = 2, both = true, batchFirst = batchFirst})
         local x = batchFirst and torch.randn(B, T, I) or torch.randn(T, B, I)
         local y, hn = rnn:forward{x, lengths}:clone(), rnn.hiddenOutput:clone()
         local first, second = batchFirst and 2 or 1, batchFirst and 1 or 2
         for b, length in ipairs(lengths) do
            local alone = x:narrow(second, b, 1):narrow(first, 1, length):contiguous()
            checks.close(rnn:forward(alone), y:narrow(second, b, 1):narrow(first, 1, length), 1e-12,
               'sequence ' .. b)
            checks.close(rnn.hiddenOutput, hn:narrow(2, b, 1), 1e-12, 'its last state')
            if length < T then
               assert.equal(0, y:narrow(second, b, 1):narrow(first, length + 1, T - length):abs()
                  :max())
            end
         end
      end
   end)
end)
