--- dpt.nn.THNN: provides nn's kernels under THNN's names, for classes of scripts and packages that
-- call `input.THNN.SoftMax_updateOutput(input:cdata(), output:cdata())`.
--
-- Invariant: a kernel computes the same as the class of its name, in the tensors that it receives,
-- and keeps no state. dpt.nn.kernels lists the arguments. It is loaded at the first use of a
-- kernel, because most Lua states use none.
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail
local torch = class.torch

-- Writes a criterion's loss, which may be on a device, into the kernel's argument.
local function writeLoss(criterion, input, target)
   local loss = criterion:updateLoss(input, target)
   criterion.output_tensor:resize(1):copy(loss)
end

--- Returns a function whose arguments have these names and which calls a method of an object with
-- them.
-- @param entry entry of dpt.nn.kernels
local function kernel(name, method, list, entry)
   local names = {}
   for word in list:gmatch '[%w_]+' do names[#names + 1] = word end
   local forward = method == 'updateOutput'
   local function reject(what, ...) fail('THNN.%s_%s: ' .. what, name, method, ...) end
   return function(...)
      if select('#', ...) > #names then
         reject('got %d arguments, wanted (%s)', select('#', ...), table.concat(names, ', '))
      end
      local object = torch.factory('nn.' .. (entry.class or name))()
      for key, value in pairs(entry.fields or {}) do object[key] = value end
      for i = 1, select('#', ...) do object[names[i]] = (select(i, ...)) end
      local first = object[names[1]]
      if not torch.isTensor(first) then
         reject('argument %s is a %s, wanted a tensor', names[1], torch.type(first))
      end
      object.bias = object.bias or object.gradBias -- some classes test whether a bias exists
      if entry.prepare then entry.prepare(object) end
      if entry.criterion and forward then return writeLoss(object, object.input, object.target) end
      object[method](object, object.input, object.gradOutput or object.target, object.scale)
   end
end

local METHODS = {updateOutput = true, updateGradInput = true, accGradParameters = true,
   backward = true, renorm = true}

local kernels = setmetatable({}, {__index = function(made, name)
   local class_, method = tostring(name):match '^(%w+)_(%w+)$'
   local entry = METHODS[method] and require('dpt.nn.kernels')[class_]
   if not entry or not entry[method] then
      fail("THNN: there is no kernel '%s'; use the module of nn", tostring(name))
   end
   local f = kernel(class_, method, entry[method], entry)
   rawset(made, name, f)
   return f
end})

local THNN = {kernels = {}}

for kind, tensorMethods in pairs(core.tensorMethods) do
   if core.elementOf(kind).isReal then
      THNN.kernels[core.tensorNames[kind]] = kernels
      rawset(tensorMethods, 'THNN', kernels)
   end
end

--- Returns the cdata of a tensor, or nil without one, for optional arguments of a kernel.
-- @function nn.THNN.optionalTensor
-- @as author
-- @param t? tensor: nil if the kernel gets none
-- @return C data or nil
-- @usage nn.THNN.optionalTensor(nil), nn.THNN.optionalTensor(torch.Tensor(1)) ~= nil
--    --> nil, true
function THNN.optionalTensor(t) return t and t:cdata() or nil end

--- Calls a kernel by its name and the name of the tensor type.
-- @function nn.THNN.runKernel
-- @as author
-- @param name string: for example 'Tanh_updateOutput'
-- @param kind string: for example 'torch.FloatTensor'
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

--- Kernels of nn under THNN's names. They are a field of tensors, and nn.THNN.kernels holds them by
-- tensor type.
-- @field nn.THNN
-- @as author
-- @also Tensor.THNN
-- @return a table; nn.THNN.kernels['torch.FloatTensor'] has the kernels of that type
-- @usage type(nn.THNN.kernels['torch.FloatTensor']) --> table

--- Kernels by the name of the tensor type. Arguments of a call are the cdata() of tensors, in
-- THNN's order.
-- @field nn.THNN.kernels
-- @as author
-- @return a table: type -> table of functions
-- @usage local x, y = torch.Tensor{1, 1}, torch.Tensor()
--    nn.THNN.kernels['torch.DoubleTensor'].SoftMax_updateOutput(x:cdata(), y:cdata())
--    return y --> [0.5 0.5]

return THNN
