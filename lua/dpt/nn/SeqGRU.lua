--- nn.SeqGRU(inputSize, outputSize, batchFirst): cudnn.GRU's cell over whole sequences, T x B x
-- inputSize in and T x B x outputSize out.
-- What must stay true: it is an nn.RNN of one layer with the methods of the package rnn.

local torch = require 'dpt.tensor'
local remembering = require 'dpt.rnn.remembering'

local SeqGRU, parent = torch.class('nn.SeqGRU', 'nn.RNN')

function SeqGRU:__init(inputSize, outputSize, batchFirst)
   parent.__init(self, 'CUDNN_GRU', inputSize, outputSize, 1, batchFirst)
   self.inputsize, self.outputsize = inputSize, outputSize
end

function SeqGRU:updateOutput(input)
   self.rememberStates = remembering.now(self)
   return parent.updateOutput(self, input)
end

--- See nn.Sequencer.
SeqGRU.remember = remembering.set

--- The next forward begins with zeros.
function SeqGRU:forget()
   self:resetStates()
   return self
end

return SeqGRU
