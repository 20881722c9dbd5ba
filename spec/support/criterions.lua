--- Lists every criterion with its operands: {name, make = function() that creates it, input =
-- function(rows) in doubles, target = function(rows) or nil}; `whole`: a batch cannot be split.
--
-- Invariant: a row of input and target is a sample. Values stay away from kinks, so that finite
-- differences approximate the gradient. Sizes are small.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

local C = 5 -- classes, or values in a row

local function values(rows) return torch.randn(rows, C) end
local function pair(rows) return {values(rows), values(rows)} end
local function column(rows) return {torch.randn(rows), torch.randn(rows)} end
local function probabilities(rows) return torch.rand(rows, C):mul(0.8):add(0.1) end
local function signs(rows) return torch.rand(rows, C):gt(0.5):double():mul(2):add(-1) end
local function sign(rows) return torch.rand(rows):gt(0.5):double():mul(2):add(-1) end
local function bits(rows) return torch.rand(rows, C):gt(0.5):double() end
local function classes(rows) return torch.rand(rows):mul(C):floor():add(1) end
local function image(rows) return torch.randn(rows, C, 2, 3) end
local function pixels(rows) return torch.rand(rows, 2, 3):mul(C):floor():add(1) end
-- All pixels of row 1 are ignored.
local function someIgnored(make)
   return function(rows)
      local t = make(rows)
      if rows > 0 then t[1] = -1 end
      return t
   end
end
local function labels(rows)
   local t = torch.LongTensor(rows, C):zero()
   for i = 1, rows do
      local list = torch.randperm(C)
      for k = 1, 1 + i % 3 do t[i][k] = list[k] end
   end
   return t
end
local weights = torch.rand(C):add(0.5)

local list = {}
local function add(name, make, input, target, whole)
   list[#list + 1] = {name = name, make = make, input = input, target = target, whole = whole}
   if pcall(function() return make().sizeAverage end) and make().sizeAverage then
      list[#list + 1] = {name = name .. ', a sum', input = input, target = target, whole = whole,
         make = function()
            local criterion = make()
            criterion.sizeAverage = false
            return criterion
         end}
   end
end

add('AbsCriterion', nn.AbsCriterion, values, values)
add('MSECriterion', nn.MSECriterion, values, values)
add('SmoothL1Criterion', nn.SmoothL1Criterion, values, values)
add('SoftMarginCriterion', nn.SoftMarginCriterion, values, signs)
add('MarginCriterion', function() return nn.MarginCriterion(0.7) end, values, signs)
add('HingeEmbeddingCriterion', function() return nn.HingeEmbeddingCriterion(0.9) end,
   function(rows) return torch.rand(rows) end, sign)
add('DistKLDivCriterion', nn.DistKLDivCriterion, values, probabilities)
add('BCECriterion', nn.BCECriterion, probabilities, bits)
add('BCECriterion with weights', function() return nn.BCECriterion(weights:clone()) end,
   probabilities, bits)
add('WeightedMSECriterion', function() return nn.WeightedMSECriterion(weights) end, values, values)
add('SpatialAutoCropMSECriterion', nn.SpatialAutoCropMSECriterion, image,
   function(rows) return torch.randn(rows, C, 4, 5) end)
add('ClassSimplexCriterion', function() return nn.ClassSimplexCriterion(C) end, values, classes)
add('ClassNLLCriterion', nn.ClassNLLCriterion, values, classes)
add('ClassNLLCriterion with weights', function() return nn.ClassNLLCriterion(weights:clone()) end,
   values, classes)
add('ClassNLLCriterion that ignores', function()
   return nn.ClassNLLCriterion(weights:clone(), true, -1)
end, values, someIgnored(classes))
add('CrossEntropyCriterion', nn.CrossEntropyCriterion, values, classes)
add('CrossEntropyCriterion with weights', function()
   return nn.CrossEntropyCriterion(weights:clone())
end, values, classes)
add('SpatialClassNLLCriterion', function()
   return nn.SpatialClassNLLCriterion(weights:clone(), true, -1)
end, image, someIgnored(pixels))
add('SpatialCrossEntropyCriterion of cudnn', function()
   return dpt.cudnn.SpatialCrossEntropyCriterion(weights:clone())
end, image, pixels)
add('MultiMarginCriterion', function() return nn.MultiMarginCriterion(2, weights:clone()) end,
   values, classes)
add('MultiLabelMarginCriterion', nn.MultiLabelMarginCriterion, values, labels)
add('MultiLabelSoftMarginCriterion', function()
   return nn.MultiLabelSoftMarginCriterion(weights:clone())
end, values, bits)
add('CosineEmbeddingCriterion', function() return nn.CosineEmbeddingCriterion(0.1) end, pair, sign)
add('MarginRankingCriterion', function() return nn.MarginRankingCriterion(0.4) end, column, sign)
add('DistanceRatioCriterion', nn.DistanceRatioCriterion, column)
add('L1Cost', nn.L1Cost, values)
add('MultiCriterion', function()
   return nn.MultiCriterion():add(nn.MSECriterion(), 0.3):add(nn.AbsCriterion(false), 0.7)
end, values, values)
add('ParallelCriterion', function()
   local twice = nn.MSECriterion()
   return nn.ParallelCriterion():add(nn.ClassNLLCriterion(weights:clone()), 0.5):add(twice, 2)
      :add(nn.MultiCriterion():add(nn.MSECriterion(false)):add(twice), 0.25)
end, function(rows) return {values(rows), values(rows), values(rows)} end,
   function(rows) return {classes(rows), values(rows), values(rows)} end)
add('ParallelCriterion with one target', function()
   return nn.ParallelCriterion(true):add(nn.MSECriterion()):add(nn.SmoothL1Criterion())
end, pair, values)
add('ModuleCriterion', function()
   return nn.ModuleCriterion(nn.ClassNLLCriterion(weights:clone()), nn.LogSoftMax())
end, values, classes)
add('L1HingeEmbeddingCriterion', nn.L1HingeEmbeddingCriterion, pair, function() return 1 end, true)

return list
