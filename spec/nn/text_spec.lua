--- tostring of layers matches Torch7; layers without text there show their constructors' arguments.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local catalogue = require 'spec.support.catalogue'
local criterions = require 'spec.support.criterions'
local signatures = require 'dpt.nn.signatures'

local cases = {
   {'SpatialConvolution', {1, 2, 3, 3}, '(1 -> 2, 3x3)'},
   {'SpatialConvolution', {1, 2, 3, 2, 2, 1}, '(1 -> 2, 3x2, 2,1)'},
   {'SpatialConvolution', {1, 2, 3, 3, 1, 1, 1, 0}, '(1 -> 2, 3x3, 1,1, 1,0)'},
   {'SpatialDilatedConvolution', {1, 2, 3, 3}, '(1 -> 2, 3x3, 1,1)'},
   {'SpatialDilatedConvolution', {1, 2, 3, 3, 1, 1, 1, 1, 2, 2}, '(1 -> 2, 3x3, 1,1, 1,1, 2,2)'},
   {'SpatialFullConvolution', {1, 2, 3, 3, 2, 2, 1, 1, 1, 1}, '(1 -> 2, 3x3, 2,2, 1,1, 1,1)'},
   {'VolumetricConvolution', {1, 2, 3, 4, 5}, '(1 -> 2, 3x4x5)'},
   {'VolumetricConvolution', {1, 2, 3, 3, 3, 1, 1, 1, 1, 1, 1}, '(1 -> 2, 3x3x3, 1,1,1, 1,1,1)'},
   {'VolumetricDilatedConvolution', {1, 2, 3, 3, 3}, '(1 -> 2, 3x3x3, 1,1,1)'},
   {'VolumetricFullConvolution', {1, 2, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1},
      '(1 -> 2, 3x3x3, 2,2,2, 1,1,1, 1,1,1)'},
   {'VolumetricDilatedMaxPooling', {2, 2, 2}, '(2x2x2, 2,2,2, 1,1,1)'},
   {'VolumetricDilatedMaxPooling', {2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2, 2},
      '(2x2x2, 1,1,1, 1,1,1, 2,2,2)'},
   {'SpatialFractionalMaxPooling', {2, 2, 3, 4}, '(3x4, 2,2)'},
   {'VolumetricFractionalMaxPooling', {2, 2, 3, 4, 5, 6}, '(4x5x6, 2,2,3)'},
   {'UpSampling', {2}, '(2x, nearest)'},
   {'UpSampling', {{oheight = 3, owidth = 2}, 'bilinear'}, '(3x2, linear)'},
   {'UpSampling', {{odepth = 1, oheight = 3, owidth = 2}, 'linear'}, '(1x3x2, linear)'},
}

--- Classes without text in Torch7.
local shown = {
   ['nn.Add'] = {{4}, '(4)'}, ['nn.AddConstant'] = {{0.5}, '(0.5)'},
   ['nn.CAdd'] = {{2, 3}, '(2, 3)'}, ['nn.CMul'] = {{torch.LongStorage{1, 3}}, '(1, 3)'},
   ['nn.Clamp'] = {{-2, 3}, '(-2, 3)'}, ['nn.Collapse'] = {{2}, '(2)'},
   ['nn.Constant'] = {{7, 2}, '(7, 2)'}, ['nn.Convert'] = {{'bf', 'b'}, '(bf, b)'},
   ['nn.Copy'] = {{'torch.FloatTensor', 'torch.DoubleTensor'},
      '(torch.FloatTensor, torch.DoubleTensor)'},
   ['nn.Cosine'] = {{3, 4}, '(3 -> 4)'}, ['nn.Euclidean'] = {{3, 4}, '(3 -> 4)'},
   ['nn.WeightedEuclidean'] = {{3, 4}, '(3 -> 4)'}, ['nn.GatedLinearUnit'] = {{2}, '(2)'},
   ['nn.SoftMax'] = {{2}, '(2)'}, ['nn.LogSoftMax'] = {{-1}, '(-1)'},
   ['nn.SoftMin'] = {{1}, '(1)'}, ['nn.GradientReversal'] = {{0.3}, '(0.3)'},
   ['nn.HardShrink'] = {{0.7}, '(0.7)'},
   ['nn.SoftShrink'] = {{0.7}, '(0.7)'}, ['nn.HardTanh'] = {{-2, 3}, '(-2, 3)'},
   ['nn.Index'] = {{2}, '(2)'}, ['nn.IndexLinear'] = {{5, 3}, '(5 -> 3)'},
   ['nn.JoinTable'] = {{1, 2}, ''}, ['nn.SplitTable'] = {{-1}, '(-1)'},
   ['nn.Kmeans'] = {{3, 4, 2}, '(3, 4, 2)'}, ['nn.L1Penalty'] = {{0.2}, '(0.2)'},
   ['nn.LookupTable'] = {{10, 5, 1, 2}, ''},
   ['nn.LookupTableMaskZero'] = {{10, 5}, '(10 -> 5)'},
   ['nn.Embedding'] = {{10, 5}, '(10 -> 5)'}, ['nn.EmbeddingBag'] = {{10, 5}, '(10 -> 5, mean)'},
   ['nn.MM'] = {{false, true}, '(false, true)'}, ['nn.MV'] = {{true}, '(true)'},
   ['nn.Max'] = {{2}, '(2)'}, ['nn.Min'] = {{1, 2}, '(1, 2)'}, ['nn.Mean'] = {{2}, '(2)'},
   ['nn.Sum'] = {{2, 3}, '(2, 3)'}, ['nn.MixtureTable'] = {{2}, '(2)'},
   ['nn.MulConstant'] = {{3}, '(3)'}, ['nn.Narrow'] = {{2, 1, 4}, '(2, 1, 4)'},
   ['nn.NarrowTable'] = {{2, 3}, '(2, 3)'}, ['nn.OneHot'] = {{6}, '(6)'},
   ['nn.PositionEmbedding'] = {{5, 4}, '(5, 4)'}, ['nn.RotaryEmbedding'] = {{4}, '(4, 10000)'},
   ['nn.MultiheadAttention'] = {{8, 4, {numKvHeads = 2, causal = true, dropout = 0.5}},
      '(8, 4 heads, 2 of keys, causal, dropout=0.5)'},
   ['nn.PReLU'] = {{4}, '(4)'}, ['nn.Padding'] = {{1, 2, 3}, '(1, 2, 3, 0, 1)'},
   ['nn.PairwiseDistance'] = {{1}, '(1)'}, ['nn.PixelShuffle'] = {{2}, '(2)'},
   ['nn.Power'] = {{3}, '(3)'}, ['nn.Recursor'] = {{nn.Tanh()}, ' @ nn.Tanh'},
   ['nn.Replicate'] = {{3, 2}, '(3, 2)'}, ['nn.Select'] = {{1, -1}, '(1, -1)'},
   ['nn.SoftPlus'] = {{2}, '(2)'}, ['nn.SparseLinear'] = {{5, 3}, '(5 -> 3)'},
   ['nn.SpatialAdaptiveAveragePooling'] = {{3, 2}, '(3, 2)'},
   ['nn.SpatialAdaptiveMaxPooling'] = {{3, 2}, '(3, 2)'},
   ['nn.SpatialContrastiveNormalization'] = {{3, torch.ones(5), 0.1},
      '(3, threshold=0.1, thresval=0.1)'},
   ['nn.SpatialConvolutionMap'] = {{torch.Tensor{{1, 1}}, 3, 2}, '(kW=3, kH=2, dW=1, dH=1)'},
   ['nn.SpatialCrossMapLRN'] = {{5, 0.1, 0.5, 2}, '(5, 0.1, 0.5, 2)'},
   ['nn.SpatialDivisiveNormalization'] = {{3, torch.ones(5), 0.1, 0.2},
      '(3, threshold=0.1, thresval=0.2)'},
   ['nn.SpatialSubtractiveNormalization'] = {{3}, '(3)'},
   ['nn.SpatialSubSampling'] = {{3, 2, 2}, '(3, 2, 2, 1, 1)'},
   ['nn.SpatialUpSamplingNearest'] = {{2}, '(2)'},
   ['nn.Squeeze'] = {{2}, '(2)'}, ['nn.TemporalConvolution'] = {{4, 3, 2}, ''},
   ['nn.TemporalDynamicKMaxPooling'] = {{2, 0.5}, '(2, 0.5)'},
   ['nn.TemporalMaxPooling'] = {{2, 1}, '(2, 1)'},
   ['nn.TemporalSubSampling'] = {{4, 2}, '(4, 2, 1)'}, ['nn.Threshold'] = {{0.1, 2}, '(0.1, 2)'},
   ['nn.Transpose'] = {{{1, 2}, {2, 3}}, '({1, 2}, {2, 3})'},
   ['nn.ClassNLLCriterion'] = {{nil, true, 3}, '(ignoreIndex=3)'},
   ['nn.ClassSimplexCriterion'] = {{5}, '(5)'}, ['nn.MarginCriterion'] = {{0.7}, '(0.7)'},
   ['nn.MultiMarginCriterion'] = {{2, nil, 0.5}, '(2, margin=0.5)'},
   ['cudnn.ClippedReLU'] = {{6}, '(6)'},
   ['cudnn.SpatialCrossMapLRN'] = {{5, 0.1, 0.5, 2}, '(5, 0.1, 0.5, 2)'},
   ['cudnn.SpatialDivisiveNormalization'] = {{5, 0.1, 0.5, 2}, '(5, 0.1, 0.5, 2)'},
   ['cudnn.TemporalConvolution'] = {{4, 3, 2}, '(4 -> 3, 2, 1, 0)'},
   -- without numbers
   ['nn.ReLU'] = {{true}, ''}, ['nn.ReLU6'] = {{}, ''}, ['nn.Identity'] = {{}, ''},
   ['nn.Transpose '] = {{}, ''}, ['nn.MSECriterion'] = {{}, ''}, ['cudnn.Tanh'] = {{}, ''},
}

--- Classes that take numbers, but whose text recorded from Torch7 has none.
local recorded = {['nn.JoinTable'] = true, ['nn.LookupTable'] = true,
   ['nn.TemporalConvolution'] = true}

local function classOf(name) return dpt[name:match '^%w+'][name:match '%.(%w+)'] end

describe('The text of', function()
   it('other layers and criterions shows their arguments', function()
      for name, case in pairs(shown) do
         name = name:match '%S+'
         local object = classOf(name)(unpack(case[1], 1, table.maxn(case[1])))
         assert.equal(name .. case[2], tostring(object))
         assert.equal(name .. case[2], tostring(object:float()))
      end
   end)

   it('every class with numeric or named arguments prints more than its name', function()
      local objects = {
         ['nn.MixedPrecision'] = nn.MixedPrecision(nn.Linear(2, 3):float(), 'half'),
         ['nn.Recurrent'] = nn.Recurrent(3, nn.Linear(4, 3), nn.Linear(3, 3)),
         ['cudnn.SpatialConvolution'] = cudnn.SpatialConvolution(2, 3, 1, 1),
         ['cudnn.VolumetricConvolution'] = cudnn.VolumetricConvolution(2, 3, 1, 1, 1),
         ['cudnn.SpatialAveragePooling'] = cudnn.SpatialAveragePooling(2, 2),
      }
      for _, name in ipairs{'RNN', 'BLSTM', 'BGRU'} do
         objects['cudnn.' .. name] = cudnn[name](2, 3, 1)
      end
      for name, case in pairs(shown) do
         objects[name] = objects[name]
            or classOf(name)(unpack(case[1], 1, table.maxn(case[1])))
      end
      for _, list in ipairs{catalogue, criterions} do
         for _, case in ipairs(list) do
            local name = 'nn.' .. case.name
            objects[name] = objects[name] or case.make()
         end
      end
      local count = 0
      for _, name in ipairs(signatures.names()) do
         local takes = false
         for _, parameter in ipairs(signatures.of(name).parameters) do
            takes = takes or parameter.kind:find 'number' or parameter.kind:find 'string'
         end
         if takes and not recorded[name] then
            local object = assert(objects[name], name)
            assert.not_equal(torch.type(object), tostring(object))
            count = count + 1
         end
      end
      assert.is_true(count > 100)
   end)

   it('an object prints the current values of its fields', function()
      local cosine, narrow = nn.Cosine(4, 2), nn.Narrow(1, 2, 3)
      cosine.weight, narrow.dimension, narrow.length = nil, {}, 5
      assert.equal('nn.Cosine', tostring(cosine))
      assert.equal('nn.Narrow(offset=2, length=5)', tostring(narrow))
      local Own = torch.class('nn.SpecOwnSplit', 'nn.SplitTable')
      function Own:__init() nn.SplitTable.__init(self, 2) end
      assert.equal('nn.SpecOwnSplit(2)', tostring(nn.SpecOwnSplit()))
      assert.equal('nn.Recurrent {\n  start: nn.Add(3)\n  input: nn.Linear(4 -> 3)\n'
         .. '  feedback: nn.Sequential {\n    [input -> (1) -> output]\n    (1): nn.Tanh\n  }\n'
         .. '  transfer: nn.Sigmoid\n  merge: nn.CAddTable\n}', tostring(
            nn.Recurrent(3, nn.Linear(4, 3), nn.Sequential():add(nn.Tanh()))))
   end)

   for i, case in ipairs(cases) do
      it(('nn.%s is Torch7\'s (case %d)'):format(case[1], i), function()
         assert.equal('nn.' .. case[1] .. case[3], tostring(nn[case[1]](unpack(case[2]))))
      end)
   end

   it('layers without bias is printed if Torch7 prints it', function()
      local flat, deep = {1, 2, 3, 3}, {1, 2, 3, 3, 3}
      for name, arguments in pairs{SpatialConvolution = flat, SpatialFullConvolution = flat,
         SpatialDilatedConvolution = flat, VolumetricDilatedConvolution = deep} do
         local m = nn[name](unpack(arguments)):noBias()
         assert.truthy(tostring(m):find(') without bias', 1, true), name)
      end
      for _, name in ipairs{'VolumetricConvolution', 'VolumetricFullConvolution'} do
         assert.is_nil(tostring(nn[name](unpack(deep)):noBias()):find('bias', 1, true))
      end
   end)

   it('unpooling names its pooling', function()
      assert.equal('nn.SpatialMaxUnpooling associated to nn.SpatialMaxPooling(2x2, 2,2)',
         tostring(nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2, 2))))
      assert.equal('nn.VolumetricMaxUnpooling associated to nn.VolumetricMaxPooling(2x2x2, 2,2,2)',
         tostring(nn.VolumetricMaxUnpooling(nn.VolumetricMaxPooling(2, 2, 2))))
   end)
end)
