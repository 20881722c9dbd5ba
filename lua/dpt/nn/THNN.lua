--- dpt.nn.THNN: nn's kernels by their old names, `input.THNN.SoftMax_updateOutput(input:cdata(),
-- output:cdata())`, which classes of scripts and packages call.
--
-- Invariant: a kernel computes what the class of its name does, in the tensors that it is given; it
-- keeps nothing. What each takes, in the original's order, stands here once.
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail
local torch = class.torch

local window = ' kW kH dW dH padW padH ceil_mode'

--- Class -> what updateOutput takes, what updateGradInput takes [, what accGradParameters takes].
-- The names but input, gradOutput and scale are fields of the class; fields: others that it wants.
local signatures = {
   Abs = {'input output', 'input gradOutput gradInput'},
   ELU = {'input output alpha inplace', 'input gradOutput gradInput output alpha inplace'},
   HardShrink = {'input output lambda', 'input gradOutput gradInput lambda'},
   HardTanh = {'input output min_val max_val inplace',
      'input gradOutput gradInput min_val max_val inplace'},
   LeakyReLU = {'input output negval inplace', 'input gradOutput gradInput negval inplace'},
   LogSigmoid = {'input output buffer', 'input gradOutput gradInput buffer'},
   LogSoftMax = {'input output', 'input gradOutput gradInput output'},
   Sigmoid = {'input output', 'input gradOutput gradInput output'},
   SoftMax = {'input output', 'input gradOutput gradInput output'},
   SoftPlus = {'input output beta threshold',
      'input gradOutput gradInput output beta threshold'},
   SoftShrink = {'input output lambda', 'input gradOutput gradInput lambda'},
   Sqrt = {'input output eps', 'input gradOutput gradInput output'},
   Square = {'input output', 'input gradOutput gradInput'},
   Tanh = {'input output', 'input gradOutput gradInput output'},
   Threshold = {'input output threshold val inplace',
      'input gradOutput gradInput threshold val inplace'},
   Linear = {'input output weight bias buffer', 'input gradOutput gradInput weight',
      'input gradOutput gradInput weight bias gradWeight gradBias buffer scale'},
   SpatialConvolutionMM = {
      'input output weight bias finput fgradInput kW kH dW dH padW padH',
      'input gradOutput gradInput weight finput fgradInput kW kH dW dH padW padH',
      'input gradOutput gradWeight gradBias finput fgradInput kW kH dW dH padW padH scale'},
   SpatialAveragePooling = {'input output' .. window .. ' count_include_pad',
      'input gradOutput gradInput' .. window .. ' count_include_pad', fields = {divide = true}},
   SpatialMaxPooling = {'input output indices' .. window,
      'input gradOutput gradInput indices' .. window},
}
local methods = {'updateOutput', 'updateGradInput', 'accGradParameters'}

--- A function that takes the values of these names and calls a method of an object with them.
-- @param fields what the object has besides
local function kernel(name, method, list, fields)
   local names = {}
   for word in list:gmatch '[%w_]+' do names[#names + 1] = word end
   return function(...)
      if select('#', ...) > #names then
         fail('THNN.%s_%s: got %d arguments, wanted (%s)', name, method, select('#', ...),
            table.concat(names, ', '))
      end
      local object = torch.factory('nn.' .. name)()
      for key, value in pairs(fields) do object[key] = value end
      for i = 1, #names do object[names[i]] = (select(i, ...)) end
      if not torch.isTensor(object.input) then
         fail('THNN.%s_%s: argument input is a %s, wanted a tensor', name, method,
            torch.type(object.input))
      end
      object[method](object, object.input, object.gradOutput, object.scale)
   end
end

local kernels = setmetatable({}, {__index = function(_, name)
   fail("THNN: there is no kernel '%s'; the modules of nn do the same", tostring(name))
end})
for name, lists in pairs(signatures) do
   for i, list in ipairs(lists) do
      kernels[name .. '_' .. methods[i]] = kernel(name, methods[i], list, lists.fields or {})
   end
end

local THNN = {kernels = {}}

for kind, tensorMethods in pairs(core.tensorMethods) do
   local element = kind % core.ON_DEVICE
   if element == core.HALF or element == core.FLOAT or element == core.DOUBLE then
      THNN.kernels[core.tensorNames[kind]] = kernels
      rawset(tensorMethods, 'THNN', kernels)
   end
end

--- The cdata of a tensor, or nil if there is none: for arguments that a kernel does without.
-- @function nn.THNN.optionalTensor
-- @as author
-- @param t? tensor: nil: the kernel gets nothing
-- @return C data or nil
-- @usage nn.THNN.optionalTensor(nil), nn.THNN.optionalTensor(torch.Tensor(1)) ~= nil
--    --> nil, true
function THNN.optionalTensor(t) return t and t:cdata() or nil end

--- Calls a kernel by its name and the name of the tensor's type.
-- @function nn.THNN.runKernel
-- @as author
-- @param name string: as 'Tanh_updateOutput'
-- @param kind string: as 'torch.FloatTensor'
-- @param ...? any: the kernel's arguments
-- @return nothing
-- @raise if there is no such kernel or type
-- @usage local y = torch.Tensor()
--    nn.THNN.runKernel('Square_updateOutput', 'torch.DoubleTensor',
--       torch.Tensor{3}:cdata(), y:cdata())
--    return y --> [9]
function THNN.runKernel(name, kind, ...)
   if not THNN.kernels[kind] then
      fail('THNN.runKernel: there are no kernels for %s', core.quote(kind))
   end
   THNN.kernels[kind][name](...)
end

--- nn's kernels by their old names: fields of tensors, and of nn.THNN.kernels by the tensor's type.
-- @field nn.THNN
-- @as author
-- @also Tensor.THNN
-- @return a table; nn.THNN.kernels['torch.FloatTensor'] has the kernels of that type
-- @usage type(nn.THNN.kernels['torch.FloatTensor']) --> table

--- The kernels by the name of the tensor's type; a call's arguments are tensors' cdata() in THNN's
-- order.
-- @field nn.THNN.kernels
-- @as author
-- @return a table: type -> table of functions
-- @usage local x, y = torch.Tensor{1, 1}, torch.Tensor()
--    nn.THNN.kernels['torch.DoubleTensor'].SoftMax_updateOutput(x:cdata(), y:cdata())
--    return y --> [0.5 0.5]

return THNN
