--- dpt.nn: the table `nn`: layers, containers, criterions.
-- What must stay true: a class is loaded from its own file when it is asked for, by nn.NAME or by
-- its class name; `names` is the one list of what there is.

local class = require 'dpt.class'

local names = [[
   Module Container Criterion utils Jacobian hessian tables

   Sequential Parallel Concat DepthConcat ConcatTable ParallelTable MapTable Bottle Decorator
   DontCast WeightNorm NaN Profile DataParallelTable DataParallel GPU

   JoinTable SplitTable SelectTable NarrowTable FlattenTable MixtureTable ZipTable
   ZipTableOneToMany CriterionTable CAddTable CAddTensorTable CSubTable CMulTable CDivTable
   CMaxTable CMinTable

   Identity Copy Contiguous View Reshape Narrow Select Transpose Replicate Squeeze Unsqueeze
   Padding Index MaskedSelect Collapse Convert PixelShuffle OneHot Constant Max Min Mean
   Sum PrintSize

   Linear LinearWeightNorm Bilinear PartialLinear SparseLinear IndexLinear Kmeans LookupTable
   Maxout Add Mul CMul CAdd AddConstant MulConstant Euclidean WeightedEuclidean Cosine MM MV
   DotProduct CosineDistance PairwiseDistance

   Abs Clamp Exp Log Power Square Sqrt Normalize HardTanh HardShrink SoftShrink SoftMax SoftMin
   SoftPlus SoftSign LogSigmoid LogSoftMax Sigmoid Tanh TanhShrink Threshold ReLU ReLU6 PReLU RReLU
   CReLU ELU LeakyReLU GatedLinearUnit SpatialSoftMax SpatialLogSoftMax GradientReversal ZeroGrad
   L1Penalty

   Dropout SpatialDropout VolumetricDropout WhiteNoise BatchNormalization
   SpatialBatchNormalization VolumetricBatchNormalization LayerNormalization SpatialCrossMapLRN
   SpatialSubtractiveNormalization SpatialDivisiveNormalization SpatialContrastiveNormalization

   SpatialConvolution SpatialConvolutionMM SpatialConvolutionMap SpatialConvolutionLocal
   SpatialDilatedConvolution SpatialFullConvolution SpatialFullConvolutionMap
   SpatialDepthWiseConvolution SpatialSubSampling TemporalConvolution TemporalRowConvolution
   TemporalSubSampling VolumetricConvolution VolumetricFullConvolution VolumetricDilatedConvolution

   RNN SeqRNN SeqLSTM SeqGRU SeqBRNN AbstractRecurrent StepRNN LSTM GRU Recurrent RecurrentStep
   Recursor Sequencer SequencerCriterion LookupTableMaskZero NoBackprop

   SpatialMaxPooling SpatialDilatedMaxPooling SpatialMaxUnpooling SpatialAveragePooling
   SpatialAdaptiveMaxPooling SpatialAdaptiveAveragePooling SpatialFractionalMaxPooling
   SpatialLPPooling FeatureLPPooling TemporalMaxPooling TemporalDynamicKMaxPooling
   VolumetricMaxPooling VolumetricDilatedMaxPooling VolumetricMaxUnpooling VolumetricAveragePooling
   VolumetricFractionalMaxPooling

   SpatialUpSamplingNearest SpatialUpSamplingBilinear UpSampling SpatialZeroPadding
   SpatialReflectionPadding SpatialReplicationPadding VolumetricReplicationPadding

   AbsCriterion MSECriterion SmoothL1Criterion WeightedMSECriterion SpatialAutoCropMSECriterion
   BCECriterion ClassNLLCriterion SpatialClassNLLCriterion CrossEntropyCriterion
   ClassSimplexCriterion DistKLDivCriterion MultiMarginCriterion MultiLabelMarginCriterion
   MultiLabelSoftMarginCriterion MarginCriterion SoftMarginCriterion HingeEmbeddingCriterion
   L1HingeEmbeddingCriterion CosineEmbeddingCriterion MarginRankingCriterion L1Cost
   DistanceRatioCriterion ModuleCriterion MultiCriterion ParallelCriterion DataParallelCriterion
   StochasticGradient
]]

local nn = {}
local waiting = {} -- names whose file has not been asked for
for name in names:gmatch('%w+') do waiting[name] = true end

setmetatable(nn, {__index = function(_, name)
   if not waiting[name] then return nil end
   waiting[name] = nil
   local path = 'dpt.nn.' .. name
   local found = package.searchpath(path, package.path) and require(path)
   if type(found) == 'table' and rawget(nn, name) == nil then rawset(nn, name, found) end
   return rawget(nn, name)
end})

class.rooms.nn = nn

return nn
