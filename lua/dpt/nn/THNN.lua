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

--- A tensor, or nothing, as a kernel takes it.
function THNN.optionalTensor(t) return t and t:cdata() or nil end

--- Calls the kernel of this name for a type of tensors.
function THNN.runKernel(name, kind, ...)
   if not THNN.kernels[kind] then
      fail('THNN.runKernel: there are no kernels for %s', core.quote(kind))
   end
   THNN.kernels[kind][name](...)
end

return THNN
