--- nn.SeqRNN(mode, inputSize, outputSize, batchFirst): one layer of a cudnn.RNN's cell over whole
-- sequences, T x B x inputSize in and T x B x outputSize out; what nn.SeqLSTM and nn.SeqGRU are.
-- Invariant: it is an nn.RNN with the methods of the package rnn.
-- @function nn.SeqRNN
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize -> T x B x outputSize
-- @usage nn.SeqRNN('CUDNN_RNN_TANH', 3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'
local remembering = require 'dpt.rnn.remembering'

local SeqRNN, parent = torch.class('nn.SeqRNN', 'nn.RNN')

function SeqRNN:__init(mode, inputSize, outputSize, batchFirst)
   parent.__init(self, mode, inputSize, outputSize, 1, batchFirst)
   self.inputsize, self.outputsize = inputSize, outputSize
end

function SeqRNN:updateOutput(input)
   self.rememberStates = remembering.now(self)
   return parent.updateOutput(self, input)
end

--- See nn.Sequencer.
SeqRNN.remember = remembering.set

--- The next forward begins with zeros.
function SeqRNN:forget()
   self:resetStates()
   return self
end

return SeqRNN
