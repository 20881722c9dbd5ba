--- nn.SeqRNN(mode, inputSize, outputSize, batchFirst): one layer of a cudnn.RNN's cell over whole
-- sequences, T x B x inputSize in and T x B x outputSize out; what nn.SeqLSTM and nn.SeqGRU are.
-- The field batchfirst of the package rnn may be set at any time, for B x T; maskzero is rejected.
-- Invariant: it is an nn.RNN with the methods of the package rnn. Unless batchfirst is nil, it
-- says, instead of batchFirst, what comes first in the next forward.
-- @function nn.SeqRNN
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize -> T x B x outputSize
-- @usage nn.SeqRNN('CUDNN_RNN_TANH', 3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'
local remembering = require 'dpt.rnn.remembering'
local fail = require('dpt.ffi').fail

local SeqRNN, parent = torch.class('nn.SeqRNN', 'nn.RNN')

function SeqRNN:__init(mode, inputSize, outputSize, batchFirst)
   parent.__init(self, mode, inputSize, outputSize, 1, batchFirst)
   self.inputsize, self.outputsize = inputSize, outputSize
end

-- What the fields of the package rnn say, for nn.RNN.
local function readFields(self)
   if self.maskzero then
      fail('%s: got maskzero = %s, wanted lengths in its stead: {input, lengths} ends each sequence'
         .. ' where its padding begins', torch.type(self), tostring(self.maskzero))
   end
   if self.batchfirst ~= nil then self.batchFirst = self.batchfirst end
end

function SeqRNN:updateOutput(input)
   readFields(self)
   self.rememberStates = remembering.now(self)
   return parent.updateOutput(self, input)
end

--- As that of nn.RNN, by the field batchfirst.
function SeqRNN:inputSplit(input)
   readFields(self)
   return parent.inputSplit(self, input)
end

--- Whether sequences are parts of longer ones, whose states go on.
-- @function nn.SeqRNN:remember
-- @as recurrent
-- @within nn recurrent
-- @also nn.Sequencer:remember()
-- @param mode? string: 'both', 'train', 'eval' or 'neither' ('both')
-- @return the module
-- @usage nn.SeqLSTM(2, 3):remember('neither'):forward(torch.ones(1, 1, 2)):size() --> 1x1x3
SeqRNN.remember = remembering.set

-- Training does not go on from a state of evaluation, nor evaluation from one of training.
for method, train in pairs{training = true, evaluate = false} do
   SeqRNN[method] = function(self)
      if self.rememberMode and (self.train ~= false) ~= train then self:forget() end
      return parent[method](self)
   end
end

return SeqRNN
