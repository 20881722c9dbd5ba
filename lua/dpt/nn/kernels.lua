--- dpt.nn.kernels: lists the arguments of THNN's kernels for nn, in THNN's order, for dpt.nn.THNN.
--
-- Invariant: a name in a list is the field of the class that receives the argument. input,
-- gradOutput, target and scale are arguments of the class's method. There is one entry for each
-- kernel: {updateOutput, updateGradInput, accGradParameters, backward, renorm = lists; class: name
-- of the class, if it differs; fields: more fields that the class needs; prepare(object): sets
-- fields derived from the arguments; criterion: updateOutput writes the loss into output_tensor}.
local torch = require('dpt.class').torch

--- Returns the entry for a layer's kernels.
-- @param updateOutput arguments after 'input output'
-- @param updateGradInput arguments after 'input gradOutput gradInput'
-- @param accGradParameters arguments after 'input gradOutput'; nil if there is no such method
-- @param entry more fields of the entry
local function layer(updateOutput, updateGradInput, accGradParameters, entry)
   entry = entry or {}
   entry.updateOutput = 'input output ' .. updateOutput
   entry.updateGradInput = 'input gradOutput gradInput ' .. updateGradInput
   if accGradParameters then entry.accGradParameters = 'input gradOutput ' .. accGradParameters end
   return entry
end

--- Returns the entry for a criterion's kernels.
-- @param arguments arguments after the target and the tensor that is written
local function criterion(arguments, entry)
   entry = entry or {}
   entry.criterion = true
   entry.updateOutput = 'input target output_tensor ' .. arguments
   entry.updateGradInput = 'input target gradInput ' .. arguments
   return entry
end

--- Returns an entry of a convolution. The window's arguments follow the tensors.
-- @param buffers, buffersBack buffers of the forward and of the backward pass
local function convolution(window, buffers, buffersBack, entry)
   return layer('weight bias ' .. buffers .. window, 'weight ' .. buffersBack .. window,
      'gradWeight gradBias ' .. buffers .. window .. ' scale', entry)
end

local plane = 'kW kH dW dH padW padH '
local volume = 'kT kW kH dT dW dH padT padW padH '
local two, one = 'finput fgradInput ', 'finput '

-- Computes the sigmoid that the forward pass would have kept for the backward pass.
local function gate(object)
   object.sigmoid = object.input.new()
   if object.gradOutput then
      local _, b = object:halves(object.input)
      object.sigmoid:resizeAs(b):sigmoid(b)
   end
end

-- Returns the weight; without one, gradWeight, which has the same sizes.
local function weightOf(object)
   object.weight = object.weight or object.gradWeight
   return object.weight
end

-- Sets the kernel sizes, which THNN reads from the weight.
local function sizesOfWeight(object)
   local weight = weightOf(object)
   local n = weight:dim()
   object.kH, object.kW = weight:size(n - 1), weight:size(n)
   if n == 5 then object.kT = weight:size(3) end
end

local function frames(object)
   object.inputFrameSize = object.input:size(object.input:dim())
   if object.gradOutput then
      object.outputFrameSize = object.gradOutput:size(object.gradOutput:dim())
   end
end

local function unpooling(object)
   local sizes = {1, 1, object.oheight, object.owidth}
   if object.otime then table.insert(sizes, 3, object.otime) end
   object.pooling = {inputSize = torch.LongStorage(sizes), indices = object.indices}
end

-- Allocates an input: the gradient of upsampling receives the input's sizes, not the input.
local function inputOfSizes(object)
   if not object.n then return end
   local sizes = {object.n, object.planes, object.height, object.width}
   if object.depth then table.insert(sizes, 3, object.depth) end
   object.input = object.gradOutput.new(torch.LongStorage(sizes))
end

--- Returns an entry of a convolution that connects its planes by a table.
local function byTable()
   local arguments = ' connTable nInputPlane nOutputPlane dW dH'
   return layer('weight bias' .. arguments, 'weight bias' .. arguments,
      'gradWeight gradBias' .. arguments .. ' scale', {prepare = sizesOfWeight})
end

return {
   -- activations
   Abs = layer('', ''),
   ELU = layer('alpha inplace', 'output alpha inplace'),
   GatedLinear = layer('dim', 'dim', nil, {class = 'GatedLinearUnit', prepare = gate}),
   HardShrink = layer('lambda', 'lambda'),
   HardTanh = layer('min_val max_val inplace', 'min_val max_val inplace'),
   LeakyReLU = layer('negval inplace', 'negval inplace'),
   LogSigmoid = layer('buffer', 'buffer'),
   LogSoftMax = layer('', 'output'),
   PReLU = layer('weight nOutputPlane', 'weight nOutputPlane',
      'gradInput weight gradWeight gradWeightBuf gradWeightBuf2 nOutputPlane scale'),
   RReLU = layer('noise lower upper train inplace generator', 'noise lower upper train inplace'),
   Sigmoid = layer('', 'output'),
   SoftMax = layer('', 'output'),
   SoftPlus = layer('beta threshold', 'output beta threshold'),
   SoftShrink = layer('lambda', 'lambda'),
   Sqrt = layer('eps', 'output'),
   Square = layer('', ''),
   Tanh = layer('', 'output'),
   Threshold = layer('threshold val inplace', 'threshold val inplace'),

   -- criterions
   AbsCriterion = criterion 'sizeAverage',
   BCECriterion = criterion 'sizeAverage weights',
   ClassNLLCriterion = criterion 'sizeAverage weights total_weight_tensor ignoreIndex',
   DistKLDivCriterion = criterion 'sizeAverage',
   L1Cost = {updateOutput = 'input output_tensor', updateGradInput = 'input target gradInput',
      criterion = true},
   MSECriterion = criterion 'sizeAverage',
   MarginCriterion = criterion 'sizeAverage margin',
   MultiLabelMarginCriterion = {updateOutput = 'input target output_tensor isTarget sizeAverage',
      updateGradInput = 'input target gradInput isTarget sizeAverage', criterion = true},
   MultiMarginCriterion = criterion 'sizeAverage p weights margin',
   SmoothL1Criterion = criterion 'sizeAverage',
   SoftMarginCriterion = criterion 'sizeAverage',
   SpatialClassNLLCriterion = criterion('sizeAverage weights total_weight_tensor',
      {fields = {ignoreIndex = -100}}),

   -- linear
   Linear = layer('weight bias buffer', 'weight',
      'gradInput weight bias gradWeight gradBias buffer scale'),
   LookupTable = {accGradParameters = 'input gradOutput gradWeight _count _sorted _indices'
         .. ' shouldScaleGradByFreq paddingValue scale',
      renorm = 'input weight maxNorm normType',
      prepare = weightOf},

   -- normalization
   BatchNormalization = {
      updateOutput = 'input output weight bias running_mean running_var save_mean save_std train'
         .. ' momentum eps',
      backward = 'input gradOutput gradInput gradWeight gradBias weight running_mean running_var'
         .. ' save_mean save_std train scale eps',
      prepare = function(object) object.nDim = object.input:dim() end},
   SpatialCrossMapLRN = layer('scale size alpha beta k', 'scale output size alpha beta k'),

   -- convolutions
   SpatialConvolutionLocal = convolution(plane .. 'iW iH oW oH', two, two, {
      prepare = function(object)
         local weight = weightOf(object)
         object.nOutputPlane = weight:size(weight:dim() == 6 and 3 or 2)
         object.nInputPlane = object.input:size(object.input:dim() - 2)
      end}),
   SpatialConvolutionMM = convolution(plane, two, two),
   SpatialConvolutionMap = byTable(),
   SpatialDepthWiseConvolution = convolution(plane, two, two, {
      prepare = function(object)
         local weight = weightOf(object)
         object.nOutputPlane, object.nInputPlane = weight:size(1), weight:size(2)
      end}),
   SpatialDilatedConvolution = convolution(plane .. 'dilationW dilationH', two, one),
   SpatialFullConvolution = convolution(plane .. 'adjW adjH', two, one),
   SpatialFullConvolutionMap = byTable(),
   TemporalConvolution = layer('weight bias kW dW inputFrameSize outputFrameSize',
      'weight kW dW', 'gradWeight gradBias kW dW scale', {prepare = frames}),
   TemporalRowConvolution = convolution('kW dW padW featFirst', two, two, {
      prepare = function(object) object.inputFrameSize = weightOf(object):size(1) end}),
   VolumetricConvolution = convolution('dT dW dH padT padW padH', two, one,
      {prepare = sizesOfWeight}),
   VolumetricConvolutionMM = layer('weight bias finput ' .. volume,
      'weight finput fgradInput ' .. volume, 'gradWeight gradBias finput ' .. volume .. 'scale',
      {class = 'VolumetricConvolution'}),
   VolumetricDilatedConvolution = convolution(volume .. 'dilationT dilationW dilationH', two, one),
   VolumetricFullConvolution = convolution('dT dW dH padT padW padH adjT adjW adjH', two, two,
      {prepare = sizesOfWeight}),

   -- poolings
   FeatureLPPooling = {updateOutput = 'input output power width stride batch_mode',
      updateGradInput = 'gradOutput input output gradInput power width stride batch_mode'},
   SpatialAdaptiveAveragePooling = layer('W H', ''),
   SpatialAdaptiveMaxPooling = layer('indices W H', 'indices'),
   SpatialAveragePooling = layer(plane .. 'ceil_mode count_include_pad',
      plane .. 'ceil_mode count_include_pad', nil, {fields = {divide = true}}),
   SpatialDilatedMaxPooling = layer('indices ' .. plane .. 'dilationW dilationH ceil_mode',
      'indices ' .. plane .. 'dilationW dilationH ceil_mode'),
   SpatialFractionalMaxPooling = layer('outW outH poolSizeW poolSizeH indices randomSamples',
      'outW outH poolSizeW poolSizeH indices', nil, {fields = {newRandomPool = true}}),
   SpatialMaxPooling = layer('indices ' .. plane .. 'ceil_mode',
      'indices ' .. plane .. 'ceil_mode'),
   SpatialMaxUnpooling = layer('indices owidth oheight', 'indices owidth oheight', nil,
      {prepare = unpooling}),
   SpatialSubSampling = layer('weight bias kW kH dW dH', 'weight kW kH dW dH',
      'gradWeight gradBias kW kH dW dH scale', {
      prepare = function(object) object.nInputPlane = weightOf(object):size(1) end}),
   TemporalMaxPooling = layer('indices kW dW', 'indices kW dW'),
   TemporalSubSampling = layer('weight bias kW dW inputFrameSize', 'weight kW dW',
      'gradWeight gradBias kW dW scale', {prepare = frames}),
   VolumetricAveragePooling = layer(volume .. 'ceil_mode count_include_pad',
      volume .. 'ceil_mode count_include_pad', nil, {fields = {divide = true}}),
   VolumetricDilatedMaxPooling = layer('indices ' .. volume .. 'dilationT dilationW dilationH'
      .. ' ceil_mode', 'indices ' .. volume .. 'dilationT dilationW dilationH ceil_mode'),
   VolumetricFractionalMaxPooling = layer(
      'outT outW outH poolSizeT poolSizeW poolSizeH indices randomSamples',
      'outT outW outH poolSizeT poolSizeW poolSizeH indices', nil,
      {fields = {newRandomPool = true}}),
   VolumetricMaxPooling = layer('indices ' .. volume .. 'ceil_mode',
      'indices ' .. volume .. 'ceil_mode'),
   VolumetricMaxUnpooling = layer('indices otime owidth oheight dT dW dH padT padW padH',
      'indices otime owidth oheight dT dW dH padT padW padH', nil, {prepare = unpooling}),

   -- padding and upsampling
   SpatialReflectionPadding = layer('pad_l pad_r pad_t pad_b', 'pad_l pad_r pad_t pad_b'),
   SpatialReplicationPadding = layer('pad_l pad_r pad_t pad_b', 'pad_l pad_r pad_t pad_b'),
   SpatialUpSamplingBilinear = {updateOutput = 'input output oheight owidth',
      updateGradInput = 'gradOutput gradInput n planes height width oheight owidth',
      prepare = inputOfSizes},
   SpatialUpSamplingNearest = layer('scale_factor', 'scale_factor'),
   VolumetricReplicationPadding = layer('pleft pright ptop pbottom pfront pback',
      'pleft pright ptop pbottom pfront pback'),
   VolumetricUpSamplingNearest = layer('scale_factor', 'scale_factor', nil,
      {class = 'UpSampling', fields = {mode = 'nearest'}}),
   VolumetricUpSamplingTrilinear = {updateOutput = 'input output odepth oheight owidth',
      updateGradInput = 'gradOutput gradInput n planes depth height width odepth oheight owidth',
      class = 'UpSampling', fields = {mode = 'linear'}, prepare = inputOfSizes},
}
