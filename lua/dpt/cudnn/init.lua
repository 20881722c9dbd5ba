--- dpt.cudnn: the table `cudnn`: layers under cuDNN's names, and cuDNN's switches.
-- Invariant: a cudnn class is the nn class of the same name with cudnn.torch's additions. The
-- library that computes depends on the device, so every class works on every kind of device and on
-- host tensors. Every class is a field of cudnn from the start and is created at its first use.

local class = require 'dpt.class'
local guard = require 'dpt.nn.guard'
local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local raise = dptffi.raise

local cudnn = {

   --- If true, the algorithms of an operation are timed for every input size, if there are several.
   -- @field cudnn.benchmark
   -- @as cudnnswitch
   -- @return a boolean
   -- @usage type(cudnn.benchmark) --> boolean
   benchmark = false,
   fastest = false,
   verbose = false,
   version = 9000, -- scripts compare with it
   -- cudnn.torch's settings of algorithms and workspaces; the libraries here need none.
   useFindEx = false,
   initialWorkspaceBytes = 1024,
   reservedGPUBytes = 1024 * 1024,
   maxWorkspaceGPUMemPercent = 95,
   typemap = {['torch.CudaHalfTensor'] = 'CUDNN_DATA_HALF',
      ['torch.CudaBFloat16Tensor'] = 'CUDNN_DATA_BFLOAT16',
      ['torch.CudaTensor'] = 'CUDNN_DATA_FLOAT', ['torch.CudaDoubleTensor'] = 'CUDNN_DATA_DOUBLE'},
   find = {verbose = false, verboseError = true, verboseFallback = true},
}

local function nothing() end

--- Does nothing: the libraries choose workspaces, algorithms and the type of sums.
-- @function cudnn.reset
-- @as cudnnswitch
-- @also cudnn.setSharedWorkspaceSize()
-- @also cudnn.adjustSharedWorkspaceSize()
-- @also cudnn.setNextWorkspaceSize()
-- @also cudnn.configureMath()
-- @param bytes? number: ignored
-- @return nothing
-- @usage cudnn.reset()
cudnn.reset, cudnn.find.reset, cudnn.find.resetAlgorithmCache = nothing, nothing, nothing
cudnn.setSharedWorkspaceSize, cudnn.adjustSharedWorkspaceSize = nothing, nothing
cudnn.setNextWorkspaceSize, cudnn.configureMath = nothing, nothing

--- Returns the size of an element in bytes.
-- @function cudnn.sizeof
-- @as cudnnswitch
-- @param t tensor: of any type
-- @return a number
-- @usage cudnn.sizeof(torch.CudaTensor()) --> 4
function cudnn.sizeof(t) return t:elementSize() end

--- Classes that are nn classes under another name.
local same = [[
   BatchNormalization SpatialBatchNormalization VolumetricBatchNormalization SpatialCrossMapLRN
   SpatialMaxPooling VolumetricMaxPooling
]]
--- Classes defined in separate files, as name:parent; the default parent is the nn class of that
-- name.
local own = [[
   SpatialConvolution VolumetricConvolution SpatialFullConvolution VolumetricFullConvolution
   SpatialAveragePooling VolumetricAveragePooling
   ReLU Tanh Sigmoid SoftMax LogSoftMax SpatialSoftMax SpatialLogSoftMax
   ClippedReLU:nn.HardTanh SpatialCrossEntropyCriterion:nn.Criterion
   TemporalConvolution VolumetricSoftMax:nn.Module VolumetricLogSoftMax:cudnn.VolumetricSoftMax
   VolumetricCrossEntropyCriterion:nn.Criterion SpatialDivisiveNormalization:nn.Module
]]
--- Recurrent classes, in the same form. convert leaves them unchanged, because nn has no such
-- classes.
local recurrent = [[
   RNN RNNReLU:cudnn.RNN RNNTanh:cudnn.RNN LSTM:cudnn.RNN GRU:cudnn.RNN BLSTM:cudnn.LSTM
   BGRU:cudnn.GRU
]]

class.packages.cudnn = cudnn

--- nn.BatchNormalization with cuDNN's name: normalizes features of rows to mean 0 and variance 1.
-- @function cudnn.BatchNormalization
-- @as cudnn
-- @return a module; forward: N x C -> N x C
-- @usage cudnn.BatchNormalization(3):cuda():forward(torch.CudaTensor(4, 3):normal()):size()
--    --> 4x3
for name in same:gmatch '%S+' do
   cudnn[name] = class.declare('cudnn.' .. name, 'nn.' .. name, 'dpt.cudnn.' .. name, false,
      function() torch.class('cudnn.' .. name, 'nn.' .. name) end)
end
for name, parent in (own .. recurrent):gmatch '(%w+):?(%S*)' do
   cudnn[name] = class.declare('cudnn.' .. name, parent ~= '' and parent or 'nn.' .. name,
      'dpt.cudnn.' .. name, false, nil, guard)
end

--- Names of the classes that convert replaces.
local convertible = {}
for _, list in ipairs{same, own} do
   for name in list:gmatch('%f[%w](%w+):?%S*') do convertible[name] = true end
end
for _, name in ipairs{'TemporalConvolution', 'ClippedReLU', 'SpatialCrossEntropyCriterion',
   'VolumetricSoftMax', 'VolumetricLogSoftMax', 'VolumetricCrossEntropyCriterion',
   'SpatialDivisiveNormalization'} do
   convertible[name] = nil
end

--- Converts the layers of a network to those of another package, in place.
-- @function cudnn.convert
-- @as cudnnswitch
-- @param net module: changed in place
-- @param dst table: cudnn or nn
-- @param exclude? function: receives a module, returns true if it must not be converted
-- @return the network
-- @usage torch.type(cudnn.convert(nn.Sequential():add(nn.ReLU()), cudnn):get(1)) --> cudnn.ReLU
function cudnn.convert(net, dst, exclude)
   -- scripts have objects that wrap networks
   local replace = dptffi.type(net) == 'table' and net.replace
   if dptffi.type(replace) ~= 'function' then
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
         raise('cudnn.convert: nn has no grouped convolution, got groups = ' .. module.groups)
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


--- Tags that reference entries of cudnn's classes share.
-- @pattern cudnn
-- @within cudnn
-- @follows cudnn.torch: nn's class of that name on any device
-- @raise if a parameter is missing or has the wrong type; forward and backward, if the input does
--    not have such sizes

--- Tags that reference entries of cudnn's switches share.
-- @pattern cudnnswitch
-- @within cudnn
-- @follows cudnn.torch
-- @raise nothing: settings without a meaning here are stored

--- nn.SpatialBatchNormalization with cuDNN's name: normalizes planes of images to mean 0 and
-- variance 1.
-- @function cudnn.SpatialBatchNormalization
-- @as cudnn
-- @return a module; forward: N x C x H x W -> the same size
-- @usage cudnn.SpatialBatchNormalization(2)
--       :cuda() :forward(torch.CudaTensor(3, 2, 4, 4):normal()):size() --> 3x2x4x4

--- nn.VolumetricBatchNormalization with cuDNN's name: normalizes planes of volumes to mean 0 and
-- variance 1.
-- @function cudnn.VolumetricBatchNormalization
-- @as cudnn
-- @return a module; forward: N x C x T x H x W -> the same size
-- @usage cudnn.VolumetricBatchNormalization(2)
--       :cuda() :forward(torch.CudaTensor(3, 2, 2, 2, 2):normal()):size() --> 3x2x2x2x2

--- nn.SpatialCrossMapLRN with cuDNN's name: normalizes each element by the elements at the same
-- pixel in neighbouring planes.
-- @function cudnn.SpatialCrossMapLRN
-- @as cudnn
-- @return a module; forward: N x C x H x W -> the same size
-- @usage cudnn.SpatialCrossMapLRN(3):cuda()
--       :forward(torch.CudaTensor(1, 4, 2, 2):fill(1)) :size() --> 1x4x2x2

--- nn.SpatialMaxPooling with cuDNN's name: returns the largest element of each window.
-- @function cudnn.SpatialMaxPooling
-- @as cudnn
-- @return a module; forward: N x C x H x W -> N x C x H' x W'
-- @usage cudnn.SpatialMaxPooling(2, 2, 2, 2)
--       :cuda() :forward(torch.CudaTensor{{{1, 2}, {3, 4}}}) --> [4]

--- nn.VolumetricMaxPooling with cuDNN's name: returns the largest element of each window of a
-- volume.
-- @function cudnn.VolumetricMaxPooling
-- @as cudnn
-- @return a module; forward: N x C x T x H x W -> N x C x T' x H' x W'
-- @usage cudnn.VolumetricMaxPooling(2, 2, 2)
--       :cuda() :forward(torch.CudaTensor(1, 1, 2, 2, 2):fill(3)) --> [3]

--- If true, an algorithm may use any amount of memory.
-- @field cudnn.fastest
-- @as cudnnswitch
-- @return a boolean
-- @usage type(cudnn.fastest) --> boolean

--- If true, choices of algorithms are printed.
-- @field cudnn.verbose
-- @as cudnnswitch
-- @return a boolean
-- @usage type(cudnn.verbose) --> boolean

--- Version that scripts compare with cuDNN's.
-- @field cudnn.version
-- @as cudnnswitch
-- @return 9000
-- @usage cudnn.version --> 9000

--- Workspace settings of cudnn.torch: useFindEx, sizes in bytes, a percentage of memory. They have
-- no effect: the libraries here choose workspaces themselves.
-- @field cudnn.useFindEx
-- @as cudnnswitch
-- @also cudnn.initialWorkspaceBytes
-- @also cudnn.reservedGPUBytes
-- @also cudnn.maxWorkspaceGPUMemPercent
-- @return a boolean, and numbers
-- @usage cudnn.useFindEx, cudnn.maxWorkspaceGPUMemPercent --> false, 95

--- cuDNN's name of the element type of each tensor type.
-- @field cudnn.typemap
-- @as cudnnswitch
-- @return a table: 'torch.CudaTensor' -> string
-- @usage cudnn.typemap['torch.CudaTensor'] --> CUDNN_DATA_FLOAT

--- Switches of the search for algorithms: verbose, verboseError, verboseFallback; and reset
-- functions, which do nothing.
-- @field cudnn.find
-- @as cudnnswitch
-- @also cudnn.find.verbose
-- @also cudnn.find.verboseError
-- @also cudnn.find.verboseFallback
-- @also cudnn.find.reset()
-- @also cudnn.find.resetAlgorithmCache()
-- @return a table
-- @usage cudnn.find.reset() == nil, cudnn.find.verbose --> true, false

return cudnn
