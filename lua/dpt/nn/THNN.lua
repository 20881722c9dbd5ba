--- dpt.nn.THNN: nn's kernels by their old names, `input.THNN.SoftMax_updateOutput(input:cdata(),
-- output:cdata())`, which classes of scripts and packages call.
--
-- Invariant: a kernel computes what the class of its name does, in the tensors that it is given; it
-- keeps nothing. What each takes stands in dpt.nn.kernels, which is loaded when one is first used;
-- so a state that uses none, as most do, does no work for them.
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail
local torch = class.torch

-- A criterion's loss, which may be on a device, goes into the kernel's argument.
local function writeLoss(criterion, input, target)
   local loss = criterion:updateLoss(input, target)
   criterion.output_tensor:resize(1):copy(loss)
end

--- A function that takes the values of these names and calls a method of an object with them.
-- @param entry of dpt.nn.kernels
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
      object.bias = object.bias or object.gradBias -- that there is one decides, in some classes
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
      fail("THNN: there is no kernel '%s'; the modules of nn do the same", tostring(name))
   end
   local f = kernel(class_, method, entry[method], entry)
   rawset(made, name, f)
   return f
end})

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
