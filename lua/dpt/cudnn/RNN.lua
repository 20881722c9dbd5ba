--- cudnn.RNN(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates): nn.RNN with
-- cudnn.torch's constructor; cells compute max(x, 0) unless the field mode selects another kind.
-- Invariant: tensors are on a device from the start. The fields mode, bidirectional and inputMode
-- describe the network; a script that changes them must call reset().

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

--- Does nothing: cuDNN's descriptors are created from the fields in every call.
-- @function cudnn.RNN:clearDesc
-- @as cudnn
-- @also cudnn.RNN:resetDropoutDescriptor()
-- @also cudnn.RNN:resetRNNDescriptor()
-- @also cudnn.RNN:resetWeightDescriptor()
-- @also cudnn.RNN:resetInputDescriptor()
-- @also cudnn.RNN:resetOutputDescriptor()
-- @also cudnn.RNN:resetHiddenDescriptors()
-- @also cudnn.RNN:resetCellDescriptors()
-- @return nothing
-- @usage local m = cudnn.RNN(2, 3, 1)
--    m:clearDesc()
--    return m:forward(torch.CudaTensor(5, 1, 2):fill(1)):size() --> 5x1x3
for _, name in ipairs{'resetDropoutDescriptor', 'resetRNNDescriptor', 'resetWeightDescriptor',
   'resetInputDescriptor', 'resetOutputDescriptor', 'resetHiddenDescriptors',
   'resetCellDescriptors', 'clearDesc'} do
   RNN[name] = function() end
end

--- Resizes a tensor to the size of the states of the last call's batch.
-- @function cudnn.RNN:resizeHidden
-- @as cudnn
-- @param tensor tensor: of any size
-- @return the tensor
-- @usage local m = cudnn.RNN(3, 5, 2)
--    m:forward(torch.CudaTensor(4, 2, 3):fill(1))
--    return m:resizeHidden(torch.CudaTensor()):size() --> 2x2x5
function RNN:resizeHidden(tensor)
   return tensor:resize(self.hiddenOutput:size())
end

--- nn.RNN with cudnn.torch's constructor, on a device; cells compute max(x, 0). The fields mode,
-- bidirectional and inputMode select other networks; call reset() after changing them.
-- @function cudnn.RNN
-- @as cudnn
-- @also cudnn.RNN.firstMode
-- @also cudnn.RNN.firstType
-- @also cudnn.RNN.linearLayers
-- @return a module; forward: T x B x inputSize -> T x B x hiddenSize
-- @usage cudnn.RNN(3, 5, 2):forward(torch.CudaTensor(4, 2, 3):fill(1)):size() --> 4x2x5

return RNN
