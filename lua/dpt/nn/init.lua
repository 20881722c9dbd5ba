--- dpt.nn: the table `nn`: layers, containers, criterions.
--
-- Invariant: the lists here are the one place that names what there is. Every class is a field of
-- nn from the start, so that pairs(nn) lists it, but its file is loaded at its first use.
-- A class whose file is not loaded yet gives way to one that a script defines under its name. What
-- dpt adds to Torch7's nn is no field before its first use, and gives way to a script's or a
-- package's (rnn) class even after that.

--- What all modules have in common, for the reference.
-- @pattern layer
-- @raise if a parameter is missing or of another kind; forward and backward, if the input does not
--    have such sizes, naming what they got and what they wanted, at the line of the script
-- @follows Torch7's nn

--- What methods have in common, for the reference.
-- @pattern method
-- @raise what the module raises, naming the modules around it
-- @follows Torch7's nn

--- What recurrent modules have in common, for the reference.
-- @pattern recurrent
-- @raise if a parameter is missing or of another kind; forward and backward, if the input does not
--    have such sizes, or if backward comes for a step that forward has not done
-- @follows Element-Research's package rnn, and cudnn.torch's bindings

--- What the modules for several devices have in common, for the reference.
-- @pattern parallel
-- @raise if a parameter is missing or of another kind; what a replica raises comes with its number
--    and its device
-- @follows Torch7's cunn, and PyTorch's classes of these names

--- What all criterions have in common, for the reference.
-- @pattern criterion
-- @raise if a parameter is missing or of another kind; forward and backward, if input and target do
--    not fit, naming what they got and what they wanted, at the line of the script
-- @follows Torch7's nn

local class = require 'dpt.class'
local guard = require 'dpt.nn.guard'

--- Classes, as name:parent; without a parent nn.Module is.
local modules = [[
   Container

   Sequential:Container Parallel:Container Concat:Container DepthConcat:Concat
   ConcatTable:Container ParallelTable:Container MapTable:Container Bottle:Decorator
   Decorator:Container DontCast:Decorator WeightNorm:Decorator NaN:Decorator Profile:Decorator
   DataParallelTable:Container GPU:Container

   JoinTable SplitTable SelectTable NarrowTable FlattenTable MixtureTable ZipTable
   ZipTableOneToMany CriterionTable CAddTable CAddTensorTable CSubTable CMulTable CDivTable
   CMaxTable CMinTable

   Identity Copy Contiguous View Reshape Narrow Select Transpose Replicate Squeeze Unsqueeze
   Padding Index MaskedSelect Collapse Convert:Container PixelShuffle OneHot Constant Max Min
   Mean:Sum Sum PrintSize:Identity

   Linear LinearWeightNorm:Linear Bilinear PartialLinear SparseLinear IndexLinear Kmeans
   LookupTable Maxout:Sequential Add Mul CMul CAdd AddConstant MulConstant Euclidean
   WeightedEuclidean:Euclidean Cosine MM MV DotProduct CosineDistance PairwiseDistance

   Abs Clamp:HardTanh Exp Log Power Square Sqrt Normalize HardTanh HardShrink SoftShrink SoftMax
   SoftMin SoftPlus SoftSign LogSigmoid LogSoftMax Sigmoid Tanh TanhShrink Threshold
   ReLU:Threshold ReLU6:HardTanh PReLU RReLU CReLU:Sequential ELU LeakyReLU GatedLinearUnit
   SpatialSoftMax:SoftMax SpatialLogSoftMax:LogSoftMax GradientReversal ZeroGrad:Identity
   L1Penalty

   Dropout SpatialDropout:Dropout VolumetricDropout:Dropout WhiteNoise BatchNormalization
   SpatialBatchNormalization:BatchNormalization VolumetricBatchNormalization:BatchNormalization
   LayerNormalization:Sequential SpatialCrossMapLRN SpatialSubtractiveNormalization
   SpatialDivisiveNormalization SpatialContrastiveNormalization

   SpatialConvolution SpatialConvolutionMM:SpatialConvolution SpatialConvolutionMap
   SpatialConvolutionLocal SpatialDilatedConvolution:SpatialConvolution
   SpatialFullConvolution:SpatialConvolution SpatialFullConvolutionMap:SpatialConvolutionMap
   SpatialDepthWiseConvolution SpatialSubSampling TemporalConvolution TemporalRowConvolution
   TemporalSubSampling VolumetricConvolution VolumetricFullConvolution:VolumetricConvolution
   VolumetricDilatedConvolution:VolumetricConvolution

   SpatialMaxPooling SpatialDilatedMaxPooling:SpatialMaxPooling SpatialMaxUnpooling
   SpatialAveragePooling SpatialAdaptiveMaxPooling SpatialAdaptiveAveragePooling
   SpatialFractionalMaxPooling SpatialLPPooling:Sequential FeatureLPPooling TemporalMaxPooling
   TemporalDynamicKMaxPooling VolumetricMaxPooling:SpatialMaxPooling
   VolumetricDilatedMaxPooling:VolumetricMaxPooling VolumetricMaxUnpooling
   VolumetricAveragePooling VolumetricFractionalMaxPooling:SpatialFractionalMaxPooling

   SpatialUpSamplingNearest SpatialUpSamplingBilinear UpSampling SpatialZeroPadding
   SpatialReflectionPadding SpatialReplicationPadding VolumetricReplicationPadding
]]

--- Classes; without a parent nn.Criterion is.
local criterions = [[
   AbsCriterion MSECriterion SmoothL1Criterion WeightedMSECriterion:MSECriterion
   SpatialAutoCropMSECriterion:MSECriterion BCECriterion ClassNLLCriterion
   SpatialClassNLLCriterion:ClassNLLCriterion CrossEntropyCriterion
   ClassSimplexCriterion:MSECriterion DistKLDivCriterion MultiMarginCriterion
   MultiLabelMarginCriterion MultiLabelSoftMarginCriterion MarginCriterion SoftMarginCriterion
   HingeEmbeddingCriterion L1HingeEmbeddingCriterion CosineEmbeddingCriterion
   MarginRankingCriterion L1Cost DistanceRatioCriterion ModuleCriterion MultiCriterion
   ParallelCriterion
]]

--- Tables and functions that are no classes, loaded when they are asked for.
local others = 'utils Jacobian SparseJacobian hessian tables safetensors DataParallel'

--- What dpt adds: classes of the package rnn, and what data parallelism needs.
local additions = [[
   RNN SeqRNN:RNN SeqLSTM:SeqRNN SeqGRU:SeqRNN SeqBRNN:Sequential AbstractRecurrent:Container
   StepRNN:AbstractRecurrent LSTM:StepRNN GRU:StepRNN Recurrent:AbstractRecurrent
   RecurrentStep:Decorator Recursor:AbstractRecurrent Sequencer:Container
   SequencerCriterion:Criterion LookupTableMaskZero:LookupTable NoBackprop:Decorator
   DataParallelCriterion:Criterion DistributedDataParallel:Decorator
   SyncBatchNormalization:BatchNormalization
]]

local nn = {}
class.packages.nn = nn

local parents = {Module = false, Criterion = false, StochasticGradient = false}
local added = {}
for list, default in pairs{[modules] = 'Module', [criterions] = 'Criterion',
   [additions] = 'Module'} do
   for word in list:gmatch '%S+' do
      local name, parent = word:match '^(%w+):?(%w*)$'
      parents[name] = parent ~= '' and parent or default
      added[name] = list == additions
   end
end

local hidden = {} -- name -> constructor, or true for what is no class: not asked for yet

local function declare(name)
   if rawget(class.classes, 'nn.' .. name) then return end
   local parent = parents[name]
   if parent then declare(parent) end
   local place = added[name] and hidden or nn
   place[name] = class.declare('nn.' .. name, parent and 'nn.' .. parent or nil,
      'dpt.nn.' .. name, added[name], nil, guard)
end
for name in pairs(parents) do declare(name) end
for name in others:gmatch '%w+' do hidden[name] = true end

setmetatable(nn, {hidden = hidden, __index = function(_, name)
   local found = hidden[name]
   if not found then return nil end
   if found ~= true and not rawget(class.classes, 'nn.' .. name) then return nil end -- withdrawn
   hidden[name] = nil
   if found == true then found = require('dpt.nn.' .. name) end
   if rawget(nn, name) == nil then rawset(nn, name, found) end
   return rawget(nn, name)
end})
nn.THNN = require 'dpt.nn.THNN' -- tensors have its kernels as a field

--- What methods for authors of classes have in common, for the reference: forward and backward call
-- them.
-- @pattern author
-- @within nn for authors
-- @follows Torch7's nn, or dpt's own
-- @raise what the class raises about its input

return nn
