--- nn.RNN(mode, inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates): recurrent
-- layers over whole sequences; base class of cudnn.RNN and nn.SeqLSTM.
--
--    input                                             output
--    x  T x B x inputSize (B x T with batchFirst)      y  T x B x width
--    {x, h0 [, c0]}, the states before the first step  {y, hn [, cn]}, those after the last
--    {x, lengths}, also {x, h0, c0, lengths}           as without lengths; zeros after the ends
--    {packed x (N x inputSize), batch sizes}           packed y
--
-- States are (layers * directions) x B x hiddenSize. lengths is a vector or a list of B numbers, in
-- any order; it has no gradient. gradOutput has the format of the output, and gradInput that of the
-- input; for packed sequences gradInput is only the tensor.
-- Invariant: weight and gradWeight are one contiguous block each (dpt.rnn.weights), and nothing is
-- copied to keep them so. States that are not part of the input, and gradients of states, are in
-- the fields that cudnn.torch uses for them.
-- @function nn.RNN
-- @within nn recurrent
-- @as recurrent
-- @return a module; forward: T x B x inputSize -> T x B x hiddenSize; states (layers
--    directions) x B x hiddenSize
-- @usage nn.RNN('CUDNN_LSTM', 3, 5):forward(torch.ones(4, 2, 3)):size() --> 4x2x5

local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local File = require('dpt.file').File
local calls = require 'dpt.rnn.call'
local network = require 'dpt.rnn.network'
local packing = require 'dpt.rnn.packing'
local weights = require 'dpt.rnn.weights'
local transient = require 'dpt.transient'
local type, lib = dptffi.type, dptffi.lib

local RNN, parent = torch.class('nn.RNN', 'nn.Module')

local function fail(self, format, ...)
   return dptffi.fail(torch.type(self) .. ': ' .. format, ...)
end

--- Fields that copies, files, type() and clearState() drop. An object without them behaves like a
-- new one.
-- @field nn.RNN.transient
-- @as author
-- @also nn.AbstractRecurrent.transient
-- @also nn.EmbeddingBag.transient
-- @also nn.Sequencer.transient
-- @also nn.GPU.transient
-- @also nn.DataParallelTable.transient
-- @also nn.DataParallelCriterion.transient
-- @also nn.DistributedDataParallel.transient
-- @also nn.SyncBatchNormalization.transient
-- @also nn.Recompute.transient
-- @also nn.MixedPrecision.transient
-- @also nn.ScaledDotProductAttention.transient
-- @also nn.MultiheadAttention.transient
-- @also nn.PositionEmbedding.transient
-- @also nn.RotaryEmbedding.transient
-- @also cudnn.TemporalConvolution.transient
-- @return a list of strings
-- @usage type(nn.RNN.transient) --> table
RNN.transient = {'call_', 'sequence', 'gradSequence', 'reserve', 'remembered_', 'padded_',
   'gradPadded_', 'packed_', 'gradPacked_'}

function RNN:__init(mode, inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates)
   parent.__init(self)
   self.mode = mode
   self.inputSize, self.hiddenSize, self.numLayers = inputSize, hiddenSize, numLayers or 1
   self.bidirectional, self.numDirections = 'CUDNN_UNIDIRECTIONAL', 1
   self.inputMode, self.biasMode, self.projSize = 'CUDNN_LINEAR_INPUT', 'CUDNN_RNN_DOUBLE_BIAS', 0
   self.batchFirst = batchFirst or false
   self.dropout = dropout or 0
   self.rememberStates = rememberStates or false
   self.compactions = 0 -- number of times that parts of the weight were copied into it
   for _, field in ipairs{'weight', 'gradWeight', 'hiddenOutput', 'cellOutput', 'gradHiddenInput',
      'gradCellInput'} do
      self[field] = torch.Tensor()
   end
   if self.firstType then parent.type(self, self.firstType) end
   self:training()
   self:reset()
end

local function checkDropout(self)
   if type(self.dropout) ~= 'number' or not (self.dropout >= 0 and self.dropout < 1) then
      fail(self, 'the probability of dropout wants 0 <= p < 1, got %s', tostring(self.dropout))
   end
end

--- Draws weights uniformly from +-stdv (1/sqrt(hiddenSize)). Call it after changing the fields
-- above.
function RNN:reset(stdv)
   checkDropout(self)
   self.numDirections = self.bidirectional == 'CUDNN_BIDIRECTIONAL' and 2 or 1
   local size = network.size(self, self.weight)
   if self.weight:nElement() ~= size then
      self.weight, self.gradWeight = self.weight.new(size), self.weight.new(size)
   end
   self.views_ = nil
   stdv = stdv or 1 / math.sqrt(self.hiddenSize)
   self.weight:uniform(-stdv, stdv)
   if self.gradWeight then self.gradWeight:zero() end
   return self
end

--- Makes the network bidirectional: the output holds both directions' values, side by side.
-- @function nn.RNN:bothDirections
-- @as recurrent
-- @within nn recurrent
-- @return the module
-- @usage nn.SeqGRU(3, 4):bothDirections():forward(torch.ones(2, 1, 3)):size() --> 2x1x8
function RNN:bothDirections()
   self.bidirectional = 'CUDNN_BIDIRECTIONAL'
   return self:reset()
end

--- Removes the biases and draws the weights again.
-- @function nn.RNN:noBias
-- @as recurrent
-- @within nn recurrent
-- @return the module
-- @usage nn.SeqLSTM(3, 4):noBias().biasMode --> CUDNN_RNN_NO_BIAS
function RNN:noBias()
   self.biasMode = 'CUDNN_RNN_NO_BIAS'
   return self:reset()
end

--- Removes the first layer's input matrices; its input must have hiddenSize columns.
-- @function nn.RNN:skipInput
-- @as recurrent
-- @within nn recurrent
-- @return the module
-- @usage nn.SeqGRU(3, 3):skipInput():forward(torch.ones(2, 1, 3)):size() --> 2x1x3
function RNN:skipInput()
   self.inputMode = 'CUDNN_SKIP_INPUT'
   return self:reset()
end

--- Adds a projection to an LSTM: h is multiplied by a matrix and has `size` columns.
-- @function nn.RNN:projection
-- @as recurrent
-- @within nn recurrent
-- @param size number: columns of h
-- @return the module
-- @usage nn.SeqLSTM(3, 4):projection(2):forward(torch.ones(2, 1, 3)):size() --> 2x1x2
function RNN:projection(size)
   self.projSize = size
   return self:reset()
end

--- Stores a flag of cudnn.torch, which has no effect: no call waits.
-- @function nn.RNN:setSync
-- @as recurrent
-- @within nn recurrent
-- @param sync boolean: is only stored
-- @return nothing
-- @usage local m = nn.SeqGRU(2, 2)
--    local before = m.sync
--    m:setSync(false)
--    return before, m.sync --> nil, false
function RNN:setSync(sync)
   self.sync = sync
end

--- Sets the initial states of the next forwards whose input has none; nil: zeros.
-- @function nn.RNN:setStates
-- @as recurrent
-- @within nn recurrent
-- @param hidden? tensor: layers x B x size
-- @param cell? tensor: of an LSTM, of the same size
-- @return the module
-- @usage nn.SeqLSTM(2, 2):setStates(torch.ones(1, 1, 2)).hiddenInput --> [1 1]
function RNN:setStates(hidden, cell)
   self.hiddenInput, self.cellInput = hidden, cell
   return self
end

--- Resets the states: the next forward starts from zeros.
-- @function nn.RNN:resetStates
-- @as recurrent
-- @within nn recurrent
-- @return nothing
-- @usage local m = nn.SeqGRU(2, 2)
--    m:setStates(torch.ones(1, 1, 2))
--    local before = m.hiddenInput
--    m:resetStates()
--    return before, m.hiddenInput --> [1 1], nil
function RNN:resetStates()
   self.hiddenInput, self.cellInput = nil, nil
   self.gradHiddenOutput, self.gradCellOutput = nil, nil
   self.hiddenOutput:zero()
   self.cellOutput:zero()
end

--- Resets the states: the next sequence starts from zeros.
-- @function nn.RNN:forget
-- @as recurrent
-- @within nn recurrent
-- @also nn.Sequencer:forget()
-- @return the module
-- @usage torch.type(nn.SeqLSTM(2, 3):forget()) --> nn.SeqLSTM
function RNN:forget()
   self:resetStates()
   self.hiddenOutput, self.cellOutput = self.hiddenOutput.new(), self.cellOutput.new()
   return self
end

--- Packs padded sequences (T x B x ..., or B x T x ... with batchFirst): returns {tensor without
-- padding, list of the number of sequences at each step}. Sequences must be sorted by decreasing
-- length.
-- @function nn.RNN:packPaddedSequence
-- @as recurrent
-- @within nn recurrent
-- @param input tensor: T x B x ..., or B x T x ... with batchFirst
-- @param lengths table: B numbers in non-increasing order
-- @param batchFirst? boolean: true: B is the first dimension
-- @return {tensor, list of the number of sequences at each step}
-- @usage nn.SeqGRU(2, 2):packPaddedSequence(torch.ones(3, 2, 1), {3, 1})[2] --> {2 1 1}
function RNN:packPaddedSequence(input, lengths, batchFirst)
   return packing.packPadded(input, lengths, batchFirst, torch.type(self))
end

--- Reverses packPaddedSequence: returns padded sequences.
-- @function nn.RNN:padPackedSequence
-- @as recurrent
-- @within nn recurrent
-- @param packed table: {tensor, list of the number of sequences at each step}
-- @param batchFirst? boolean: true: B is the first dimension
-- @return a padded tensor; a list of lengths
-- @usage local m = nn.SeqGRU(2, 2)
--    return (m:padPackedSequence(m:packPaddedSequence(torch.ones(3, 2, 1), {3, 1})))
--       :size() --> 3x2x1
function RNN:padPackedSequence(packed, batchFirst)
   return packing.padPacked(packed, batchFirst, torch.type(self))
end

-- Makes sure that a field holds a buffer of the given type.
local function buffer(self, field, typename)
   if torch.type(self[field]) ~= typename then
      self[field] = torch.getmetatable(typename).new()
   end
end

-- Runs the network. A repeated run of a call uses the same dropout mask.
local function run(self, call, train)
   local lstm = self.mode == 'CUDNN_LSTM'
   if train and self.dropout > 0 and self.numLayers > 1 and not call.draw then
      call.draw = network.draw(call.x, call.batchFirst and 1 or 2)
   end
   local description = network.describe(self, call.batchFirst, call.draw)
   lib.rnn_forward(self.sequence, self.hiddenOutput, lstm and self.cellOutput or nil,
      train and self.reserve or nil, description, call.x, call.hidden, lstm and call.cell or nil,
      self.weight, call.lengths)
   call.kept = train -- true if the reserve holds this call's values
end

function RNN:updateOutput(input)
   weights.gather(self)
   self.call_ = nil
   local train, call, typename = self.train ~= false, calls.read(self, input), self.weight:type()
   buffer(self, 'sequence', typename)
   buffer(self, 'reserve', typename:find('Cuda') and 'torch.CudaByteTensor' or 'torch.ByteTensor')
   run(self, call, train)
   self.call_ = call
   self.output = calls.output(self, call, self.sequence, self.hiddenOutput,
      self.mode == 'CUDNN_LSTM' and self.cellOutput or nil)
   return self.output
end

-- Returns the call that a backward belongs to.
local function callOf(self)
   local call = self.call_
   if not call or call.kept == false then
      fail(self, 'backward needs a forward in training before it')
   end
   return call
end

function RNN:updateGradInput(input, gradOutput)
   local call, lstm = callOf(self), self.mode == 'CUDNN_LSTM'
   if not call.kept then run(self, call, true) end -- a second backward
   local gy, hidden, cell = calls.readGradient(self, call, gradOutput)
   buffer(self, 'gradSequence', torch.type(self.weight))
   call.kept = nil -- backward consumes the reserve
   lib.rnn_backward_data(self.gradSequence, self.gradHiddenInput,
      lstm and self.gradCellInput or nil, self.reserve,
      network.describe(self, call.batchFirst, call.draw),
      self.sequence, gy, hidden, lstm and cell or nil, call.hidden, lstm and call.cell or nil,
      self.weight, call.lengths)
   if self.gradInput then
      self.gradInput = calls.gradInput(self, call, input, self.gradSequence,
         self.gradHiddenInput, lstm and self.gradCellInput or nil)
   end
   return self.gradInput
end

function RNN:accGradParameters(input, gradOutput, scale)
   local call = callOf(self)
   if call.kept then self:updateGradInput(input, gradOutput) end
   lib.rnn_backward_weight(self.gradWeight, network.describe(self, call.batchFirst, call.draw),
      call.x, call.hidden, self.sequence, call.lengths, self.reserve, scale or 1)
end

--- Makes weight and gradWeight contiguous again if a script has moved parts of them; forward does
-- this, too.
-- @function nn.RNN:flattenParameters
-- @as recurrent
-- @within nn recurrent
-- @return the module
-- @usage torch.type(nn.SeqGRU(2, 2):flattenParameters()) --> nn.SeqGRU
function RNN:flattenParameters()
   weights.gather(self)
   return self
end

for method, names in pairs{
   weights = {'weight', 'matrices'}, biases = {'weight', 'biases'},
   gradWeights = {'gradWeight', 'matrices'}, gradBiases = {'gradWeight', 'biases'},
} do
   --- Returns views of all matrices (or biases, or their gradients) for each layer and direction: a
   -- list of vectors by cuDNN's numbers, from 1, which also holds them by name: input.i is the
   -- matrix from the input to an LSTM's input gate, recurrent.i that from h, and projection.
   RNN[method] = function(self)
      return weights.views(self)[names[1]][names[2]]
   end
end

--- Returns the dimension along which nn.DataParallelTable splits each entry: that of the batch.
function RNN:inputSplit(input)
   local batch = self.batchFirst and 1 or 2
   if torch.type(input) ~= 'table' then return batch end
   if torch.isTensor(input[1]) and input[1]:dim() == 2 then
      fail(self, 'packed sequences cannot be split: give {x, lengths}, in any order')
   end
   local split = {batch}
   for k = 2, table.maxn(input) do split[k] = calls.isList(input[k]) and 'list' or 2 end
   return split
end

--- Returns the dimension of the batch in each entry of the last output.
function RNN:outputSplit()
   local batch = self.batchFirst and 1 or 2
   return torch.type(self.output) == 'table' and {batch, 2, 2} or batch
end

function RNN:type(typename, tensorCache)
   if not typename then return self._type end
   weights.gather(self)
   local before = weights.layoutBefore(self)
   self.views_ = nil
   tensorCache = tensorCache or {}
   parent.type(self, typename, tensorCache)
   if before then
      weights.convertLayout(self, self.weight, before, tensorCache)
      if self.gradWeight then weights.convertLayout(self, self.gradWeight, before, tensorCache) end
   end
   return self
end

function RNN:clearState()
   nn.utils.clear(self, 'gradHiddenInput', 'gradCellInput')
   return parent.clearState(self)
end

--- Writes the module. Files hold the parts of weights in an order that is the same for all
-- backends; see dpt.rnn.network.
function RNN:write(file)
   weights.gather(self)
   local fields = transient.persistentFields(self)
   fields.views_ = nil
   file.flats_ = file.flats_ or {}
   for _, name in ipairs{'weight', 'gradWeight'} do
      fields[name] = self[name] and weights.toFile(self, self[name], file.flats_)
   end
   file:writeFields(fields)
end

function RNN:read(file)
   parent.read(self, file)
   checkDropout(self)
   file.flats_ = file.flats_ or {}
   for _, name in ipairs{'weight', 'gradWeight'} do
      self[name] = self[name] and weights.fromFile(self, self[name], file.flats_)
   end
end
-- copies within a process keep the layout
File.plain[RNN.write], File.plain[RNN.read] = true, true

function RNN:__tostring__()
   return ('%s(%s -> %s%s%s)'):format(torch.type(self), self.inputSize, self.hiddenSize,
      self.numLayers > 1 and ', ' .. self.numLayers .. ' layers' or '',
      self.numDirections == 2 and ', both directions' or '')
end

--- Returns views of all matrices for each layer and direction; biases returns those of the biases,
-- gradWeights and gradBiases those of the gradients.
-- @function nn.RNN:weights
-- @as recurrent
-- @within nn recurrent
-- @also nn.RNN:biases()
-- @also nn.RNN:gradWeights()
-- @also nn.RNN:gradBiases()
-- @return a list with a table of views for each layer and direction
-- @usage #nn.SeqLSTM(3, 4):weights() --> 1

return RNN
