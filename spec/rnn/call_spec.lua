-- dpt.rnn.call: all forms of a recurrent module's inputs, and the form of its outputs.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local calls = require 'dpt.rnn.call'

local T, B, I, H = 4, 3, 2, 5

describe('dpt.rnn.call', function()
   local lstm, x, h, c
   before_each(function()
      lstm = nn.RNN('CUDNN_LSTM', I, H)
      x, h, c = torch.randn(T, B, I), torch.randn(1, B, H), torch.randn(1, B, H)
   end)

   it('reads a tensor, states and lengths from an input', function()
      local call = calls.read(lstm, x)
      assert.is_true(call.x:isSetTo(x))
      assert.same({false, nil, nil}, {call.states, call.hidden, call.lengths})
      call = calls.read(lstm, {x, h, c, {4, 1, 2}})
      assert.is_true(call.states and call.hidden:isSetTo(h) and call.cell:isSetTo(c))
      assert.same({4, 1, 2}, call.lengths:totable())
      call = calls.read(lstm, {x, torch.LongTensor{1, 2, 3}})
      assert.same({1, 2, 3}, call.lengths:totable())
      assert.is_false(call.states)
   end)

   it('pads packed sequences, and packs their output', function()
      local packed = lstm:packPaddedSequence(x, {4, 2, 1})
      local call = calls.read(lstm, packed)
      assert.same({T, B, I}, call.x:size():totable())
      assert.same({4, 2, 1}, call.lengths:totable())
      local y = torch.randn(T, B, H)
      local out = calls.output(lstm, call, y, h, c)
      assert.same({7, H}, out:size():totable())
      assert.same(y[1][1]:totable(), out[1]:totable())
   end)

   it('returns outputs and gradients in the form of the input', function()
      local y = torch.randn(T, B, H)
      local plain, full = calls.read(lstm, x), calls.read(lstm, {x, h, c})
      assert.equal(y, calls.output(lstm, plain, y, h, c))
      assert.same({y, h, c}, calls.output(lstm, full, y, h, c))
      assert.equal(x, calls.gradInput(lstm, plain, x, x, h, c))
      assert.same({x, h, c}, calls.gradInput(lstm, full, {x, h, c}, x, h, c))
      assert.same({x}, calls.gradInput(lstm, plain, {x, {4, 2, 1}}, x, h, c)) -- lengths have none
      assert.same({y, h, c}, {calls.readGradient(lstm, full, {y, h, c})})
   end)

   it('rejects inputs and gradients of another form by name', function()
      for wanted, input in pairs{
         ['wants a tensor or a table {x, ...} as input, got number'] = 3,
         ['input wants 3 dimensions (T x B x inputSize), got 2'] = torch.randn(4, 3),
         ['entry 2 of the input is a torch.DoubleTensor of 2 dimension(s)'] =
            {x, torch.randn(2, 2)},
         ['there are 2 lengths for 3 sequences'] = {x, {1, 2}},
      } do
         local ok, message = pcall(calls.read, lstm, input)
         assert.is_false(ok)
         assert.truthy(message:find('nn.RNN: ' .. wanted, 1, true), message)
      end
      local full = calls.read(lstm, {x, h, c})
      assert.error_matches(function() calls.readGradient(lstm, full, x) end,
         'gradOutput wants the form of the output, a table')
      assert.error_matches(function() calls.readGradient(lstm, full, {3}) end,
         'wants a tensor for the sequences, got number')
   end)
end)
