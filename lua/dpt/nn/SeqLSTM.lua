--- nn.SeqLSTM(inputSize, outputSize, batchFirst): cudnn.LSTM's cell over whole sequences, T x B x
-- inputSize in and T x B x outputSize out.
-- What must stay true: it is an nn.RNN of one layer with the methods of the package rnn.

local torch = require 'dpt.tensor'
local remembering = require 'dpt.rnn.remembering'

local SeqLSTM, parent = torch.class('nn.SeqLSTM', 'nn.RNN')

function SeqLSTM:__init(inputSize, outputSize, batchFirst)
   parent.__init(self, 'CUDNN_LSTM', inputSize, outputSize, 1, batchFirst)
   self.inputsize, self.outputsize = inputSize, outputSize
end

function SeqLSTM:updateOutput(input)
   self.rememberStates = remembering.now(self)
   return parent.updateOutput(self, input)
end

--- See nn.Sequencer.
SeqLSTM.remember = remembering.set

--- The next forward begins with zeros.
function SeqLSTM:forget()
   self:resetStates()
   return self
end

return SeqLSTM
