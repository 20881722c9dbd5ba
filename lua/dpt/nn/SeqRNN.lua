--- nn.SeqRNN(mode, inputSize, outputSize, batchFirst): applies one recurrent layer, with a cell of
-- cudnn.RNN, to whole sequences of sizes T x B x inputSize; output sizes are T x B x outputSize.
-- nn.SeqLSTM and nn.SeqGRU derive from it. For B x T, set the field batchfirst of the package rnn
-- at any time. The field maskzero is rejected.
-- Invariant: it is an nn.RNN with the methods of the package rnn. Unless batchfirst is nil, it
-- overrides batchFirst in the next forward.
-- @function nn.SeqRNN
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize -> T x B x outputSize
-- @usage nn.SeqRNN('CUDNN_RNN_TANH', 3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local torch = require 'dpt.tensor'
local remember = require 'dpt.rnn.remember'
local fail = require('dpt.ffi').fail

local SeqRNN, parent = torch.class('nn.SeqRNN', 'nn.RNN')

function SeqRNN:__init(mode, inputSize, outputSize, batchFirst)
   parent.__init(self, mode, inputSize, outputSize, 1, batchFirst)
   self.inputsize, self.outputsize = inputSize, outputSize
end

-- Applies the fields of the package rnn to nn.RNN's.
local function readFields(self)
   if self.maskzero then
      fail('%s: got maskzero = %s, wanted lengths in its stead: {input, lengths} ends each sequence'
         .. ' where its padding begins', torch.type(self), tostring(self.maskzero))
   end
   if self.batchfirst ~= nil then self.batchFirst = self.batchfirst end
end

function SeqRNN:updateOutput(input)
   readFields(self)
   self.rememberStates = remember.isEnabled(self)
   return parent.updateOutput(self, input)
end

--- Returns the split of nn.RNN, for the order that the field batchfirst selects.
function SeqRNN:inputSplit(input)
   readFields(self)
   return parent.inputSplit(self, input)
end

--- Sets whether the state carries over from one sequence to the next. The modes 'train' and 'eval'
-- carry it over only during training or only during evaluation.
-- @function nn.SeqRNN:remember
-- @as recurrent
-- @within nn recurrent
-- @also nn.Sequencer:remember()
-- @param mode? string: 'both', 'train', 'eval' or 'neither' ('both')
-- @return the module
-- @usage nn.SeqLSTM(2, 3):remember('neither'):forward(torch.ones(1, 1, 2)):size() --> 1x1x3
SeqRNN.remember = remember.setMode

-- A state does not carry over from evaluation to training, nor from training to evaluation.
for method, train in pairs{training = true, evaluate = false} do
   SeqRNN[method] = function(self)
      if self.rememberMode and (self.train ~= false) ~= train then self:forget() end
      return parent[method](self)
   end
end

return SeqRNN
