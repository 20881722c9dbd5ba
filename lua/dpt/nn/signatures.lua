--- dpt.nn.signatures: declares the parameters of the constructors of nn and cudnn, and the kinds of
-- the arguments of forward and backward.
--
-- Invariant: one line declares one class, or several with the same arguments: NAMES(parameters)
-- followed by `input -> gradOutput` for a module or `input, target` for a criterion. A line
-- declares the methods that the class's own file defines, so a class that overrides none of its
-- parent's has no line. A parameter is a number unless a kind follows a colon. One with ? is
-- optional. A last one with ... covers all that follow. Kinds joined by | are alternatives, `any`
-- is not checked, and an empty right side means that forward takes the arguments of the modules
-- inside. `elementwise` is a gradOutput with as many elements as the input, in any shape. This file
-- needs no library: scripts/docs reads it before one is built.

--- Parameters with the same meaning in all classes, for the reference.
-- @pattern parameters
-- @param module the wrapped module
-- @param criterion the wrapped criterion
-- @param dimension the dimension, from 1
-- @param dim the dimension, from 1
-- @param inputDimension the dimension along which the input is split
-- @param outputDimension the dimension along which outputs are concatenated
-- @param nInputDims dimensions of a sample, without the batch; an input with one more is a batch
-- @param nInputDim dimensions of a sample, without the batch
-- @param numInputDims dimensions of a sample, without the batch
-- @param nDim dimensions of a sample, without the batch
-- @param inplace true: the output reuses the input's memory
-- @param ip true: the output reuses the input's memory
-- @param inputSize features of an input
-- @param outputSize features of an output
-- @param inputSize1 features of the first input
-- @param inputSize2 features of the second input
-- @param bias false: no bias
-- @param doGradInput true: also computes the gradient of the input
-- @param offset first entry, from 1; negative: counted from the end
-- @param length number of entries (1); negative: the last entry, counted from the end
-- @param index position, from 1; negative: counted from the end
-- @param sizes sizes, as numbers or a LongStorage
-- @param nOutput features (planes) of input and output
-- @param eps value added to a variance or norm before the division, for numerical stability
-- @param momentum weight of a batch in the running mean and variance (0.1)
-- @param affine false: no learnable weight and bias
-- @param p for dropout: probability of zeroing; for norms: exponent
-- @param stochasticInference true: also drops in evaluation
-- @param v1 true: training only drops, evaluation multiplies by 1 - p
-- @param nInputPlane planes of an input
-- @param nOutputPlane planes of an output
-- @param kT length of the window in time
-- @param kW width of the window
-- @param kH height of the window
-- @param dT stride of the window in time (1; for pooling kT)
-- @param dW stride of the window along the width (1; for pooling kW)
-- @param dH stride of the window along the height (1; for pooling kH)
-- @param padT frames of zeros added before and after (0)
-- @param padW columns of zeros added on the left and on the right (0)
-- @param padH rows of zeros added above and below (0; for convolutions padW if that is given)
-- @param dilationT spacing of the window's elements in time (1)
-- @param dilationW spacing of the window's elements along the width (1)
-- @param dilationH spacing of the window's elements along the height (1)
-- @param adjT frames added to the output
-- @param adjW columns added to the output
-- @param adjH rows added to the output
-- @param groups number of groups of planes, convolved separately (1)
-- @param inputFrameSize features of an input frame
-- @param outputFrameSize features of an output frame
-- @param kernel weights of the window, a vector or a matrix (9 x 9 ones)
-- @param threshold deviations that are not above it are replaced by thresval
-- @param pooling the pooling module whose indices are used
-- @param scale upsampling factor of each side
-- @param left columns added on the left; negative: cropped
-- @param right columns added on the right (left)
-- @param top rows added above (left)
-- @param bottom rows added below (left)
-- @param front frames added before
-- @param back frames added after
-- @param mode CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_TANH or CUDNN_RNN_RELU
-- @param hiddenSize features of the hidden state
-- @param numLayers number of stacked layers (1)
-- @param batchFirst true: dimension 1 is the batch and dimension 2 is time
-- @param dropout probability of dropout between layers
-- @param rememberStates true: a pass starts from the last state of the previous pass
-- @param rho maximum number of steps for backpropagation through time
-- @param merge the module that combines two outputs into one
-- @param sizeAverage false: losses are summed instead of averaged
-- @param weights one factor for each class
-- @param ignoreIndex target class that is ignored
-- @param margin distance required between correct and incorrect (1)
-- @param nIndex number of rows
-- @param paddingValue index whose row gets no gradient
-- @param maxNorm used rows with a larger norm are scaled down to this norm
-- @param normType exponent of the norm that maxNorm limits (2)
local text = [[
Concat(dimension?)
Parallel(inputDimension?, outputDimension?) tensor -> tensor
MapTable(module?:module, shared?:any) table -> table
ParallelTable() tensor|table -> tensor|table
Bottle(module?:module, nInputDim?, nOutputDim?) tensor -> tensor
Decorator(module?:module)
Recompute(module:module)
MixedPrecision(module:module, type:string, options?:any)
DontCast(module:module, castin?:any, castout?:any, moduleType?:string)
WeightNorm(module:module, outputDim?)
NaN(module?:module, id?:any)
Profile(module?:module, printInterval?, name?:any)

JoinTable(dimension, nInputDims?) table -> tensor
SplitTable(dimension, nInputDims?) tensor -> table
SelectTable(index:number|string) tensor|table -> any
NarrowTable(offset, length?) tensor|table -> tensor|table
MixtureTable(dim?) table -> tensor
ZipTable() table -> table
ZipTableOneToMany() table -> tensor|table
CriterionTable(criterion:criterion) tensor|table -> any
CAddTable(inplace?:any) table -> tensor
CAddTensorTable() table -> table
CMulTable CMaxTable CMinTable() table -> tensor
CSubTable CDivTable() tensor|table -> tensor

Copy(intype?:string, outtype?:string, forceCopy?:any, dontCast?:any)
Contiguous() tensor -> tensor
View CAdd(sizes...:number|storage) tensor -> tensor
CMul(sizes...:number|storage) tensor -> elementwise
Reshape(sizes...:number|storage|boolean) tensor -> tensor
Narrow(dimension, offset, length?) tensor -> tensor
Select(dimension, index) tensor -> tensor
Transpose(permutations?...:table) tensor -> tensor
Replicate(nFeatures, dim?, nDim?) tensor -> tensor
Squeeze(dim?, numInputDims?) tensor -> tensor
Unsqueeze(pos, numInputDims?) tensor -> tensor
Padding(dim, pad, nInputDim?, value?, index?) tensor -> tensor
Index(dimension) table -> tensor
MaskedSelect() table -> tensor
Collapse(nInputDim) tensor -> tensor
Convert(inputShape?:string, outputShape?:string) tensor -> tensor
PixelShuffle(upscaleFactor) tensor -> tensor
OneHot(outputSize) number|tensor -> any
Constant(value:number|tensor, nInputDim?) tensor -> any
Max Min(dimension?, nInputDims?) tensor -> tensor
Mean(dimension?, nInputDims?) tensor -> tensor
Sum(dimension?, nInputDims?, sizeAverage?:any, squeeze?:any) tensor -> tensor

Linear PartialLinear(inputSize, outputSize, bias?:any) tensor -> tensor
LinearWeightNorm(inputSize, outputSize, bias?:any, eps?) tensor -> tensor
Bilinear(inputSize1, inputSize2, outputSize, bias?:any) table -> tensor
SparseLinear(inputSize, outputSize, doGradInput?:any) tensor|table -> tensor
IndexLinear(inputSize, outputSize, doGradInput?:any, keysOffset?, weight?:tensor, bias?:tensor,
   normalize?:any) any -> tensor
Kmeans(k, dim, scale?) tensor -> any
LookupTable(nIndex, nOutput, paddingValue?, maxNorm?, normType?) tensor -> tensor
LookupTableMaskZero(nIndex, nOutput) tensor -> tensor
Embedding(numEmbeddings, embeddingDim, paddingIdx?)
EmbeddingBag(numEmbeddings, embeddingDim, mode?:string) tensor|table -> tensor
Maxout(inputSize, outputSize, maxoutNumber, preprocess?:module)
Add(inputSize, scalar?:any) tensor -> tensor
Mul() tensor -> elementwise
AddConstant(constant:number|tensor, inplace?:any) tensor -> tensor
MulConstant(constant, inplace?:any) tensor -> tensor
Euclidean WeightedEuclidean Cosine(inputSize, outputSize) tensor -> tensor
MM(transA?:any, transB?:any) table -> tensor
MV(trans?:any) table -> tensor
DotProduct CosineDistance() tensor|table -> tensor
PairwiseDistance(p?) tensor|table -> tensor

Abs Exp Log Square Sqrt SoftSign LogSigmoid Sigmoid SiLU Tanh TanhShrink() tensor -> elementwise
SoftMax SoftMin LogSoftMax(dim?) tensor -> tensor
SpatialSoftMax SpatialLogSoftMax() tensor -> tensor
GELU(approximate?:string) tensor -> elementwise
HardShrink SoftShrink(lambda?) tensor -> elementwise
SoftPlus(beta?) tensor -> elementwise
GradientReversal(lambda?) any -> tensor
HardTanh(min?, max?, inplace?:any) tensor -> elementwise
Clamp(min, max)
Power(p) tensor -> elementwise
Normalize(p, eps?) tensor -> elementwise
GatedLinearUnit(dim?) tensor -> tensor
Threshold(th?, v?, inplace?:any) tensor -> elementwise
ReLU ReLU6(inplace?:any)
PReLU(nOutputPlane?) tensor -> tensor
RReLU(l?, u?, inplace?:any) tensor -> elementwise
CReLU(nInputDims?, inplace?:any) tensor -> tensor
ELU(alpha?, inplace?:any) tensor -> elementwise
LeakyReLU(negval?:any, inplace?:any) tensor -> elementwise
L1Penalty(l1weight?, sizeAverage?:any, provideOutput?:any) tensor -> any

Dropout(p?, v1?:any, inplace?:any, stochasticInference?:any) tensor -> tensor
SpatialDropout VolumetricDropout(p?, stochasticInference?:any) tensor -> tensor
WhiteNoise(mean?, std?) tensor -> tensor
BatchNormalization SyncBatchNormalization(nOutput, eps?, momentum?, affine?:any) tensor -> tensor
LayerNormalization(nOutput, bias?, eps?, affine?:any)
LayerNorm(normalizedShape:number|table|storage, eps?, elementwiseAffine?:boolean, bias?:boolean)
   tensor -> tensor
RMSNorm(normalizedShape:number|table|storage, eps?, elementwiseAffine?:boolean) tensor -> tensor
GroupNorm(numGroups, numChannels, eps?, affine?:boolean) tensor -> tensor
InstanceNorm(numFeatures, eps?, affine?:boolean) tensor -> tensor
SpatialCrossMapLRN(size?, alpha?, beta?, k?) tensor -> tensor
SpatialSubtractiveNormalization(nInputPlane?, kernel?:tensor) tensor -> tensor
SpatialDivisiveNormalization(nInputPlane?, kernel?:tensor, threshold?, thresval?) tensor -> tensor
SpatialContrastiveNormalization(nInputPlane?, kernel?:tensor, threshold?, thresval?) tensor ->
   tensor

SpatialConvolution(nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?) tensor -> tensor
SpatialConvolutionLocal(nInputPlane, nOutputPlane, iW, iH, kW, kH, dW?, dH?, padW?, padH?) tensor
   -> tensor
SpatialConvolutionMap(conMatrix:tensor, kW, kH, dW?, dH?) tensor -> tensor
SpatialDilatedConvolution(nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?, dilationW?,
   dilationH?) tensor -> tensor
SpatialFullConvolution(nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?, adjW?, adjH?)
   tensor|table -> tensor
SpatialDepthWiseConvolution(nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?) tensor ->
   tensor
SpatialSubSampling(nInputPlane, kW, kH, dW?, dH?) tensor -> tensor
TemporalConvolution(inputFrameSize, outputFrameSize, kW, dW?) tensor -> tensor
TemporalRowConvolution(inputFrameSize, kW, dW?, featFirst?:any) tensor -> tensor
TemporalSubSampling(inputFrameSize, kW, dW?) tensor -> tensor
VolumetricConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?)
   tensor -> tensor
VolumetricDilatedConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?, padT?, padW?,
   padH?, dilationT?, dilationW?, dilationH?) tensor -> tensor
VolumetricFullConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?, padT?, padW?,
   padH?, adjT?, adjW?, adjH?) tensor|table -> tensor

SpatialMaxPooling SpatialAveragePooling(kW, kH, dW?, dH?, padW?, padH?) tensor -> tensor
SpatialDilatedMaxPooling(kW, kH, dW?, dH?, padW?, padH?, dilationW?, dilationH?) tensor -> tensor
SpatialMaxUnpooling VolumetricMaxUnpooling(pooling:module) tensor -> tensor
SpatialAdaptiveMaxPooling SpatialAdaptiveAveragePooling(W, H) tensor -> tensor
SpatialFractionalMaxPooling(poolSizeW, poolSizeH, outW, outH) tensor -> tensor
SpatialLPPooling(nInputPlane, pnorm?, kW, kH, dW?, dH?)
FeatureLPPooling(width, stride, power, batchMode?:any) tensor -> tensor
TemporalMaxPooling(kW, dW?) tensor -> tensor
TemporalDynamicKMaxPooling(minK, factor?) tensor -> tensor
VolumetricMaxPooling(kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?) tensor -> tensor
VolumetricDilatedMaxPooling(kT, kW, kH, dT?, dW?, dH?, padT?, padW?, padH?, dilationT?,
   dilationW?, dilationH?) tensor -> tensor
VolumetricAveragePooling(kT, kW, kH, dT?, dW?, dH?) tensor -> tensor
VolumetricFractionalMaxPooling(poolSizeT, poolSizeW, poolSizeH, outT, outW, outH) tensor -> tensor
SpatialUpSamplingNearest(scale) tensor -> tensor
SpatialUpSamplingBilinear(scale:number|table) tensor -> tensor
UpSampling(scale:number|table, mode?:string) tensor -> tensor
SpatialZeroPadding SpatialReflectionPadding SpatialReplicationPadding(left, right?, top?, bottom?)
   tensor -> tensor
VolumetricReplicationPadding(left, right?, top?, bottom?, front?, back?) tensor -> tensor

ScaledDotProductAttention(options?:table) table -> tensor
MultiheadAttention(embedDim, numHeads, options?:table) tensor|table -> tensor
PositionEmbedding(numPositions, dim) tensor -> elementwise
RotaryEmbedding(dim, base?, interleaved?:boolean) tensor -> elementwise

RNN(mode:string, inputSize, hiddenSize, numLayers?, batchFirst?:any, dropout?,
   rememberStates?:any) tensor|table -> tensor|table
SeqRNN(mode:string, inputSize, outputSize, batchFirst?:any) tensor|table -> tensor|table
SeqLSTM SeqGRU(inputSize, outputSize, batchFirst?:any)
SeqBRNN(inputSize, outputSize, batchFirst?:any, merge?:module)
StepRNN(mode:string, inputSize, outputSize, rho?) tensor|table -> tensor|table
LSTM GRU(inputSize, outputSize, rho?)
Recurrent(start:number|module, input:module, feedback:module, transfer?:module, rho?,
   merge?:module)
Recursor(module:module, rho?)
Sequencer(module:module) tensor|table -> tensor|table

AbsCriterion MSECriterion SmoothL1Criterion DistKLDivCriterion(sizeAverage?:any) tensor,
   number|tensor
WeightedMSECriterion(weight:tensor, sizeAverage?:any) tensor, number|tensor
SpatialAutoCropMSECriterion SoftMarginCriterion SpatialClassNLLCriterion() tensor, number|tensor
BCECriterion MultiLabelSoftMarginCriterion(weights?:tensor, sizeAverage?:any) tensor,
   number|tensor
ClassNLLCriterion(weights?:tensor, sizeAverage?:any, ignoreIndex?) tensor, number|tensor
CrossEntropyCriterion(weights?:tensor, sizeAverage?:any) tensor, number|tensor
ClassSimplexCriterion(nClasses) tensor, number|tensor
MultiMarginCriterion(p?, weights?:tensor, margin?, sizeAverage?:any) tensor, number|tensor
MultiLabelMarginCriterion(sizeAverage?:any) tensor, tensor
MarginCriterion HingeEmbeddingCriterion(margin?) tensor, number|tensor
L1HingeEmbeddingCriterion(margin?) tensor|table, any
CosineEmbeddingCriterion MarginRankingCriterion(margin?) tensor|table, number|tensor
L1Cost() tensor, any
DistanceRatioCriterion(sizeAverage?:any) tensor|table, any
ModuleCriterion(criterion:criterion, inputModule?:module, targetModule?:module, castTarget?:any)
ParallelCriterion(repeatTarget?:any) tensor|table, any
SequencerCriterion(criterion:criterion, sizeAverage?:any)

cudnn.SpatialConvolution(nInputPlane, nOutputPlane, kW, kH, dW?, dH?, padW?, padH?, groups?)
   tensor -> tensor
cudnn.VolumetricConvolution(nInputPlane, nOutputPlane, kT, kW, kH, dT?, dW?, dH?, padT?, padW?,
   padH?, groups?) tensor -> tensor
cudnn.TemporalConvolution(inputFrameSize, outputFrameSize, kH, dH?, padH?) tensor -> tensor
cudnn.SpatialAveragePooling(kW, kH, dW?, dH?, padW?, padH?) tensor -> tensor
cudnn.ReLU(inplace?:any) tensor -> elementwise
cudnn.ClippedReLU(ceiling, inplace?:any) tensor -> elementwise
cudnn.Tanh cudnn.Sigmoid(inplace?:any) tensor -> tensor
cudnn.VolumetricSoftMax() tensor -> tensor
cudnn.SpatialCrossEntropyCriterion cudnn.VolumetricCrossEntropyCriterion(weights?:tensor) tensor,
   number|tensor
cudnn.SpatialDivisiveNormalization(size?, alpha?, beta?, K?) tensor -> tensor
cudnn.RNN cudnn.BLSTM cudnn.BGRU(inputSize, hiddenSize, numLayers?, batchFirst?:any, dropout?,
   rememberStates?:any)
]]

local lines, parsed = {}, {}
for line in text:gsub('\n +', ' '):gmatch '[^\n]+' do
   local names, rest = line:match '^(.-)(%(.*)$'
   for name in names:gmatch '%S+' do
      lines[name:find('.', 1, true) and name or 'nn.' .. name] = rest
   end
end

local function parameters(list)
   local result = {}
   for word in list:gmatch '[^,%s]+' do
      local name, optional, rest, kind = word:match '^(%w+)(%??)(%.*):?(.*)$'
      result[#result + 1] = {name = name, optional = optional ~= '', rest = rest ~= '',
         kind = kind ~= '' and kind or 'number'}
   end
   return result
end

local M = {}

--- Returns the signature of a class: {parameters = list of {name, kind, optional, rest = true if it
-- covers all that follow}, arguments = nil or two of {name, kind, isElementwise = true if
-- methods receive it in the input's shape}, criterion = true for a criterion}; nil for a class
-- without a line.
function M.of(class)
   local line = lines[class]
   if not line or parsed[class] then return parsed[class] end
   local list, rest = line:match '^(%b())%s*(.*)$'
   local first, between, second = rest:match '^(%S-)%s*([,-]>?)%s*(%S+)$'
   parsed[class] = {
      parameters = parameters(list:sub(2, -2)),
      criterion = between == ',',
      arguments = first and {{name = 'input', kind = first},
         {name = between == ',' and 'target' or 'gradOutput',
            isElementwise = second == 'elementwise',
            kind = second == 'elementwise' and 'tensor' or second}},
   }
   return parsed[class]
end

--- Returns the names of the classes with a line, sorted.
function M.names()
   local names = {}
   for name in pairs(lines) do names[#names + 1] = name end
   table.sort(names)
   return names
end

return M
