--- cudnn.RNN(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates): nn.RNN with
-- cudnn.torch's constructor; the cell is max(x, 0) unless `mode` says else.
-- Invariant: its tensors are a device's from the start. A network is described by fields: scripts
-- may set mode, bidirectional, inputMode and call reset().

local torch = require 'dpt.tensor'

local RNN, parent = torch.class('cudnn.RNN', 'nn.RNN')

RNN.firstType = 'torch.CudaTensor'
RNN.firstMode = 'CUDNN_RNN_RELU'
RNN.linearLayers = {CUDNN_LSTM = 8, CUDNN_GRU = 6, CUDNN_RNN_RELU = 2, CUDNN_RNN_TANH = 2}

function RNN:__init(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates)
   self.datatype = 'CUDNN_DATA_FLOAT'
   self.sync = true
   parent.__init(self, self.firstMode, inputSize, hiddenSize, numLayers, batchFirst, dropout,
      rememberStates)
end

-- cuDNN's descriptors are made from the fields at every call, so that nothing is left to these.
for _, name in ipairs{'resetDropoutDescriptor', 'resetRNNDescriptor', 'resetWeightDescriptor',
   'resetInputDescriptor', 'resetOutputDescriptor', 'resetHiddenDescriptors',
   'resetCellDescriptors', 'clearDesc'} do
   RNN[name] = function() end
end

--- Resizes a tensor to that of states for the last call's batch.
function RNN:resizeHidden(tensor)
   return tensor:resize(self.hiddenOutput:size())
end

return RNN
