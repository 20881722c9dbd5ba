--- dpt.nn.utils: functions on tensors in nested tables.
--
-- Invariant: a result that is passed in is changed in place and keeps its tensors. A conversion
-- keeps shared tensors shared, through the cache.

local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local expect = require 'dpt.class.expect'
local gradients = require 'dpt.nn.gradients'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

--- Functions on tensors in nested tables.
-- @field nn.utils
-- @as author
-- @return a table of functions
-- @usage type(nn.utils.recursiveCopy) --> function
local utils = {
   clipGradNorm = gradients.clipGradNorm,
   clipGradValue = gradients.clipGradValue,
   beginCache = require('dpt.nn.cache').beginCache,
   endCache = require('dpt.nn.cache').endCache,
   parameterGroups = require 'dpt.nn.parameterGroups',
   shareGradInputs = require 'dpt.nn.shareGradInputs',
}

-- Returns a copy of the whole storage of a tensor in another type. The cache keeps the old storage
-- alive, so that no other storage reuses its address.
local function convertedStorage(t, typename, cache)
   local storage = t:storage()
   local key = torch.pointer(storage)
   local known = cache[key]
   if not known then
      local new = torch.getmetatable(typename).new():resize(storage:size())
      new:copy(t.new():set(storage, 1, storage:size(), 1))
      known = {old = storage, new = new:storage()}
      cache[key] = known
   end
   return known.new
end

local function convertTensor(t, typename, cache)
   local known = cache[t]
   if known then return known end
   if not torch.getmetatable(typename) then
      fail('nn.utils: type %s is unknown, wanted the name of a tensor class',
         tostring(typename))
   end
   local new = torch.getmetatable(typename).new()
   if t:storage() and t:storage():size() > 0 and t:dim() > 0 then
      new:set(convertedStorage(t, typename, cache), t:storageOffset(), t:size(), t:stride())
   elseif t:dim() > 0 then
      new:resize(t:size()) -- no elements, but sizes
   end
   cache[t] = new
   return new
end

--- Converts every tensor in nested tables, modules and criterions to a type.
-- @function nn.utils.recursiveType
-- @as author
-- @param value any: a tensor, a table, a module, a criterion
-- @param typename string: for example 'torch.FloatTensor'
-- @param cache? table: holds converted tensors, so that shared ones stay shared
-- @return the same table, module or criterion; a new tensor if the type differs
-- @usage nn.utils.recursiveType({torch.Tensor{1}}, 'torch.IntTensor')[1]:type()
--    --> torch.IntTensor
function utils.recursiveType(value, typename, cache)
   cache = expect('nn.utils.recursiveType', 'cache', cache or {}, 'table')
   if torch.isTensor(value) then
      return torch.typename(value) == typename and value or convertTensor(value, typename, cache)
   elseif type(value) == 'table' then
      if torch.isTypeOf(value, 'nn.Module') or torch.isTypeOf(value, 'nn.Criterion') then
         value:type(typename, cache)
      elseif not torch.typename(value) then
         if cache[value] then return value end
         cache[value] = true
         utils.convertFields(value, typename, cache)
      end
   end
   return value
end

--- Converts the tensors in every field of a table or object in place. The keys are listed before
-- the first field is set.
-- @function nn.utils.convertFields
-- @as author
-- @param object table: or object
-- @param typename string: for example 'torch.FloatTensor'
-- @param cache? table: as for recursiveType
-- @return nothing
-- @usage local t = {a = torch.Tensor{1}}
--    nn.utils.convertFields(t, 'torch.IntTensor', {})
--    return t.a:type() --> torch.IntTensor
function utils.convertFields(object, typename, cache)
   expect('nn.utils.convertFields', 'object', object, 'table')
   cache = cache or {}
   local keys = {}
   for key in next, object do keys[#keys + 1] = key end
   for _, key in ipairs(keys) do
      object[key] = utils.recursiveType(object[key], typename, cache)
   end
end

-- Replaces every device tensor in a table that is on another device by a copy on the current
-- device, except in tables with a field __noGPU__.
local function moveInto(value, device, cache)
   if cache[value] or value.ownDevices or value.__noGPU__ then return end
   cache[value] = true
   for k, v in pairs(value) do
      if torch.isTensor(v) then
         if comm.device(v) > 0 and comm.device(v) ~= device then
            value[k] = convertTensor(v, torch.typename(v), cache)
         end
      elseif type(v) == 'table' then
         moveInto(v, device, cache)
      end
   end
end

--- Moves every device tensor in a table, module or criterion to a device. Modules with a field
-- ownDevices (nn.GPU, nn.DataParallelTable) are not moved.
-- @function nn.utils.moveTo
-- @as author
-- @param value any: a table, a module or a criterion
-- @param device number: from 1
-- @return the value
-- @usage local m = nn.Linear(2, 1):cuda()
--    nn.utils.moveTo(m, 2)
--    return m.weight:getDevice() --> 2
function utils.moveTo(value, device)
   expect('nn.utils.moveTo', 'value', value, 'table')
   cutorch.withDevice(device, moveInto, value, device, {})
   return value
end

local function mismatch(name, a, b)
   fail('nn.utils.%s: wanted tensors, or tables of tensors of equal structure, got %s and %s',
      name, torch.type(a), torch.type(b))
end

-- Returns the table a, or {a}, without the entries whose keys are not in b.
local function likeTable(a, b)
   a = torch.type(a) == 'table' and a or {a}
   for k in pairs(a) do
      if b[k] == nil then a[k] = nil end
   end
   return a
end

-- Returns depth + 1. Raises at 1000: a tree of tensors is never that deep.
local function deeper(name, depth)
   if depth == 1000 then
      fail('nn.utils.%s: got a table that is inside itself, wanted a tree of tensors', name)
   end
   return depth + 1
end

local function resizeAs(a, b, depth)
   if torch.type(b) == 'table' then
      depth = deeper('recursiveResizeAs', depth)
      a = likeTable(a, b)
      for k in pairs(b) do a[k] = resizeAs(a[k], b[k], depth) end
   elseif torch.isTensor(b) then
      a = torch.isTensor(a) and a or b.new()
      a:resize(b:size())
   else
      mismatch('recursiveResizeAs', a, b)
   end
   return a, b
end

--- Resizes the tensors of one tree to the sizes of another's. Missing tensors are allocated.
-- @function nn.utils.recursiveResizeAs
-- @as author
-- @param a tensor: or table; nil: a new one is allocated
-- @param b tensor: or table
-- @return a, b
-- @usage (nn.utils.recursiveResizeAs(nil, torch.ones(2, 3))):size() --> 2x3
function utils.recursiveResizeAs(a, b) return resizeAs(a, b, 0) end

local function fill(t, value, depth)
   if torch.type(t) == 'table' then
      depth = deeper('recursiveFill', depth)
      for k in pairs(t) do t[k] = fill(t[k], value, depth) end
   elseif torch.isTensor(t) then
      t:fill(value)
   else
      mismatch('recursiveFill', t, value)
   end
   return t
end

--- Fills every tensor of a tree with a number.
-- @function nn.utils.recursiveFill
-- @as author
-- @param t tensor: or table
-- @param value number: new value of all elements
-- @return the tree
-- @usage local t = {torch.Tensor(2)}
--    nn.utils.recursiveFill(t, 3)
--    return t[1] --> [3 3]
function utils.recursiveFill(t, value) return fill(t, value, 0) end

local function add(a, factor, b, depth)
   if torch.type(b) == 'table' then
      depth = deeper('recursiveAdd', depth)
      a = torch.type(a) == 'table' and a or {a}
      for k in pairs(b) do a[k] = add(a[k], factor, b[k], depth) end
   elseif torch.isTensor(a) and torch.isTensor(b) then
      a:add(factor, b)
   else
      mismatch('recursiveAdd', a, b)
   end
   return a, b
end

--- Adds the tensors of one tree, times a factor, to those of another, in place.
-- @function nn.utils.recursiveAdd
-- @as author
-- @param a tensor: or table, changed in place
-- @param factor? number: factor of b (1)
-- @param b tensor: or table
-- @return a, b
-- @usage (nn.utils.recursiveAdd({torch.Tensor{1}}, 2, {torch.Tensor{3}}))[1] --> [7]
function utils.recursiveAdd(a, factor, b)
   if b == nil then factor, b = 1, factor end
   return add(a, factor, b, 0)
end

local function copy(a, b, async, depth)
   if torch.type(b) == 'table' then
      depth = deeper('recursiveCopy', depth)
      a = likeTable(a, b)
      for k in pairs(b) do a[k] = copy(a[k], b[k], async, depth) end
   elseif torch.isTensor(b) then
      a = torch.isTensor(a) and a or b.new()
      a:resize(b:size())
      if async then a:copyAsync(b) else a:copy(b) end
   else
      mismatch('recursiveCopy', a, b)
   end
   return a, b
end

--- Copies the tensors of one tree into another. Destination tensors are resized, missing ones
-- allocated.
-- @function nn.utils.recursiveCopy
-- @as author
-- @param a tensor: or table; nil: a new one is allocated
-- @param b tensor: or table
-- @param async? boolean: true: page-locked memory may still be read after the function returns
-- @return a, b
-- @usage (nn.utils.recursiveCopy(nil, {torch.Tensor{4}}))[1] --> [4]
function utils.recursiveCopy(a, b, async) return copy(a, b, async, 0) end

--- Returns a view with one more dimension, of size 1.
-- @function nn.utils.addSingletonDimension
-- @as author
-- @param result? tensor: becomes the view
-- @param t tensor: of any size
-- @param dim? number: position of the new dimension (1)
-- @return the view
-- @usage nn.utils.addSingletonDimension(torch.ones(3)):size() --> 1x3
function utils.addSingletonDimension(result, t, dim)
   if not torch.isTensor(t) then result, t, dim = nil, result, t end
   expect('nn.utils.addSingletonDimension', 't', t, 'tensor')
   result = expect('nn.utils.addSingletonDimension', 'result', result or t.new(), 'tensor')
   dim = dim or 1
   local none = t:nElement() == 0
   local size = none and t:dim() == 0 and {0} or t:size():totable() -- an empty vector has no sizes
   if type(dim) ~= 'number' or not (dim >= 1 and dim <= #size + 1) or dim % 1 ~= 0 then
      fail('nn.utils.addSingletonDimension: dimension %s is not in 1..%d', tostring(dim), #size + 1)
   end
   if none then
      table.insert(size, dim, 1)
      return result:resize(torch.LongStorage(size))
   end
   local stride = t:stride():totable()
   local step = dim <= #size and size[dim] * stride[dim] or 1
   table.insert(size, dim, 1)
   table.insert(stride, dim, step)
   return result:set(t:storage(), t:storageOffset(), torch.LongStorage(size),
      torch.LongStorage(stride))
end

--- Returns a view with other sizes, of the input if it is contiguous, else of a copy.
-- @function nn.utils.contiguousView
-- @as author
-- @param output? tensor: buffer for the copy
-- @param input tensor: of any size
-- @param sizes number: one for each dimension, or a LongStorage
-- @return the view
-- @usage nn.utils.contiguousView(nil, torch.ones(2, 3), 6):size() --> 6
function utils.contiguousView(output, input, ...)
   expect('nn.utils.contiguousView', 'input', input, 'tensor')
   output = expect('nn.utils.contiguousView', 'output', output or input.new(), 'tensor')
   if input:isContiguous() then return output:view(input, ...) end
   output:resize(input:size()):copy(input)
   return output:view(output, ...)
end

--- Returns a view with other sizes, of the input if it is contiguous, else of a copy; reuses the
-- previous view object.
-- @function nn.utils.viewAgain
-- @as author
-- @param current? tensor: the view returned before
-- @param input tensor: of any size
-- @param sizes number: one for each dimension, or a LongStorage
-- @return the view
-- @usage local x = torch.ones(2, 3)
--    local v = nn.utils.viewAgain(nil, x, 6)
--    return rawequal(nn.utils.viewAgain(v, x, 3, 2), v), v:size() --> true, 3x2
function utils.viewAgain(current, input, ...)
   expect('nn.utils.viewAgain', 'input', input, 'tensor')
   if torch.type(current) ~= torch.type(input) then current = input.new() end
   return current:view(input:contiguous(), ...)
end

--- Returns a LongTensor on the host or device of `like`: `current` if it is one, else a new one.
-- @function nn.utils.indexTensor
-- @as author
-- @param current? tensor: any
-- @param like tensor: on the host or a device
-- @return a LongTensor, or a CudaLongTensor
-- @usage nn.utils.indexTensor(nil, torch.CudaTensor()):type() --> torch.CudaLongTensor
function utils.indexTensor(current, like)
   local typename = torch.type(like):find('Cuda') and 'torch.CudaLongTensor' or 'torch.LongTensor'
   if torch.type(current) == typename then return current end
   return torch.getmetatable(typename).new()
end

--- Returns indices or targets on the host or device of `like`: the tensor itself if it is there,
-- else a LongTensor copy in object[field].
-- @function nn.utils.sameSide
-- @as author
-- @param object table: holds the copy
-- @param field string: field of the copy
-- @param t tensor: indices or targets
-- @param like tensor: on the host or a device
-- @return a tensor
-- @usage nn.utils.sameSide({}, 'copy', torch.CudaLongTensor{3}, torch.Tensor()):type()
--    --> torch.LongTensor
function utils.sameSide(object, field, t, like)
   local onDevice = torch.type(like):find('Cuda') ~= nil
   if onDevice == (torch.type(t):find('Cuda') ~= nil) then return t end
   expect('nn.utils.sameSide', 't', t, 'tensor')
   expect('nn.utils.sameSide', 'object', object, 'table')
   object[field] = utils.indexTensor(object[field], like)
   return object[field]:resize(t:size()):copy(t)
end

--- Concatenates tensors along a dimension. Tensors of other types are converted to the result's.
-- @function nn.utils.join
-- @as author
-- @param result tensor: output; resized
-- @param tensors table: a list of tensors, with equal sizes except in the dimension
-- @param dimension number: from 1
-- @return the result
-- @usage nn.utils.join(torch.FloatTensor(), {torch.FloatTensor{1.5}, torch.LongTensor{2}}, 1)
--    --> [1.5 2]
function utils.join(result, tensors, dimension)
   expect('nn.utils.join', 'result', result, 'tensor')
   local list = {}
   for i, t in ipairs(expect('nn.utils.join', 'tensors', tensors, 'table')) do
      list[i] = torch.isTensor(t) and t:typeAs(result) or t
   end
   return torch.cat(result, list, dimension)
end

--- Returns a list with one tensor for each tensor of another list, of the same type. Tensors that
-- the list has are reused, others are allocated.
-- @function nn.utils.tensorsLike
-- @as author
-- @param list? table: of tensors
-- @param others table: of tensors
-- @return a list of the same length as others
-- @usage #nn.utils.tensorsLike(nil, {torch.Tensor(), torch.Tensor()}) --> 2
function utils.tensorsLike(list, others)
   expect('nn.utils.tensorsLike', 'others', others, 'table')
   list = type(list) == 'table' and list or {}
   for i, t in ipairs(others) do
      expect('nn.utils.tensorsLike', 'others', t, 'tensor')
      if torch.type(list[i]) ~= torch.type(t) then list[i] = t.new() end
   end
   for i = #others + 1, #list do list[i] = nil end
   return list
end

--- Clears the named fields: a tensor becomes a new empty tensor (the old one may be shared), a
-- table an empty table, and any other value nil.
-- @function nn.utils.clear
-- @as author
-- @param object table: whose fields are cleared
-- @param ... string: names of fields
-- @return the object
-- @usage nn.utils.clear({a = torch.ones(2), b = 5, c = {1}}, 'a', 'b').a:nElement() --> 0
function utils.clear(object, ...)
   expect('nn.utils.clear', 'object', object, 'table')
   local fields = {...}
   if type(fields[1]) == 'table' then fields = fields[1] end
   for _, field in ipairs(fields) do
      local value = object[field]
      if torch.isTensor(value) then
         object[field] = value.new()
      elseif type(value) == 'table' then
         object[field] = {}
      else
         object[field] = nil
      end
   end
   return object
end

return utils
