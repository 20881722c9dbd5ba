--- dpt.nn.legacy: updates modules and criterions from older files to today's fields.
--
-- Invariant: files of Torch7 load with all fields set. A field that was added later gets the value
-- that was implied before. Tensors that fields share stay shared.

local torch = require 'dpt.tensor'
local neighbourhood = require 'dpt.nn.neighbourhood'

--- Fields added later, by class, with the values that were implied before.
local later = {
   ['nn.ReLU6'] = {min_val = 0, max_val = 6}, -- set before the parent's values
   ['nn.HardTanh'] = {min_val = -1, max_val = 1},
   ['nn.Sum'] = {squeeze = true},
   ['nn.LookupTable'] = {paddingValue = 0},
   ['nn.IndexLinear'] = {normalize = 0},
   ['nn.Normalize'] = {eps = 1e-10},
   ['nn.Padding'] = {value = 0, index = 1},
   ['nn.Replicate'] = {dim = 1},
   ['nn.GradientReversal'] = {lambda = 1},
   ['nn.ClassNLLCriterion'] = {ignoreIndex = -100, sizeAverage = true},
   ['nn.SpatialClassNLLCriterion'] = {ignoreIndex = -100, sizeAverage = true},
   ['nn.MultiMarginCriterion'] = {p = 1, margin = 1, sizeAverage = true},
   ['nn.RNN'] = {biasMode = 'CUDNN_RNN_DOUBLE_BIAS', inputMode = 'CUDNN_LINEAR_INPUT', projSize = 0,
      dropout = 0, compactions = 0, batchFirst = false, rememberStates = false},
   ['cudnn.SpatialConvolution'] = {groups = 1},
   ['cudnn.VolumetricConvolution'] = {groups = 1},
   ['cudnn.SpatialFullConvolution'] = {groups = 1},
   ['cudnn.VolumetricFullConvolution'] = {groups = 1},
}

local function padding(self)
   self.padW = self.padW or self.padding or 0
   self.padH = self.padH or self.padding or 0
   self.padding = nil
end

local function losses(self)
   for name, value in pairs{output_tensor = 0, total_weight_tensor = 1} do
      if not self[name] then
         local like = torch.isTensor(self.gradInput) and self.gradInput or torch.Tensor()
         self[name] = like.new(1):fill(value)
      end
   end
end

-- Returns a function that sets a buffer which Torch7 lacks or has under another name.
local function buffer(field, old)
   return function(self)
      self[field] = self[field] or old and self[old] or self.output.new()
      if old then self[old] = nil end
   end
end

--- Changes by class.
local changes = {
   ['nn.CMaxTable'] = buffer 'maxIdx',
   ['nn.CMinTable'] = buffer('maxIdx', 'minIdx'),
   ['nn.GatedLinearUnit'] = buffer 'sigmoid',
   ['nn.SparseLinear'] = function(self)
      self.outputSize, self.inputSize = self.weight:size(1), self.weight:size(2)
   end,
   ['nn.SpatialSubtractiveNormalization'] = neighbourhood.fromModules,
   ['nn.SpatialDivisiveNormalization'] = neighbourhood.fromModules,
   ['nn.DistanceRatioCriterion'] = function(self)
      local g = self.gradInput
      if torch.isTensor(g) then self.gradInput = {g.new(), g.new()} end
   end,
   -- running_std was 1 / sqrt(variance + eps)
   ['nn.BatchNormalization'] = function(self)
      if torch.isTensor(self.running_std) and not self.running_var then
         self.running_var = self.running_std:pow(-2):add(-self.eps)
      end
      self.running_std = nil
   end,
   -- the weight was a 2-D matrix
   ['nn.SpatialConvolution'] = function(self)
      padding(self)
      for _, name in ipairs{'weight', 'gradWeight'} do
         local t = self[name]
         if torch.isTensor(t) and t:dim() == 2 then
            self[name] = t:view(self.nOutputPlane, -1, self.kH, self.kW)
         end
      end
   end,
   ['nn.SpatialConvolutionMM'] = padding,
   -- state that cuDNN kept between calls
   ['nn.RNN'] = function(self)
      self.reserve, self.dropoutStates, self.dropoutStatesSize = nil, nil, nil
      self._input, self._gradOutput = nil, nil
   end,
   ['nn.ClassNLLCriterion'] = losses,
   ['nn.SpatialClassNLLCriterion'] = losses,
   -- dpt 1.0.0 had the field in nll only
   ['cudnn.SpatialCrossEntropyCriterion'] = function(self)
      if self.sizeAverage == nil then self.sizeAverage = self.nll.sizeAverage end
   end,
}

--- Sets the missing fields of an object that was just read.
return function(self)
   local methods = getmetatable(self)
   while methods do
      local name = rawget(methods, '__typename')
      for field, value in pairs(later[name] or {}) do
         if self[field] == nil then self[field] = value end
      end
      if changes[name] then changes[name](self) end
      methods = getmetatable(methods)
   end
   if self._type == nil and torch.isTensor(self.output) then self._type = self.output:type() end
end
