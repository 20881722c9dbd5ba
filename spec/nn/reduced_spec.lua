-- Layers and losses of reduced types, in host memory and on devices, are those of floats with the
-- same parameters and inputs, except for rounding.
local dpt = require 'dpt'
local both = require 'spec.support.both'
local clone = require 'dpt.clone'
local catalogue = require 'spec.support.catalogue'
local criterions = require 'spec.support.criterions'
local elements = require 'spec.support.elements'
local torch, cutorch = dpt.torch, dpt.cutorch

-- Converts the reals of a value to a type; integers and masks to those of the same memory.
local function convert(value, typename)
   if type(value) == 'table' then
      local list = {}
      for k, entry in pairs(value) do list[k] = convert(entry, typename) end
      return list
   end
   if not torch.isTensor(value) then return value end
   local kind = value:type():match '^torch%.(%w+)Tensor$'
   if kind:find '^Byte' or kind:find '^Long' then
      return typename:find 'Cuda' and value:type('torch.Cuda' .. kind .. 'Tensor') or value
   end
   return value:type(typename)
end

-- Returns the largest difference relative to 1 + the largest value, in units of the last place.
local function distance(wanted, got, bits)
   if type(wanted) == 'number' then wanted, got = torch.Tensor{wanted}, torch.Tensor{got} end
   if torch.isTensor(wanted) then
      assert(wanted:isSameSizeAs(got), 'sizes')
      if wanted:nElement() == 0 then return 0 end
      local a, b = wanted:double(), got:double()
      return (a - b):abs():max() / (1 + torch.abs(a):max()) * 2 ^ bits
   end
   local most = 0
   for k, entry in pairs(wanted) do
      local d = distance(entry, got[k], bits)
      if d > most or d ~= d then most = d end
   end
   return most
end

-- Returns copies of the output, the gradient of the input, and those of the parameters.
-- first: number that the gradients of the parameters are added to
local function pass(module, input, gradOutput, first)
   torch.manualSeed(5)
   cutorch.manualSeed(5)
   local _, gradients = module:parameters()
   for _, t in ipairs(gradients or {}) do t:fill(first or 0) end
   local output = clone(module:forward(input))
   local gradInput = clone(module:backward(input, gradOutput or output))
   gradients = clone(gradients or {})
   for _, t in ipairs(gradients) do t:add(-(first or 0)) end
   return {output, gradInput, gradients}
end

-- Layers that store intermediate results, of which they take differences or small quotients.
local lossy = {LayerNormalization = true, BatchNormalization = true, SyncBatchNormalization = true,
   SpatialBatchNormalization = true, VolumetricBatchNormalization = true, Normalize = true,
   SpatialContrastiveNormalization = true, SpatialDivisiveNormalization = true}

--- Returns the distance of a module's or a criterion's results from those in floats, for the same
-- parameters and inputs.
local function compare(case, typename, floats, bits)
   torch.manualSeed(3)
   local one = case.make():type(typename)
   local other = clone(one):type(floats)
   local input = convert(case.input(4), typename)
   local wide = convert(input, floats)
   if not torch.isTypeOf(one, 'nn.Criterion') then
      local got = pass(one, input)
      return distance(pass(other, wide, convert(got[1], floats)), got, bits)
   end
   local target = case.target and convert(case.target(4), typename)
   local got = {one:forward(input, target), clone(one:backward(input, target))}
   target = convert(target, floats)
   return distance({other:forward(wide, target), clone(other:backward(wide, target))}, got, bits)
end

-- Layers that need floats as parameters beside an input of a reduced type.
local normalizations = {BatchNormalization = true, SyncBatchNormalization = true,
   SpatialBatchNormalization = true, VolumetricBatchNormalization = true, LayerNorm = true,
   RMSNorm = true, GroupNorm = true, InstanceNorm = true}
-- Layers that compute gradients in the type of the parameters.
local narrow = {}
for name in ([[Cosine Euclidean IndexLinear Kmeans LinearWeightNorm SparseLinear
   SpatialConvolutionLocal WeightNorm WeightedEuclidean]]):gmatch '%w+' do
   narrow[name] = true
end

-- Converts a module to a type. The gradients of parameters keep theirs.
local function convertModule(module, typename, keepsParameters)
   local cache, _, gradients = {}, module:parameters()
   for _, t in ipairs(gradients) do cache[t] = t end
   for _, field in ipairs{'weight', 'bias', 'running_mean', 'running_var'} do
      if keepsParameters and module[field] then cache[module[field]] = module[field] end
   end
   return module:type(typename, cache)
end

-- Raises unless the tensors of a value, except integers, have a type.
local function checkType(value, typename)
   if not torch.isTensor(value) then
      for _, entry in pairs(value) do checkType(entry, typename) end
   elseif not value:type():find 'Long' and not value:type():find 'Byte' then
      assert.equal(typename, value:type())
   end
end

--- Returns the distance of a module's results from those in floats. The gradients of its parameters
-- are floats from 256 on, where types of 16 bits have steps of 0.25 and 2.
local function accumulate(case, typename, floats, bits)
   torch.manualSeed(3)
   local other = case.make():type(typename):type(floats)
   local one = convertModule(clone(other), typename, normalizations[case.name])
   local input = convert(case.input(4), typename)
   local got = pass(one, input, nil, 256)
   checkType({got[1], got[2]}, typename)
   checkType(got[3], floats)
   local wide = convert(input, floats)
   return distance(pass(other, wide, convert(got[1], floats), 256), got, bits)
end

-- Inputs of many strips, into which kernels of reduced types divide their work. exact: the results
-- are those of floats with the same state, rounded; other layers have sums in another order.
local function large(exact, make, ...)
   local size = {...}
   return {exact = exact, make = make,
      input = function() return torch.FloatTensor(unpack(size)):normal() end}
end
local function indices(exact, make, n, most)
   return {exact = exact, make = make,
      input = function() return torch.FloatTensor(n):random(1, most) end}
end
local many = {
   SpatialConvolution = large(false, function()
      return nn.SpatialConvolution(16, 16, 3, 3, 1, 1, 1, 1)
   end, 19, 16, 64, 64),
   ['SpatialConvolution with groups'] = large(false, function()
      return nn.SpatialConvolution(6, 4, 5, 3, 2, 1, 0, 1, 2)
   end, 37, 6, 70, 75),
   SpatialFullConvolution = large(false, function()
      return nn.SpatialFullConvolution(7, 5, 3, 3, 2, 2, 1, 1)
   end, 23, 7, 65, 63),
   SpatialBatchNormalization = large(true, function() return nn.SpatialBatchNormalization(37) end,
      16, 37, 21, 19),
   BatchNormalization = large(true, function() return nn.BatchNormalization(1003) end, 67, 1003),
   SpatialMaxPooling = large(true, function() return nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1) end,
      5, 23, 41, 37),
   SpatialAveragePooling = large(true, function() return nn.SpatialAveragePooling(3, 2, 2, 2) end,
      5, 23, 41, 37),
   LogSoftMax = large(true, function() return nn.LogSoftMax() end, 301, 517),
   SpatialSoftMax = large(true, function() return nn.SpatialSoftMax() end, 7, 19, 33, 31),
   PReLU = large(false, function() return nn.PReLU(17) end, 67, 17, 31, 33),
   ['PReLU of one slope'] = large(false, function() return nn.PReLU() end, 203, 5, 33, 31),
   SpatialCrossMapLRN = large(true, function() return nn.SpatialCrossMapLRN(5) end, 9, 11, 30, 31),
   SpatialUpSamplingBilinear = large(true, function() return nn.SpatialUpSamplingBilinear(2) end,
      3, 17, 31, 29),
   SpatialReflectionPadding = large(true, function()
      return nn.SpatialReflectionPadding(2, 3, 1, 2)
   end, 7, 19, 31, 33),
   ['SpatialConvolution of single pixels'] = large(false, function()
      return nn.SpatialConvolution(24, 40, 1, 1)
   end, 9, 24, 31, 33),
   Linear = large(false, function() return nn.Linear(301, 203) end, 307, 301),
   ['Linear of many blocks'] = large(false, function() return nn.Linear(1027, 530) end, 1100, 1027),
   LookupTable = indices(false, function() return nn.LookupTable(53, 131, 7, 0.9) end, 2003, 53),
   ['LookupTable by frequency'] = indices(true, function()
      return nn.LookupTable(251, 67):scaleGradByFreq()
   end, 1009, 251)
}

--- Returns the largest distance of a layer's results from those of floats with the same state.
local function divide(case, typename, floats, bits)
   torch.manualSeed(3)
   local one = case.make():type(typename)
   local before, x = one:clone():type(floats), case.input():type(typename)
   local wide = x:type(floats)
   local rounded = before:forward(wide):type(typename)
   local d = distance(rounded, one:forward(x), bits)
   local after = one:clone():type(floats)
   if torch.isTensor(one.indices) then after.indices = one.indices:clone() end
   local g = torch.randn(one.output:size()):mul(0.01):type(typename)
   for _, name in ipairs{'running_mean', 'running_var'} do
      if one[name] then d = math.max(d, distance(before[name]:type(typename), one[name], bits)) end
   end
   one:zeroGradParameters()
   after:zeroGradParameters()
   local wanted = {after:backward(wide, g:type(floats)), select(2, after:parameters())}
   local got = {one:backward(x, g), select(2, one:parameters())}
   return math.max(d, distance(convert(wanted, typename), got, bits))
end

describe('nn.', function()
   for name, case in pairs(many) do
      it(name .. ' of a reduced type in host memory divides large inputs', function()
         for _, kind in ipairs(elements.reduced) do
            local d = divide(case, ('torch.%sTensor'):format(kind), 'torch.FloatTensor',
               both.bits(kind))
            assert.is_true(d <= (case.exact and 0 or 2), ('%s differs by %g units'):format(kind, d))
         end
      end)
   end

   it('Linear of a reduced type adds many blocks to gradients in float', function()
      for _, kind in ipairs(elements.reduced) do
         local d = accumulate(many['Linear of many blocks'], ('torch.%sTensor'):format(kind),
            'torch.FloatTensor', both.bits(kind))
         assert.is_true(d <= 2, ('%s differs by %g units'):format(kind, d))
      end
   end)

   it('BatchNormalization keeps parameters in float beside an input of a reduced type', function()
      for _, kind in ipairs(elements.reduced) do
         for _, kinds in ipairs{{kind, 'torch.FloatTensor'},
               {elements.onDevice(kind), 'torch.CudaTensor'}} do
            local typename, floats = 'torch.' .. kinds[1] .. 'Tensor', kinds[2]
            local one = nn.SpatialBatchNormalization(5):type(floats)
            one.weight:uniform()
            one.bias:uniform()
            local other = one:clone()
            local x = torch.randn(6, 5, 9, 7):add(3):type(typename)
            local g = torch.randn(6, 5, 9, 7):type(typename)
            one.output, one.gradInput = x.new(), x.new()
            for _, train in ipairs{true, false} do
               one.train, other.train = train, train
               local y, wide = one:forward(x), other:forward(x:type(floats))
               assert.equal(typename, y:type())
               assert.is_true(distance(wide, y, both.bits(kind)) <= 1)
               one:zeroGradParameters()
               other:zeroGradParameters()
               local d = distance(other:backward(x:type(floats), g:type(floats)),
                  one:backward(x, g), both.bits(kind))
               assert.is_true(d <= 1)
               for _, field in ipairs{'gradWeight', 'gradBias', 'running_mean', 'running_var',
                     'save_mean', 'save_std'} do
                  assert.equal(floats, one[field]:type())
                  local most = torch.abs(one[field] - other[field]):max()
                  assert.is_true(most <= 1e-5 * (1 + torch.abs(other[field]):max()), field)
               end
            end
         end
      end
   end)

   it('accGradParameters adds to gradients in float beside reduced inputs', function()
      for _, kind in ipairs(elements.reduced) do
         for _, kinds in ipairs{{kind, 'torch.FloatTensor'},
               {elements.onDevice(kind), 'torch.CudaTensor'}} do
            local typename, floats = 'torch.' .. kinds[1] .. 'Tensor', kinds[2]
            for _, case in ipairs{{nn.Linear(7, 5), torch.randn(9, 7)},
                  {nn.Linear(7, 1), torch.randn(9, 7)}, {nn.Linear(1, 3), torch.randn(9, 1)},
                  {nn.SpatialConvolution(3, 4, 3, 3), torch.randn(6, 3, 7, 8)}} do
               local one, x = case[1]:type(typename), case[2]:type(typename)
               local other = one:clone():type(floats)
               one.gradWeight, one.gradBias = other.gradWeight:clone(), other.gradBias:clone()
               local g = one:forward(x)
               for _, module in ipairs{one, other} do
                  module.gradWeight:fill(1000)
                  module.gradBias:fill(-1000)
                  local same = module == one
                  module:accGradParameters(same and x or x:type(floats),
                     same and g or g:type(floats), 1)
               end
               for _, field in ipairs{'gradWeight', 'gradBias'} do
                  assert.equal(floats, one[field]:type())
                  local most = torch.abs(one[field] - other[field]):max()
                  assert.is_true(most < 0.002, field) -- 1000 * 2^-19
                  assert.is_true(torch.abs(one[field] - one[field]:clone():fill(
                     field == 'gradWeight' and 1000 or -1000)):max() > 0.01)
               end
            end
         end
      end
   end)

   it('layers refuse parameters of another type than float', function()
      local half = nn.SpatialBatchNormalization(2):half()
      half.weight = half.weight:double()
      assert.has_error(function() half:forward(torch.HalfTensor(2, 2, 3, 3):fill(1)) end,
         [[batch normalization: argument 'weight' is a torch.DoubleTensor, wanted a ]] ..
         [[torch.HalfTensor as argument 'input' is]])
      half.weight = half.weight:float()
      assert.error_matches(function() half:forward(torch.HalfTensor(2, 2, 3, 3):fill(1)) end,
         "argument 'bias' is a torch.HalfTensor, wanted a torch.FloatTensor", 1, true)
   end)

   it('Criterion:sumOf sums losses of reduced types as floats', function()
      for _, name in ipairs(elements.reduced) do
         for _, kind in ipairs{name, elements.onDevice(name)} do
            local losses = torch[kind .. 'Tensor'](1001):fill(1000)
            assert.equal(1001000, dpt.nn.MSECriterion():sumOf(losses)[1])
         end
      end
   end)

   for _, list in ipairs{catalogue, criterions} do
      for _, case in ipairs(list) do
         local limit = lossy[case.name] and 32 or 2

         it(case.name .. ' of a reduced type is that of floats, rounded', function()
            for _, name in ipairs(elements.reduced) do
               for _, kinds in ipairs{{name, 'torch.FloatTensor'},
                     {elements.onDevice(name), 'torch.CudaTensor'}} do
                  local typename, floats = ('torch.%sTensor'):format(kinds[1]), kinds[2]
                  local d = compare(case, typename, floats, both.bits(name))
                  assert.is_true(d <= limit, ('%s differs by %g units'):format(typename, d))
               end
            end
         end)

         local hasParameters = list == catalogue and #(case.make():parameters() or {}) > 0
         if hasParameters and case.name ~= 'DontCast' then
            it(case.name .. (narrow[case.name] and ' rejects' or ' adds to')
               .. ' gradients of floats beside a reduced type', function()
               for _, name in ipairs(elements.reduced) do
                  for _, kinds in ipairs{{name, 'torch.FloatTensor'},
                        {elements.onDevice(name), 'torch.CudaTensor'}} do
                     local typename, floats = ('torch.%sTensor'):format(kinds[1]), kinds[2]
                     if narrow[case.name] then
                        assert.error_matches(function() accumulate(case, typename, floats) end,
                           'Tensor.*, wanted a torch%.')
                     else
                        local d = accumulate(case, typename, floats, both.bits(name))
                        assert.is_true(d <= limit, ('%s differs by %g units'):format(typename, d))
                     end
                  end
               end
            end)
         end
      end
   end
end)
