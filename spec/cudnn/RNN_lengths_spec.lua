--- cudnn.RNN with batches of varying lengths, without sequences, and without steps.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn
local same = require 'spec.support.parallel'

local T, B, I, H = 4, 3, 2, 3

local function random(...) return torch.randn(...):cuda() end

describe('cudnn.RNN', function()
   same.seeded(8)

   it('has the memory for whole sequences after shorter ones', function()
      for _, class in ipairs{'RNNTanh', 'GRU', 'BLSTM'} do
         local rnn = cudnn[class](I, H, 2)
         local x = random(T, B, I)
         rnn:forward{x, {1, 2, 1}}
         rnn:backward({x, {1, 2, 1}}, rnn.output)
         local host = rnn:clone():double()
         local y = rnn:forward(x)
         same.close(host:forward(x:double()), y, 1e-5)
         same.close(host:backward(x:double(), y:double()), rnn:backward(x, y), 1e-5)
      end
   end)

   it('accepts zero sequences and zero steps, which do not change states', function()
      for _, kind in ipairs{'Cuda', 'CudaDouble', 'Float'} do
         local typename = ('torch.%sTensor'):format(kind)
         local rnn = cudnn.BLSTM(I, H, 2):type(typename)
         local function states() return torch.randn(4, B, H):type(typename) end
         rnn:zeroGradParameters()
         for _, sizes in ipairs{{T, 0, I}, {0, B, I}} do
            local x = torch.Tensor(torch.LongStorage(sizes)):type(typename)
            rnn:resetStates()
            assert.same({sizes[1], sizes[2], 2 * H}, rnn:forward(x):size():totable())
            assert.same(sizes, rnn:backward(x, rnn.output:clone()):size():totable())
         end
         local x = torch.Tensor(0, B, I):type(typename)
         rnn.hiddenInput, rnn.cellInput = states(), states()
         rnn.gradHiddenOutput, rnn.gradCellOutput = states(), states()
         rnn:backward(x, rnn:forward(x):clone())
         same.bits(rnn.hiddenInput, rnn.hiddenOutput)
         same.bits(rnn.cellInput, rnn.cellOutput)
         same.bits(rnn.gradHiddenOutput, rnn.gradHiddenInput)
         same.bits(rnn.gradCellOutput, rnn.gradCellInput)
         assert.equal(0, rnn.gradWeight:abs():max())
         rnn:resetStates()
         rnn:forward(x)
         assert.equal(0, rnn.hiddenOutput:abs():max())
      end
   end)
end)
