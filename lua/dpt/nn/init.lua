--- dpt.nn: defines the table `nn`: layers, containers and criterions.
--
-- Invariant: the lists below are the only place that names the classes. Every class of Torch7's nn
-- is a field of nn from the start, so that pairs(nn) lists it, but its file is loaded at its first
-- use. Until then, a class that a script defines under the same name replaces it. A class that dpt
-- adds to Torch7's nn becomes a field at its first use; a class of a script or of a package (rnn)
-- replaces it even after that.

--- Text that the reference shares among all modules.
-- @pattern layer
-- @raise if a parameter is missing or has the wrong type. forward and backward raise if the input's
--    sizes do not fit: the error names these sizes, the wanted ones, and the line of the script
-- @follows Torch7's nn

--- Text that the reference shares among methods.
-- @pattern method
-- @raise any error of the module, with the names of the modules that contain it
-- @follows Torch7's nn

--- Text that the reference shares among recurrent modules.
-- @pattern recurrent
-- @raise if a parameter is missing or has the wrong type. forward and backward raise if the input's
--    sizes do not fit; backward raises if forward has not computed that step
-- @follows Element-Research's package rnn, and cudnn.torch's bindings

--- Text that the reference shares among modules for several devices.
-- @pattern parallel
-- @raise if a parameter is missing or has the wrong type; an error in a replica names the replica's
--    number and device
-- @follows Torch7's cunn, and PyTorch's classes of these names

--- Text that the reference shares among criterions.
-- @pattern criterion
-- @raise if a parameter is missing or has the wrong type. forward and backward raise if input and
--    target do not fit: the error names what they got, what they wanted, and the line of the script
-- @follows Torch7's nn

local class = require 'dpt.class'
local guard = require 'dpt.nn.guard'

--- Classes, as name:parent; the default parent is nn.Module.
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
   ReLU:Threshold ReLU6:HardTanh PReLU RReLU CReLU:Sequential ELU GELU SiLU LeakyReLU
   GatedLinearUnit SpatialSoftMax:SoftMax SpatialLogSoftMax:LogSoftMax GradientReversal
   ZeroGrad:Identity L1Penalty

   Dropout SpatialDropout:Dropout VolumetricDropout:Dropout WhiteNoise BatchNormalization
   SpatialBatchNormalization:BatchNormalization VolumetricBatchNormalization:BatchNormalization
   LayerNormalization:Sequential LayerNorm RMSNorm GroupNorm InstanceNorm:GroupNorm
   SpatialCrossMapLRN SpatialSubtractiveNormalization
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

--- Criterions, as name:parent; the default parent is nn.Criterion.
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

--- Tables and functions that are not classes, loaded at their first use.
local others = 'utils Jacobian SparseJacobian hessian tables safetensors DataParallel'

--- Classes that dpt adds: those of the package rnn, those for data parallelism, and PyTorch's.
local additions = [[
   RNN SeqRNN:RNN SeqLSTM:SeqRNN SeqGRU:SeqRNN SeqBRNN:Sequential AbstractRecurrent:Container
   StepRNN:AbstractRecurrent LSTM:StepRNN GRU:StepRNN Recurrent:AbstractRecurrent
   RecurrentStep:Decorator Recursor:AbstractRecurrent Sequencer:Container
   SequencerCriterion:Criterion LookupTableMaskZero:LookupTable NoBackprop:Decorator
   Embedding:LookupTable EmbeddingBag:LookupTable GLU:GatedLinearUnit SwiGLU:GatedLinearUnit
   GEGLU:GatedLinearUnit ReGLU:GatedLinearUnit Recompute:Decorator MixedPrecision:Decorator
   DataParallelCriterion:Criterion DistributedDataParallel:Decorator
   SyncBatchNormalization:BatchNormalization ScaledDotProductAttention
   MultiheadAttention:Container PositionEmbedding RotaryEmbedding
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

local hidden = {} -- not used yet: name -> constructor, or true if not a class

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
nn.THNN = require 'dpt.nn.THNN' -- its kernels are also a field of tensors

--- Text that the reference shares among methods for authors of classes; forward and backward call
-- them.
-- @pattern author
-- @within nn for authors
-- @follows Torch7's nn, or dpt's own
-- @raise any error of the class about its input

return nn
