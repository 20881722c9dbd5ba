-- dpt.nn.kernels: every kernel of THNN, called with the arguments that its list names, computes the
-- same as the module of its name.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local kernels = require 'dpt.nn.kernels'

local image, volume = {2, 4, 7, 6}, {2, 2, 5, 6, 7}
local table2 = torch.Tensor{{1, 1}, {2, 1}, {3, 2}, {4, 3}, {1, 3}}
local ones = {1, 2, 1, 3}

-- kernel -> {module, size of the input, target of a criterion, fields that only the kernel needs}
local function cases()
   local list = {
      GatedLinear = {nn.GatedLinearUnit(2), image, fields = {dim = 2}},
      PReLU = {nn.PReLU(4), image},
      RReLU = {nn.RReLU(0.1, 0.4), image, fields = {generator = torch._gen}},
      LogSigmoid = {nn.LogSigmoid(), image},
      Sqrt = {nn.Sqrt(0.1), image, positive = true},
      L1Cost = {nn.L1Cost(), {4, 5}},
      BCECriterion = {nn.BCECriterion(torch.rand(5)), {4, 5}, torch.rand(4, 5):gt(0.5):double(),
         positive = true},
      ClassNLLCriterion = {nn.ClassNLLCriterion(torch.rand(5), true, 2), {4, 5},
         torch.LongTensor(ones)},
      DistKLDivCriterion = {nn.DistKLDivCriterion(), {4, 5}, torch.rand(4, 5)},
      MarginCriterion = {nn.MarginCriterion(0.7), {4, 5}, torch.randn(4, 5):sign()},
      MultiLabelMarginCriterion = {nn.MultiLabelMarginCriterion(), {4, 5},
         torch.LongTensor{{1, 3, 0, 0, 0}, {2, 0, 0, 0, 0}, {5, 4, 1, 0, 0}, {0, 0, 0, 0, 0}}},
      MultiMarginCriterion = {nn.MultiMarginCriterion(2, torch.rand(5), 0.8), {4, 5},
         torch.LongTensor(ones)},
      SpatialClassNLLCriterion = {nn.SpatialClassNLLCriterion(torch.rand(3)), {2, 3, 2, 2},
         torch.LongTensor(2, 2, 2):random(1, 3)},
      Linear = {nn.Linear(5, 3), {4, 5}},
      LookupTable = {nn.LookupTable(6, 3, 2):scaleGradByFreq(), {4, 5}, indices = true},
      BatchNormalization = {nn.SpatialBatchNormalization(4), image},
      SpatialCrossMapLRN = {nn.SpatialCrossMapLRN(3, 0.1, 0.6, 2), image},
      SpatialConvolutionLocal = {nn.SpatialConvolutionLocal(4, 3, 6, 7, 3, 2, 2, 1, 1, 0), image},
      SpatialConvolutionMap = {nn.SpatialConvolutionMap(table2, 3, 2), image},
      SpatialDepthWiseConvolution = {nn.SpatialDepthWiseConvolution(4, 2, 3, 2, 1, 2, 1), image},
      SpatialDilatedConvolution = {nn.SpatialDilatedConvolution(4, 3, 2, 3, 1, 2, 1, 1, 2, 1),
         image},
      SpatialFullConvolution = {nn.SpatialFullConvolution(4, 3, 3, 2, 2, 2, 1, 0, 1, 0), image},
      SpatialFullConvolutionMap = {nn.SpatialFullConvolutionMap(table2, 3, 2), image},
      TemporalConvolution = {nn.TemporalConvolution(6, 4, 3, 2), {2, 7, 6}},
      TemporalRowConvolution = {nn.TemporalRowConvolution(6, 3, 1), {2, 7, 6}, fields = {padW = 0}},
      VolumetricConvolution = {nn.VolumetricConvolution(2, 3, 2, 3, 2, 1, 2, 1, 1, 0, 1), volume},
      VolumetricConvolutionMM = {nn.VolumetricConvolution(2, 3, 2, 3, 2, 1, 2, 1, 1, 0, 1), volume},
      VolumetricDilatedConvolution = {nn.VolumetricDilatedConvolution(2, 3, 2, 3, 2, 1, 2, 1, 1, 0,
         1, 2, 1, 2), volume},
      VolumetricFullConvolution = {nn.VolumetricFullConvolution(2, 3, 2, 3, 2, 2, 2, 2, 0, 1, 0,
         1, 0, 1), volume},
      FeatureLPPooling = {nn.FeatureLPPooling(3, 2, 2, true), {4, 9}},
      SpatialAdaptiveAveragePooling = {nn.SpatialAdaptiveAveragePooling(3, 2), image},
      SpatialAdaptiveMaxPooling = {nn.SpatialAdaptiveMaxPooling(3, 2), image},
      SpatialDilatedMaxPooling = {nn.SpatialDilatedMaxPooling(2, 3, 1, 2, 1, 0, 2, 1), image},
      SpatialFractionalMaxPooling = {nn.SpatialFractionalMaxPooling(2, 3, 3, 4)
         :fixPoolingRegions(), image},
      SpatialSubSampling = {nn.SpatialSubSampling(4, 2, 3, 1, 2), image},
      TemporalMaxPooling = {nn.TemporalMaxPooling(3, 2), {2, 7, 6}},
      TemporalSubSampling = {nn.TemporalSubSampling(6, 3, 2), {7, 6}},
      VolumetricAveragePooling = {nn.VolumetricAveragePooling(2, 3, 2, 1, 2, 2), volume,
         fields = {padT = 0, padW = 0, padH = 0, ceil_mode = false, count_include_pad = true}},
      VolumetricDilatedMaxPooling = {nn.VolumetricDilatedMaxPooling(2, 3, 2, 1, 2, 2, 1, 0, 1, 1,
         2, 1), volume},
      VolumetricFractionalMaxPooling = {nn.VolumetricFractionalMaxPooling(2, 3, 2, 3, 2, 2)
         :fixPoolingRegions(), volume},
      VolumetricMaxPooling = {nn.VolumetricMaxPooling(2, 3, 2, 1, 2, 2, 1, 0, 1), volume},
      SpatialReflectionPadding = {nn.SpatialReflectionPadding(1, 2, 0, 3), image},
      SpatialReplicationPadding = {nn.SpatialReplicationPadding(1, 2, 0, 3), image},
      VolumetricReplicationPadding = {nn.VolumetricReplicationPadding(1, 2, 0, 3, 1, 0), volume},
      SpatialUpSamplingNearest = {nn.SpatialUpSamplingNearest(2), image},
      VolumetricUpSamplingNearest = {nn.UpSampling(2), volume},
      SpatialUpSamplingBilinear = {nn.SpatialUpSamplingBilinear{oheight = 9, owidth = 11}, image,
         fields = {n = 2, planes = 4, height = 7, width = 6}},
      VolumetricUpSamplingTrilinear = {nn.UpSampling({odepth = 6, oheight = 9, owidth = 11},
         'trilinear'), volume, fields = {n = 2, planes = 2, depth = 5, height = 6, width = 7}},
   }
   for _, name in ipairs{'Abs', 'ELU', 'HardShrink', 'HardTanh', 'LeakyReLU', 'LogSoftMax',
      'Sigmoid', 'SoftMax', 'SoftPlus', 'SoftShrink', 'Square', 'Tanh', 'Threshold'} do
      list[name] = {nn[name](), image}
   end
   for _, name in ipairs{'AbsCriterion', 'MSECriterion', 'SmoothL1Criterion',
      'SoftMarginCriterion'} do
      list[name] = {nn[name](), {4, 5}, torch.randn(4, 5)}
   end
   list.SpatialConvolutionMM = {nn.SpatialConvolutionMM(4, 3, 3, 2, 2, 1, 1, 0), image}
   list.SpatialAveragePooling = {nn.SpatialAveragePooling(2, 3, 2, 1, 1, 0):ceil()
      :setCountExcludePad(), image, fields = {count_include_pad = false}}
   list.SpatialMaxPooling = {nn.SpatialMaxPooling(2, 3, 2, 1, 1, 0), image}
   list.SpatialMaxUnpooling = {nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2, 2)), {2, 4, 4, 3},
      pooled = {2, 4, 8, 6},
      fields = {owidth = 6, oheight = 8}}
   list.VolumetricMaxUnpooling = {nn.VolumetricMaxUnpooling(nn.VolumetricMaxPooling(2, 2, 2)),
      {2, 2, 2, 3, 4}, pooled = {2, 2, 4, 6, 8},
      fields = {otime = 4, owidth = 8, oheight = 6, padT = 0, padW = 0, padH = 0}}
   return list
end

--- Calls a kernel with the arguments in its list: from the table, else the module's field, else,
-- for a buffer, an empty tensor.
local function call(name, method, module, given)
   local arguments, n = {}, 0
   for word in kernels[name][method]:gmatch '[%w_]+' do
      local v = given[word]
      if v == nil then v = module[word] end
      if v == nil and (word:find '^_' or word:find '[bB]uf' or word:find '[iI]nput$'
         or word == 'isTarget') then v = given.input.new() end
      if torch.isTensor(v) then v = v:cdata() end
      n = n + 1
      arguments[n] = v
   end
   given.input.THNN[name .. '_' .. method](unpack(arguments, 1, n))
end

local function near(name, a, b)
   local scale = math.max(b:nElement() > 0 and torch.abs(b:double()):max() or 1, 1)
   assert.is_true(a:isSameSizeAs(b), name)
   if b:nElement() == 0 then return end
   assert.is_true(torch.abs(a:double() - b:double()):max() <= 1e-5 * scale, name)
end

for _, kind in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.CudaTensor'} do
   describe('Every kernel of THNN, ' .. kind .. ',', function()
      torch.manualSeed(3)
      local list = cases()

      for name, entry in pairs(kernels) do
         it(name .. ' computes what the module does', function()
            local case = assert(list[name], 'no case for ' .. name)
            local module = case[1]:type(kind)
            local input = torch.randn(unpack(case[2]))
            if case.positive then input:abs():add(0.05):div(5) end
            if case.indices then input:random(1, 6) end
            input = input:type(kind)
            if case.pooled then
               module.pooling:forward(torch.randn(unpack(case.pooled)):type(kind))
            end
            local given = {input = input, scale = nil}
            for key, value in pairs(case.fields or {}) do given[key] = value end
            if entry.criterion then
               local target = case[3]
               if target and not target:type():find 'Long' then
                  target = target:type(kind)
               elseif target and kind:find 'Cuda' then
                  target = target:cudaLong()
               end
               given.target, given.output_tensor = target, input.new(1)
               local loss = module:forward(input, target)
               call(name, 'updateOutput', module, given)
               assert.near(loss, given.output_tensor[1], 1e-5 * math.max(1, math.abs(loss)))
               given.gradInput = input.new()
               call(name, 'updateGradInput', module, given)
               return near(name, given.gradInput, module:backward(input, target))
            end
            torch.manualSeed(5)
            given.output = input.new()
            local output = module:forward(input):clone()
            if entry.updateOutput then
               torch.manualSeed(5)
               call(name, 'updateOutput', module, given)
               near(name, given.output, output)
            end
            given.gradOutput = torch.randn(output:size()):type(kind)
            given.gradInput, given.output = input.new(), output
            module:zeroGradParameters()
            local gradInput = module:updateGradInput(input, given.gradOutput)
            if entry.updateGradInput then
               call(name, 'updateGradInput', module, given)
               near(name, given.gradInput, gradInput)
            end
            if not module.gradWeight then return end
            given.scale = 0.5
            module:accGradParameters(input, given.gradOutput, 0.5)
            given.gradWeight = module.gradWeight:clone():zero()
            given.gradBias = module.gradBias and module.gradBias:clone():zero()
            call(name, entry.backward and 'backward' or 'accGradParameters', module, given)
            near(name, given.gradWeight, module.gradWeight)
            if given.gradBias then near(name, given.gradBias, module.gradBias) end
            if entry.backward then near(name, given.gradInput, gradInput) end
         end)
      end

      it('LookupTable_renorm limits the rows that it is given', function()
         local weight = torch.Tensor{{3, 4}, {6, 8}, {0.3, 0.4}}:type(kind)
         local indices = torch.LongTensor{1, 3}
         if kind:find 'Cuda' then indices = indices:cudaLong() end
         weight.THNN.LookupTable_renorm(indices:cdata(), weight:cdata(), 1, 2)
         near('renorm', weight, torch.Tensor{{0.6, 0.8}, {6, 8}, {0.3, 0.4}})
      end)
   end)
end
