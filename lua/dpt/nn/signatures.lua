--- What the classes of nn and cudnn take: their constructors' parameters, and the kinds of argument
-- of forward and backward.
--
-- Invariant: one line a class, or several classes that take the same: NAMES(parameters) followed by
-- `input -> gradOutput` for a module or `input, target` for a criterion. A line speaks of the
-- methods that the class's own file defines, so a class that overrides none of its parent's needs
-- none. A parameter is a number unless its kind follows a colon; one with ? may be left out; the
-- last one with ... stands for all that follow. Kinds joined by | are alternatives, any is not
-- looked at, and an empty right side says that forward takes what the modules inside do. `alike`
-- is a gradOutput of as many elements as the input, in any shape. It needs no library: scripts/docs
-- reads it where none is built.

--- Parameters that mean the same in all classes, for the reference.
-- @pattern parameters
-- @param module the module inside
-- @param criterion the criterion inside
-- @param dimension the dimension, from 1 on
-- @param dim the dimension, from 1 on
-- @param inputDimension the dimension that is cut
-- @param outputDimension the dimension along which outputs are joined
-- @param nInputDims dimensions of one input without the batch: an input of one more is a batch
-- @param nInputDim dimensions of one input without the batch
-- @param numInputDims dimensions of one input without the batch
-- @param nDim dimensions of one input without the batch
-- @param inplace true: the output takes the input's memory
-- @param ip true: the output takes the input's memory
-- @param inputSize features of an input
-- @param outputSize features of an output
-- @param inputSize1 features of the first input
-- @param inputSize2 features of the second input
-- @param bias false: nothing is added
-- @param doGradInput true: the gradient for the input is computed, too
-- @param offset the first entry, from 1 on; negative: counted from the end
-- @param length how many (1); negative: up to the one that it counts from the end
-- @param index which one, from 1 on; negative: counted from the end
-- @param sizes the sizes, as numbers or a LongStorage
-- @param nOutput features (planes) of input and output
-- @param eps what is added to a variance or a norm before it divides
-- @param momentum how much a batch counts in the running mean and variance (0.1)
-- @param affine false: no weight and no bias
-- @param p for dropping: the probability; for norms: the exponent
-- @param stochasticInference true: evaluation drops as training does
-- @param v1 true: training drops only, evaluation multiplies by 1 - p
-- @param nInputPlane planes of an input
-- @param nOutputPlane planes of an output
-- @param kT length of the window in time
-- @param kW width of the window
-- @param kH height of the window
-- @param dT steps of the window in time (1; of a pooling kT)
-- @param dW steps of the window along the width (1; of a pooling kW)
-- @param dH steps of the window along the height (1; of a pooling kH)
-- @param padT frames of zeros before and behind (0)
-- @param padW columns of zeros at the left and at the right (0)
-- @param padH rows of zeros above and below (0; padW if that is given to a convolution)
-- @param dilationT distance of the window's elements in time (1)
-- @param dilationW distance of the window's elements along the width (1)
-- @param dilationH distance of the window's elements along the height (1)
-- @param adjT frames that are added to the output
-- @param adjW columns that are added to the output
-- @param adjH rows that are added to the output
-- @param groups how many parts of the planes see only each other (1)
-- @param inputFrameSize features of a frame
-- @param outputFrameSize features of a frame of the output
-- @param kernel the window's weights, a vector or a matrix (9 x 9 ones)
-- @param threshold deviations below this count as thresval
-- @param pooling the pooling module whose places are taken
-- @param scale by how much each side grows
-- @param left columns at the left; negative: cut off
-- @param right columns at the right (left)
-- @param top rows above (left)
-- @param bottom rows below (left)
-- @param front frames before
-- @param back frames behind
-- @param mode CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_TANH or CUDNN_RNN_RELU
-- @param hiddenSize features of a state
-- @param numLayers layers, each on the output of the one before (1)
-- @param batchFirst true: the batch is dimension 1, time dimension 2
-- @param dropout the probability of dropping between layers
-- @param rememberStates true: a pass begins with the states that the one before ended with
-- @param rho the most steps that gradients go back through
-- @param merge the module that makes one of two outputs
-- @param sizeAverage false: losses are summed; else averaged
-- @param weights one factor a class
-- @param ignoreIndex targets of this class do not count
-- @param margin how far apart right and wrong must be (1)
-- @param nIndex how many rows there are
-- @param paddingValue the index whose row gets no gradient
-- @param maxNorm rows that are used are shortened to this norm
-- @param normType which norm that is (2)
local text = [[
Concat(dimension?)
Parallel(inputDimension?, outputDimension?) tensor -> tensor
MapTable(module?:module, shared?:any) table -> table
ParallelTable() tensor|table -> tensor|table
Bottle(module?:module, nInputDim?, nOutputDim?) tensor -> tensor
Decorator(module?:module)
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
CMul(sizes...:number|storage) tensor -> alike
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
Maxout(inputSize, outputSize, maxoutNumber, preprocess?:module)
Add(inputSize, scalar?:any) tensor -> tensor
Mul() tensor -> alike
AddConstant(constant:number|tensor, inplace?:any) tensor -> tensor
MulConstant(constant, inplace?:any) tensor -> tensor
Euclidean WeightedEuclidean Cosine(inputSize, outputSize) tensor -> tensor
MM(transA?:any, transB?:any) table -> tensor
MV(trans?:any) table -> tensor
DotProduct CosineDistance() tensor|table -> tensor
PairwiseDistance(p?) tensor|table -> tensor

Abs Exp Log Square Sqrt SoftSign LogSigmoid Sigmoid Tanh TanhShrink() tensor -> alike
SoftMax SoftMin LogSoftMax SpatialSoftMax SpatialLogSoftMax() tensor -> tensor
HardShrink SoftShrink(lambda?) tensor -> alike
SoftPlus(beta?) tensor -> alike
GradientReversal(lambda?) any -> tensor
HardTanh(min?, max?, inplace?:any) tensor -> alike
Clamp(min, max)
Power(p) tensor -> alike
Normalize(p, eps?) tensor -> alike
GatedLinearUnit(dim?) tensor -> tensor
Threshold(th?, v?, inplace?:any) tensor -> alike
ReLU ReLU6(inplace?:any)
PReLU(nOutputPlane?) tensor -> tensor
RReLU(l?, u?, inplace?:any) tensor -> alike
CReLU(nInputDims?, inplace?:any) tensor -> tensor
ELU(alpha?, inplace?:any) tensor -> alike
LeakyReLU(negval?:any, inplace?:any) tensor -> alike
L1Penalty(l1weight?, sizeAverage?:any, provideOutput?:any) tensor -> any

Dropout(p?, v1?:any, inplace?:any, stochasticInference?:any) tensor -> tensor
SpatialDropout VolumetricDropout(p?, stochasticInference?:any) tensor -> tensor
WhiteNoise(mean?, std?) tensor -> tensor
BatchNormalization SyncBatchNormalization(nOutput, eps?, momentum?, affine?:any) tensor -> tensor
LayerNormalization(nOutput, bias?, eps?, affine?:any)
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
cudnn.ReLU(inplace?:any) tensor -> alike
cudnn.ClippedReLU(ceiling, inplace?:any) tensor -> alike
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

--- What the class takes: {parameters = list of {name, kind, optional, rest = whether it stands for
-- all that follow}, arguments = nil or the two of {name, kind, alike = whether methods get it in
-- the shape of the input}, criterion = whether it is one}; nil for a class without a line.
function M.of(class)
   local line = lines[class]
   if not line or parsed[class] then return parsed[class] end
   local list, rest = line:match '^(%b())%s*(.*)$'
   local first, between, second = rest:match '^(%S-)%s*([,-]>?)%s*(%S+)$'
   parsed[class] = {
      parameters = parameters(list:sub(2, -2)),
      criterion = between == ',',
      arguments = first and {{name = 'input', kind = first},
         {name = between == ',' and 'target' or 'gradOutput', alike = second == 'alike',
            kind = second == 'alike' and 'tensor' or second}},
   }
   return parsed[class]
end

--- The classes with a line.
function M.names()
   local names = {}
   for name in pairs(lines) do names[#names + 1] = name end
   table.sort(names)
   return names
end

return M
