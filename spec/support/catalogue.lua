--- Lists every module of nn with an input: {name, make = function() that creates one, input =
-- function(rows) that creates a batch of doubles}; `whole`: it does not accept batches.
--
-- Invariant: every class of nn is here, in spec/support/criterions.lua or in `without`.
local nn = require 'nn'
local torch = require 'torch'

local M = {}

local function rows(...)
   local size = {...}
   return function(n) return torch.Tensor(n, unpack(size)):uniform(0.1, 0.9) end
end
local function tables(...)
   local parts = {...}
   return function(n)
      local list = {}
      for i, part in ipairs(parts) do list[i] = part(n) end
      return list
   end
end
local function indices(most, ...)
   local size = {...}
   return function(n) return torch.Tensor(n, unpack(size)):random(1, most) end
end

local function linear() return nn.Linear(4, 4) end
local function add(net, ...)
   for _, module in ipairs{...} do net:add(module) end
   return net
end
-- T x B, the layout of sequences
local function steps(...)
   local size = {...}
   return function(n) return torch.Tensor(3, n, unpack(size)):uniform(0.1, 0.9) end
end

local four, image, volume = rows(4), rows(2, 6, 6), rows(2, 4, 4, 4)
local two, frames = tables(four, four), rows(5, 4)
local kernel = torch.ones(3, 3)

--- By class: arguments or a function that creates one; input.
local modules = {
   Sequential = {function() return add(nn.Sequential(), linear(), nn.Tanh()) end, four},
   Parallel = {function() return add(nn.Parallel(2, 2), nn.Linear(4, 3), nn.Linear(4, 2)) end,
      rows(2, 4)},
   Concat = {function() return add(nn.Concat(2), linear(), nn.Linear(4, 2)) end, four},
   DepthConcat = {function()
      return add(nn.DepthConcat(2), nn.SpatialConvolution(2, 3, 1, 1),
         nn.SpatialConvolution(2, 1, 3, 3))
   end, image},
   ConcatTable = {function() return add(nn.ConcatTable(), linear(), linear()) end, four},
   ParallelTable = {function() return add(nn.ParallelTable(), linear(), linear()) end, two},
   MapTable = {function() return nn.MapTable(linear()) end, two},
   Bottle = {function() return nn.Bottle(linear()) end, rows(3, 4)},
   Decorator = {function() return nn.Decorator(linear()) end, four},
   Recompute = {function()
      return nn.Recompute(add(nn.Sequential(), linear(), nn.Tanh()))
   end, four},
   DontCast = {function() return nn.DontCast(linear(), true, true) end, four},
   WeightNorm = {function() return nn.WeightNorm(linear()) end, four},
   NaN = {function() return nn.NaN(linear()) end, four},
   Profile = {function() return nn.Profile(linear(), 1000) end, four},

   JoinTable = {{2}, two},
   SplitTable = {{2}, four},
   SelectTable = {{1}, two},
   NarrowTable = {{1, 1}, two},
   FlattenTable = {{}, tables(four, two)},
   MixtureTable = {{}, tables(rows(2), two)},
   ZipTable = {{}, tables(two, two)},
   ZipTableOneToMany = {{}, tables(four, two)},
   CAddTable = {{}, two},
   CAddTensorTable = {{}, tables(four, two)},
   CSubTable = {{}, two},
   CMulTable = {{}, two},
   CDivTable = {{}, two},
   CMaxTable = {{}, two},
   CMinTable = {{}, two},

   Identity = {{}, four},
   Copy = {{'torch.DoubleTensor', 'torch.DoubleTensor'}, four},
   Contiguous = {{}, four},
   View = {function() return nn.View(-1):setNumInputDims(2) end, rows(2, 2)},
   Reshape = {{2, 2, true}, four},
   Narrow = {{2, 1, 2}, four},
   Select = {{2, 1}, four},
   Transpose = {{{2, 3}}, rows(2, 3)},
   Replicate = {{3, 2}, four},
   Squeeze = {{2}, rows(1, 4)},
   Unsqueeze = {{2}, four},
   Padding = {{2, 1}, four},
   Index = {{2}, function(n) return {torch.rand(n, 4), torch.LongTensor{1, 3}} end},
   MaskedSelect = {{}, function(n) return {torch.rand(n, 4), torch.ByteTensor(n, 4):fill(1)} end},
   Collapse = {{2}, rows(2, 3)},
   Convert = {{'bchw', 'bf'}, image},
   PixelShuffle = {{2}, rows(4, 2, 2)},
   OneHot = {{4}, indices(4)},
   Constant = {{torch.ones(3), 1}, four},
   Max = {{2}, four},
   Min = {{2}, four},
   Mean = {{2}, four},
   Sum = {{2}, four},

   Linear = {{4, 3}, four},
   LinearWeightNorm = {{4, 3}, four},
   Bilinear = {{4, 4, 2}, two},
   PartialLinear = {{4, 3}, four},
   SparseLinear = {{5, 3}, function(n)
      return torch.cat(torch.Tensor(n, 2, 1):random(1, 5), torch.rand(n, 2, 1), 3)
   end},
   IndexLinear = {{5, 3}, function(n)
      local keys, values = {}, {}
      for i = 1, n do keys[i], values[i] = torch.LongTensor{1, 4}, torch.rand(2) end
      return {keys, values}
   end},
   Kmeans = {{3, 4}, four},
   LookupTable = {{6, 3}, indices(6, 2)},
   LookupTableMaskZero = {{6, 3}, indices(6, 2)},
   Embedding = {{6, 3, 2}, indices(6, 2, 2)},
   EmbeddingBag = {{6, 3, 'max'}, indices(6, 2)},
   Maxout = {{4, 3, 2}, four},
   Add = {{4}, four},
   Mul = {{}, four},
   CMul = {{4}, four},
   CAdd = {{4}, four},
   AddConstant = {{1}, four},
   MulConstant = {{2}, four},
   Euclidean = {{4, 3}, four},
   WeightedEuclidean = {{4, 3}, four},
   Cosine = {{4, 3}, four},
   MM = {{}, tables(rows(2, 3), rows(3, 2))},
   MV = {{}, tables(rows(2, 3), rows(3))},
   DotProduct = {{}, two},
   CosineDistance = {{}, two},
   PairwiseDistance = {{2}, two},

   HardTanh = {{}, four}, Clamp = {{-1, 1}, four}, Power = {{2}, four}, Normalize = {{2}, four},
   SpatialSoftMax = {{}, image}, SpatialLogSoftMax = {{}, image}, GatedLinearUnit = {{2}, four},
   GLU = {{}, rows(3, 4)}, SwiGLU = {{2}, four}, GEGLU = {{-1}, four}, ReGLU = {{}, four},
   Threshold = {{0.1, 0}, four}, CReLU = {{1}, four}, L1Penalty = {{0.1}, four},
   GradientReversal = {{}, four}, ZeroGrad = {{}, four}, NoBackprop = {function()
      return nn.NoBackprop(linear())
   end, four},

   Dropout = {{0.5}, four}, WhiteNoise = {{}, four}, SpatialDropout = {{0.5}, image},
   VolumetricDropout = {{0.5}, volume},
   BatchNormalization = {{4}, four},
   SyncBatchNormalization = {{4}, four}, SpatialBatchNormalization = {{2}, image},
   VolumetricBatchNormalization = {{2}, volume}, LayerNormalization = {{4}, four},
   LayerNorm = {{4}, four}, RMSNorm = {{4}, four}, GroupNorm = {{2, 4}, four},
   InstanceNorm = {{2, 1e-5, true}, image},
   SpatialCrossMapLRN = {{3}, image},
   SpatialSubtractiveNormalization = {{2, kernel}, image},
   SpatialDivisiveNormalization = {{2, kernel}, image},
   SpatialContrastiveNormalization = {{2, kernel}, image},

   SpatialConvolution = {{2, 3, 3, 3}, image},
   SpatialConvolutionMM = {{2, 3, 3, 3}, image},
   SpatialConvolutionMap = {function()
      return nn.SpatialConvolutionMap(nn.tables.full(2, 3), 3, 3)
   end, image},
   SpatialConvolutionLocal = {{2, 3, 6, 6, 3, 3}, image},
   SpatialDilatedConvolution = {{2, 3, 3, 3, 1, 1, 0, 0, 2, 2}, image},
   SpatialFullConvolution = {{2, 3, 3, 3}, image},
   SpatialFullConvolutionMap = {function()
      return nn.SpatialFullConvolutionMap(nn.tables.full(2, 3), 3, 3)
   end, image},
   SpatialDepthWiseConvolution = {{2, 2, 3, 3}, image},
   SpatialSubSampling = {{2, 2, 2, 2, 2}, image},
   TemporalConvolution = {{4, 3, 2}, frames},
   TemporalRowConvolution = {{4, 2}, frames},
   TemporalSubSampling = {{4, 2, 2}, function() return torch.rand(5, 4) end, whole = true},
   VolumetricConvolution = {{2, 3, 2, 2, 2}, volume},
   VolumetricFullConvolution = {{2, 3, 2, 2, 2}, volume},
   VolumetricDilatedConvolution = {{2, 3, 2, 2, 2}, volume},

   RNN = {{'CUDNN_LSTM', 4, 3, 2}, steps(4)},
   SeqRNN = {{'CUDNN_RNN_TANH', 4, 3}, steps(4)},
   SeqLSTM = {{4, 3}, steps(4)}, SeqGRU = {{4, 3}, steps(4)}, SeqBRNN = {{4, 3}, steps(4)},
   StepRNN = {{'CUDNN_LSTM', 4, 3}, four},
   LSTM = {{4, 3}, four}, GRU = {{4, 3}, four},
   Recurrent = {function() return nn.Recurrent(3, nn.Linear(4, 3), nn.Linear(3, 3)) end, four},
   Recursor = {function() return nn.Recursor(linear()) end, four},
   RecurrentStep = {function() return nn.RecurrentStep(linear()) end, four},
   Sequencer = {function() return nn.Sequencer(linear()) end, steps(4)},

   ScaledDotProductAttention = {{}, tables(rows(3, 4), rows(5, 4), rows(5, 2))},
   MultiheadAttention = {{4, 2}, steps(4)},
   PositionEmbedding = {{3, 4}, rows(3, 4)}, RotaryEmbedding = {{4}, rows(3, 4)},

   SpatialMaxPooling = {{2, 2}, image}, SpatialDilatedMaxPooling = {{2, 2}, image},
   SpatialMaxUnpooling = {function()
      local pool = nn.SpatialMaxPooling(2, 2)
      return add(nn.Sequential(), pool, nn.SpatialMaxUnpooling(pool))
   end, image},
   SpatialAveragePooling = {{2, 2}, image}, SpatialAdaptiveMaxPooling = {{2, 2}, image},
   SpatialAdaptiveAveragePooling = {{2, 2}, image},
   SpatialFractionalMaxPooling = {{2, 2, 3, 3}, image},
   SpatialLPPooling = {{2, 2, 2, 2}, image}, FeatureLPPooling = {{2, 1, 2, true}, four},
   TemporalMaxPooling = {{2}, frames}, TemporalDynamicKMaxPooling = {{2}, frames},
   VolumetricMaxPooling = {{2, 2, 2}, volume}, VolumetricDilatedMaxPooling = {{2, 2, 2}, volume},
   VolumetricMaxUnpooling = {function()
      local pool = nn.VolumetricMaxPooling(2, 2, 2)
      return add(nn.Sequential(), pool, nn.VolumetricMaxUnpooling(pool))
   end, volume},
   VolumetricAveragePooling = {{2, 2, 2}, volume},
   VolumetricFractionalMaxPooling = {{2, 2, 2, 2, 2, 2}, volume},

   SpatialUpSamplingNearest = {{2}, image}, SpatialUpSamplingBilinear = {{2}, image},
   UpSampling = {{2, 'nearest'}, image},
   SpatialZeroPadding = {{1}, image}, SpatialReflectionPadding = {{1, 1, 1, 1}, image},
   SpatialReplicationPadding = {{1, 1, 1, 1}, image},
   VolumetricReplicationPadding = {{1, 1, 1, 1, 1, 1}, volume},
}
for name in ([[Abs Exp Log Square Sqrt HardShrink SoftShrink SoftMax SoftMin SoftPlus SoftSign
   LogSigmoid LogSoftMax Sigmoid Tanh TanhShrink ReLU ReLU6 PReLU RReLU ELU GELU SiLU LeakyReLU]])
   :gmatch '%w+' do
   modules[name] = {{}, four}
end

--- Classes that cannot be tested as modules by themselves; PrintSize is an nn.Identity that prints.
M.without = {}
for name in ([[Container DataParallelTable GPU CriterionTable PrintSize AbstractRecurrent
   SequencerCriterion DataParallelCriterion DistributedDataParallel
   MixedPrecision]]):gmatch '%w+' do
   M.without[name] = true
end

for name, case in pairs(modules) do
   local make = case[1]
   table.insert(M, {name = name, input = case[2], whole = case.whole,
      make = type(make) == 'function' and make or function() return nn[name](unpack(make)) end})
end
table.sort(M, function(a, b) return a.name < b.name end)

return M
