--- Maps specs to the files of lua/dpt that they cover, if their names do not; scripts/layers reads
-- it.
--
-- Invariant: every file of lua/dpt has a spec, and every spec covers something. In the folders of
-- `mirrored`, and wherever a spec has the name of a file, lua/dpt/X/y.lua is covered by
-- spec/X/y_spec.lua (lua/image/y.lua by spec/image/y_spec.lua), and by spec/X/y_TOPIC_spec.lua;
-- lua/dpt/nn/Y/z.lua by spec/nn/Y_z_spec.lua. `groups` lists the others: by spec, files of the same
-- folder. The text of a spec, or of the files of spec/support that it uses, names the classes that
-- it covers.
return {
   mirrored = {'parallel', 'comm', 'profiler', 'cudnn', 'rnn', 'optim', 'threads', 'file',
      'image'},

   -- Specs of whole programs, of users' issues, and of faults that depend on timing or chance.
   programs = {'scripts', 'user_issues', 'torture', 'golden', 'tour_spec.lua',
      'reference_spec.lua', 'pages_spec.lua', 'rocks_spec.lua'},

   groups = {
      ['class'] = 'class.operators class.types class.expect',
      ['transient'] = 'class.transient',
      ['compat'] = 'init',
      ['cudnn/ReLU'] = 'Sigmoid Tanh',
      ['cudnn/softmax'] = 'LogSoftMax SoftMax SpatialLogSoftMax SpatialSoftMax',
      ['device/init'] = 'generators streams',
      ['distributed/alike'] = 'init',
      ['distributed/bits'] = 'init',
      ['distributed/contract'] = 'init',
      ['distributed/empty_parts'] = 'init',
      ['distributed/endings'] = 'init',
      ['distributed/exchange'] = 'init',
      ['distributed/faults'] = 'init',
      ['distributed/groups'] = 'init group',
      ['distributed/host_normalization'] = 'init',
      ['distributed/loader'] = 'loading',
      ['distributed/pages'] = 'init',
      ['distributed/profile'] = 'init',
      ['distributed/resume'] = 'init',
      ['distributed/training'] = 'init',
      ['distributed/shares'] = 'init',
      ['distributed/later'] = 'init',
      ['distributed/uneven_rows'] = 'init',
      ['distributed/user_issues'] = 'init',
      ['distributed/wrapper'] = 'init',
      ['device/delays'] = 'init',
      ['device/graph'] = 'captured',
      ['device/cuda_calls'] = 'init',
      ['device/launches'] = 'init',
      ['device/library'] = 'init',
      ['device/operands'] = 'init',
      ['device/planted'] = 'init',
      ['device/queues'] = 'streams',
      ['device/scratch'] = 'init',
      ['device/two_gpus'] = 'init',
      ['launcher/launcher'] = 'main doctor repl shell help reference names topics',
      ['launcher/luajit'] = 'main',
      ['profiler/init'] = 'events',
      ['profiler/timeline'] = 'colours page page_script',
      ['profiler/summary'] = 'intervals memory',
      ['optim/adamw'] = 'adam_step',
      ['optim/LossScaler'] = 'scaled counts lazy',
      ['nn/DistributedDataParallel'] = [[
         DistributedDataParallel.sync DistributedDataParallel.inner
         DistributedDataParallel.check DistributedDataParallel.fields
         DistributedDataParallel.gradients DistributedDataParallel.join
         DistributedDataParallel.no_sync
         DistributedDataParallel.options
      ]],
      ['nn/MixedPrecision'] = [[
         MixedPrecision.Float MixedPrecision.cast MixedPrecision.conversion MixedPrecision.passes
         MixedPrecision.places MixedPrecision.precision exact_indices
      ]],
      ['nn/MixedPrecision_launches'] = 'MixedPrecision',
      ['nn/MixedPrecision_ranks'] = 'MixedPrecision',
      ['nn/SyncBatchNormalization'] = 'SyncBatchNormalization.exchange',
      ['nn/attention'] = 'PositionEmbedding RotaryEmbedding ScaledDotProductAttention rotary',
      ['nn/MultiheadAttention'] = 'cache',
      ['nn/Module'] = 'Jacobian init object sharing',
      ['nn/Embedding'] = 'Embedding EmbeddingBag',
      ['nn/aliased'] = 'unalias',
      ['nn/attention_devices'] = 'ScaledDotProductAttention',
      ['nn/container'] = [[
         Bilinear Bottle CAddTable CDivTable CMaxTable CMinTable CMulTable CSubTable
         Concat ConcatTable Container CosineDistance Decorator DepthConcat DontCast
         DotProduct FlattenTable Identity JoinTable MM MV MapTable MixtureTable
         NarrowTable PairwiseDistance Parallel ParallelTable SelectTable Sequential
         SplitTable WeightNorm ZipTable broadcast tableextremum tables
      ]],
      ['nn/convolution'] = [[
         FeatureLPPooling SpatialAdaptiveAveragePooling SpatialAdaptiveMaxPooling
         SpatialAveragePooling SpatialConvolution SpatialConvolutionLocal
         SpatialConvolutionMM SpatialConvolutionMap SpatialDepthWiseConvolution
         SpatialDilatedConvolution SpatialDilatedMaxPooling SpatialFractionalMaxPooling
         SpatialFullConvolution SpatialFullConvolutionMap SpatialLPPooling
         SpatialMaxPooling SpatialMaxUnpooling SpatialSubSampling
         TemporalDynamicKMaxPooling TemporalMaxPooling VolumetricAveragePooling
         VolumetricConvolution VolumetricDilatedConvolution VolumetricDilatedMaxPooling
         VolumetricFractionalMaxPooling VolumetricFullConvolution VolumetricMaxPooling
         VolumetricMaxUnpooling window
      ]],
      ['nn/convolution_devices'] = 'SpatialConvolution',
      ['nn/criterion'] = [[
         AbsCriterion BCECriterion ClassNLLCriterion ClassSimplexCriterion
         CosineEmbeddingCriterion Criterion CrossEntropyCriterion DistKLDivCriterion
         DistanceRatioCriterion HingeEmbeddingCriterion L1Cost L1HingeEmbeddingCriterion
         MSECriterion MarginCriterion MarginRankingCriterion ModuleCriterion
         MultiCriterion MultiLabelMarginCriterion MultiLabelSoftMarginCriterion
         MultiMarginCriterion ParallelCriterion SmoothL1Criterion SoftMarginCriterion
         SpatialAutoCropMSECriterion SpatialClassNLLCriterion WeightedMSECriterion
         losses
      ]],
      ['nn/guard'] = 'signatures',
      ['nn/layers_devices'] = [[
         SpatialAveragePooling SpatialMaxPooling SpatialBatchNormalization PReLU SoftMax
         SpatialUpSamplingNearest SpatialZeroPadding
      ]],
      ['nn/losses_devices'] = [[
         ClassNLLCriterion MultiMarginCriterion MultiLabelMarginCriterion LookupTable
      ]],
      ['nn/empty'] = 'Sequential Linear SpatialConvolution LookupTable',
      ['nn/text'] = 'text SpatialConvolution SpatialDilatedConvolution UpSampling',
      ['nn/linear'] = [[
         Add CAdd CMul Cosine Euclidean Linear LinearWeightNorm LookupTable Maxout Mul
         PartialLinear SparseLinear TemporalConvolution TemporalRowConvolution TemporalSubSampling
         WeightedEuclidean
      ]],
      ['nn/linear_devices'] = 'Linear',
      ['nn/normalization'] = [[
         BatchNormalization GroupNorm InstanceNorm LayerNorm LayerNormalization RMSNorm
         SpatialBatchNormalization normalization
         SpatialContrastiveNormalization SpatialCrossMapLRN SpatialDivisiveNormalization
         SpatialDropout SpatialSubtractiveNormalization VolumetricBatchNormalization
         VolumetricDropout WhiteNoise neighbourhood
      ]],
      ['nn/mixed_types'] = 'CAddTensorTable DistanceRatioCriterion JoinTable Narrow padding',
      ['nn/passing'] = [[
         CAddTensorTable Constant Copy CriterionTable GradientReversal L1Penalty
         PrintSize Profile StochasticGradient ZeroGrad ZipTableOneToMany
      ]],
      ['nn/pointwise'] = [[
         Abs CReLU Clamp ELU Exp GEGLU GELU GLU GatedLinearUnit HardShrink HardTanh LeakyReLU Log
         LogSigmoid LogSoftMax MulConstant NaN Normalize PReLU Power RReLU ReGLU ReLU ReLU6 SiLU
         Sigmoid SoftMax SoftMin SoftPlus SoftShrink SoftSign SpatialLogSoftMax SpatialSoftMax Sqrt
         Square SwiGLU Tanh TanhShrink Threshold elementwise softmax
      ]],
      ['nn/reduced'] = 'Criterion Linear SpatialConvolution BatchNormalization',
      ['nn/recurrent'] = [[
         AbstractRecurrent GRU LSTM LookupTableMaskZero NoBackprop RNN Recurrent
         RecurrentStep Recursor SeqBRNN SeqGRU SeqLSTM SeqRNN Sequencer
         SequencerCriterion StepRNN
      ]],
      ['nn/recorded'] = 'neighbourhood tables',
      ['nn/shape'] = [[
         AddConstant Collapse Contiguous Convert Index MaskedSelect Max Mean Min Narrow
         OneHot Padding PixelShuffle Replicate Reshape Select SpatialReflectionPadding
         SpatialReplicationPadding SpatialUpSamplingBilinear SpatialUpSamplingNearest
         SpatialZeroPadding Squeeze Sum Transpose Unsqueeze UpSampling View
         VolumetricReplicationPadding extremum padding
      ]],
      ['nn/sparse'] = 'IndexLinear Kmeans hessian',
      ['nn/torch7_forms'] = 'SparseJacobian',
      ['tensor/agree'] = 'indexing views pointwise reduce operators',
      ['tensor/cells'] = 'pointwise',
      ['tensor/broadcast'] = 'broadcast pointwise',
      ['tensor/collector'] = 'core',
      ['tensor/errors'] = 'core init system query sizes',
      ['tensor/expanded'] = 'pointwise',
      ['tensor/index'] = 'gather',
      ['tensor/masked'] = 'gather',
      ['tensor/memory'] = 'core storage',
      ['tensor/object'] = 'indexing construct print operators query',
      ['tensor/operators'] = 'metatype',
      ['tensor/philox'] = 'random',
      ['tensor/plain'] = 'core',
      ['tensor/products'] = 'linalg',
      ['tensor/blas_library'] = 'linalg',
      ['tensor/reduced'] = 'pointwise convert random reduce print',
      ['tensor/scan'] = 'reduce',
      ['tensor/shared_indices'] = 'gather',
      ['tensor/sort'] = 'reduce',
      ['tensor/torch7_forms'] = 'pointwise reduce linalg create views',
      ['tensor/trace'] = 'pointwise',
      ['threads/tds'] = 'entries',
      ['util/gnuplot'] = 'gnuplot.plots gnuplot.quote',
      ['util/sys'] = 'timer init',
      ['util/tester'] = 'assertions compare testsuite',
      ['util/xlua'] = 'usage optionparser profiler session',
   },
}
