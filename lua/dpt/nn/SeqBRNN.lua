--- nn.SeqBRNN(inputSize, outputSize, batchFirst, merge): applies a bidirectional LSTM to whole
-- sequences. `merge`, by default nn.CAddTable, combines the outputs of both directions.
-- Invariant: modules are a bidirectional nn.RNN, an nn.ConcatTable that separates the directions,
-- and the merging module.
-- @function nn.SeqBRNN
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize -> T x B x outputSize
-- @usage nn.SeqBRNN(3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local SeqBRNN, parent = torch.class('nn.SeqBRNN', 'nn.Sequential')

function SeqBRNN:__init(inputSize, outputSize, batchFirst, merge)
   parent.__init(self)
   self:add(nn.RNN('CUDNN_LSTM', inputSize, outputSize, 1, batchFirst):bothDirections())
   self:add(nn.ConcatTable():add(nn.Narrow(3, 1, outputSize))
      :add(nn.Narrow(3, outputSize + 1, outputSize)))
   self:add(merge or nn.CAddTable())
end

--- Returns the split of the bidirectional nn.RNN.
function SeqBRNN:outputSplit()
   return self.modules[1]:outputSplit()
end

return SeqBRNN
