--- dpt.cudnn: the table `cudnn`: the layers under cuDNN's names, and its switches.
-- Invariant: a cudnn class is the nn class of its name with what cudnn.torch added; which library
-- computes is the device's affair, so every class works on every kind of device and on host
-- tensors. Every class is a field from the start and made at its first use.

local class = require 'dpt.class'
local guard = require 'dpt.nn.guard'
local torch = require 'dpt.tensor'
local raise = require('dpt.ffi').raise

local cudnn = {
   benchmark = false, -- whether to try algorithms for every size; if there is a choice
   fastest = false,
   verbose = false,
   version = 9000, -- what scripts compare with
   -- What cudnn.torch keeps of algorithms and workspaces, which libraries here do by themselves.
   useFindEx = false,
   initialWorkspaceBytes = 1024,
   reservedGPUBytes = 1024 * 1024,
   maxWorkspaceGPUMemPercent = 95,
   typemap = {['torch.CudaHalfTensor'] = 'CUDNN_DATA_HALF',
      ['torch.CudaTensor'] = 'CUDNN_DATA_FLOAT', ['torch.CudaDoubleTensor'] = 'CUDNN_DATA_DOUBLE'},
   find = {verbose = false, verboseError = true, verboseFallback = true},
}

local function nothing() end
cudnn.reset, cudnn.find.reset, cudnn.find.resetAlgorithmCache = nothing, nothing, nothing
cudnn.setSharedWorkspaceSize, cudnn.adjustSharedWorkspaceSize = nothing, nothing
cudnn.setNextWorkspaceSize = nothing

--- The bytes of an element.
function cudnn.sizeof(t) return t:elementSize() end

--- Classes that are nn's under another name.
local same = [[
   BatchNormalization SpatialBatchNormalization VolumetricBatchNormalization SpatialCrossMapLRN
   SpatialMaxPooling VolumetricMaxPooling VolumetricAveragePooling
   ReLU Tanh Sigmoid SoftMax LogSoftMax SpatialSoftMax SpatialLogSoftMax
]]
--- Classes with a file of their own, as name:parent; without a parent nn's class of that name is.
local own = [[
   SpatialConvolution VolumetricConvolution SpatialFullConvolution VolumetricFullConvolution
   SpatialAveragePooling ClippedReLU:nn.HardTanh SpatialCrossEntropyCriterion:nn.Criterion
   TemporalConvolution VolumetricSoftMax:nn.Module VolumetricLogSoftMax:cudnn.VolumetricSoftMax
   VolumetricCrossEntropyCriterion:nn.Criterion SpatialDivisiveNormalization:nn.Module
]]
--- The same, without a class of nn to convert from.
local recurrent = [[
   RNN RNNReLU:cudnn.RNN RNNTanh:cudnn.RNN LSTM:cudnn.RNN GRU:cudnn.RNN BLSTM:cudnn.LSTM
   BGRU:cudnn.GRU
]]

class.packages.cudnn = cudnn

for name in same:gmatch '%S+' do
   cudnn[name] = class.declare('cudnn.' .. name, 'nn.' .. name, 'dpt.cudnn.' .. name, false,
      function() torch.class('cudnn.' .. name, 'nn.' .. name) end)
end
for name, parent in (own .. recurrent):gmatch '(%w+):?(%S*)' do
   cudnn[name] = class.declare('cudnn.' .. name, parent ~= '' and parent or 'nn.' .. name,
      'dpt.cudnn.' .. name, false, nil, guard)
end

--- The types that convert changes.
local convertible = {}
for _, list in ipairs{same, own} do
   for name in list:gmatch('%f[%w](%w+):?%S*') do convertible[name] = true end
end
for _, name in ipairs{'TemporalConvolution', 'ClippedReLU', 'SpatialCrossEntropyCriterion',
   'VolumetricSoftMax', 'VolumetricLogSoftMax', 'VolumetricCrossEntropyCriterion',
   'SpatialDivisiveNormalization'} do
   convertible[name] = nil
end

--- Changes the layers of a network into those of another package, in place.
-- @param net a module
-- @param dst cudnn or nn
-- @param exclude function(module) that is true for modules to leave as they are
-- @return the network
function cudnn.convert(net, dst, exclude)
   if not torch.isTypeOf(net, 'nn.Module') then
      raise('cudnn.convert: got a ' .. torch.type(net) .. ', wanted a module')
   end
   local from = dst == cudnn and 'nn' or 'cudnn'
   local to = dst == cudnn and 'cudnn' or 'nn'
   return net:replace(function(module)
      local package, name = torch.type(module):match('^(%w+)%.(%w+)$')
      local matrix = package == 'nn' and name == 'SpatialConvolutionMM'
      if matrix then name = 'SpatialConvolution' end
      if package ~= from or not convertible[name] or (exclude and exclude(module)) then
         return module
      end
      if to == 'nn' and module.groups and module.groups > 1 then
         raise('cudnn.convert: nn has no convolution in groups, got groups = ' .. module.groups)
      end
      local new = torch.factory(to .. '.' .. name)()
      for key, value in pairs(module) do new[key] = value end
      if to == 'cudnn' and name:find('Convolution', 1, true) then new.groups = new.groups or 1 end
      for _, field in ipairs(matrix and {'weight', 'gradWeight'} or {}) do
         if new[field] then new[field] = new[field]:view(new:weightSize()) end
      end
      return new
   end)
end


return cudnn
