--- dpt.tensor.query: a tensor's sizes, strides, identity, type and memory.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail
local type = dptffi.type
local istype, storageType = ffi.istype, core.storageType
local torch, method, define = class.torch, core.method, core.define
local check, dimension = core.checkTensor, core.dimension

--- Returns the size_ or stride_ array of a tensor as a LongStorage.
local function longs(t, field)
   local n = t.ndim_
   local s = core.freshStorage(core.LONG, n)
   ffi.copy(C.dpt_storage_data(s.ptr_), t[field], n * 8)
   core.keepAlive(t)
   return s
end

--- size(): returns a LongStorage; size(dim): returns a number.
define('size', function(t, dim)
   if type(t) == 'cdata' and istype(storageType, t) then return t:size() end
   check('size', 'self', t)
   if dim == nil then return longs(t, 'size_') end
   return tonumber(t.size_[dimension('size', t, dim)])
end)

define('stride', function(t, dim)
   check('stride', 'self', t)
   if dim == nil then return longs(t, 'stride_') end
   return tonumber(t.stride_[dimension('stride', t, dim)])
end)

define('dim nDimension', function(t)
   check('dim', 'self', t)
   return t.ndim_
end)

define('nElement numel', function(t)
   check('nElement', 'self', t)
   return tonumber(C.dpt_count(t))
end)

define('storage', function(t)
   check('storage', 'self', t)
   return core.storageOf(t)
end)

define('storageOffset', function(t)
   check('storageOffset', 'self', t)
   return tonumber(t.offset_) + 1
end)

define('isContiguous', function(t)
   check('isContiguous', 'self', t)
   return C.dpt_is_contiguous(t) ~= 0
end)

define('isSameSizeAs', function(t, a)
   check('isSameSizeAs', 'self', t)
   return C.dpt_is_same_size(t, check('isSameSizeAs', 'tensor', a)) ~= 0
end)

--- Returns true if two tensors are the same view of one storage.
define('isSetTo', function(t, a)
   check('isSetTo', 'self', t)
   check('isSetTo', 'tensor', a)
   return t.storage_ ~= nil and C.dpt_is_set_to(t, a) ~= 0
end)

--- Returns true if the sizes are those of a LongStorage.
define('isSize', function(t, s)
   check('isSize', 'self', t)
   if not istype(storageType, s) or s.kind_ ~= core.LONG then
      core.usage('isSize', 'a torch.LongStorage', s)
   end
   if core.storageLength(s) ~= t.ndim_ then return false end
   for i = 0, t.ndim_ - 1 do
      if t.size_[i] ~= s[i + 1] then return false end
   end
   return true
end)

function torch.elementSize(t)
   check('elementSize', 'self', t)
   return core.elementSizes[t.kind_]
end
for kind, methods in pairs(core.tensorMethods) do
   --- Returns the bytes per element. Needs no tensor: torch.FloatTensor.elementSize().
   function methods.elementSize() return core.elementSizes[kind] end
end

--- Returns the number of the device that holds the elements; 0 for host memory or no memory. Host
-- tensors have this method, too, so scripts need not check the type first.
define('getDevice', function(t)
   check('getDevice', 'self', t)
   return C.dpt_tensor_device(t)
end)

--- Returns a pointer to the first element, valid until the tensor's storage is freed or resized. A
-- device pointer must not be dereferenced.
define('data', function(t)
   if istype(storageType, t) then return t:data() end
   check('data', 'self', t)
   local first = C.dpt_tensor_data(t)
   if first == nil and t.storage_ ~= nil then
      first = ffi.cast('char *', C.dpt_storage_data(t.storage_))
         + t.offset_ * core.elementSizes[t.kind_]
   end
   return ffi.cast(core.pointers[t.kind_ % core.ON_DEVICE], first)
end)

--- Returns the C object: the struct itself.
define('cdata', function(t)
   if istype(storageType, t) then return t:cdata() end
   return check('cdata', 'self', t)
end)

--- Does nothing, as dpt counts references itself; for scripts that counted them by hand.
-- @function Tensor:retain
-- @as tensormethod
-- @also Tensor:free()
-- @return the tensor
-- @usage torch.Tensor{2}:retain():free() --> [2]
method('retain free', function(t) return t end)

--- Returns a number that identifies an object during its lifetime: two Lua storages over the same
-- memory have the same number.
function torch.pointer(object)
   if istype(storageType, object) then return tonumber(ffi.cast('intptr_t', object.ptr_)) end
   local kind = type(object)
   if kind == 'cdata' then return tonumber(ffi.cast('intptr_t', ffi.cast('void *', object))) end
   if kind == 'number' or kind == 'boolean' or kind == 'nil' then
      fail('torch.pointer: wanted an object, got %s', torch.type(object))
   end
   return tonumber((('%p'):format(object)))
end

--- Returns true if two values are the same object.
function torch.isequal(a, b)
   local ta, tb = type(a), type(b)
   if ta ~= tb or ta == 'number' or ta == 'boolean' or ta == 'nil' then return a == b end
   return torch.pointer(a) == torch.pointer(b)
end

--- Returns the sizes as a LongStorage, or the size of one dimension.
-- @function torch.size
-- @as viewof
-- @also Tensor:size()
-- @param dim? number: a dimension
-- @return LongStorage; with a dimension: number
-- @usage torch.ones(2, 3):size() --> 2x3

--- Returns the strides, or the stride of one dimension.
-- @function torch.stride
-- @as viewof
-- @also Tensor:stride()
-- @param dim? number: a dimension
-- @return LongStorage, in elements; with a dimension: number
-- @usage torch.ones(2, 3):stride() --> 3x1

--- Returns the number of dimensions; 0 for an empty tensor.
-- @function torch.dim
-- @as viewof
-- @also Tensor:dim()
-- @return number
-- @usage torch.ones(2, 3):dim() --> 2

--- Longer name of torch.dim.
-- @function torch.nDimension
-- @as viewof
-- @also Tensor:nDimension()
-- @return number
-- @usage torch.ones(2, 3):nDimension() --> 2

--- Returns the number of elements.
-- @function torch.nElement
-- @as viewof
-- @also Tensor:nElement()
-- @return number
-- @usage torch.ones(2, 3):nElement() --> 6

--- Shorter name of torch.nElement.
-- @function torch.numel
-- @as viewof
-- @also Tensor:numel()
-- @return number
-- @usage torch.ones(2, 3):numel() --> 6

--- Returns the storage of a tensor, or nil if it has none.
-- @function torch.storage
-- @as viewof
-- @also Tensor:storage()
-- @return a storage of the tensor's type, or nil
-- @usage #torch.ones(2, 3):storage() --> 6

--- Returns the position in its storage of a tensor's first element, counted from 1.
-- @function torch.storageOffset
-- @as viewof
-- @also Tensor:storageOffset()
-- @return number, in elements
-- @usage torch.range(1, 5):narrow(1, 3, 1):storageOffset() --> 3

--- Returns a C pointer to the first element of a host tensor.
-- @function torch.data
-- @as viewof
-- @also Tensor:data()
-- @return cdata: a pointer, valid as long as the tensor has this memory
-- @usage torch.FloatTensor{7}:data()[0] --> 7

--- Returns the C struct of a tensor.
-- @function torch.cdata
-- @as viewof
-- @also Tensor:cdata()
-- @return cdata: dpt_tensor
-- @usage tonumber(torch.cdata(torch.ones(2, 3)).ndim_) --> 2

--- Returns the number of bytes per element.
-- @function torch.elementSize
-- @as viewof
-- @also Tensor:elementSize()
-- @return number, in bytes
-- @usage torch.FloatTensor(1):elementSize() --> 4

--- Returns true if the elements are in row-major order without gaps.
-- @function torch.isContiguous
-- @as viewof
-- @also Tensor:isContiguous()
-- @return boolean
-- @usage local x = torch.ones(2, 3)
--    return x:isContiguous(), x:t():isContiguous() --> true, false

--- Returns true if two tensors have the same sizes.
-- @function torch.isSameSizeAs
-- @as viewof
-- @also Tensor:isSameSizeAs()
-- @param y tensor: of any size
-- @return boolean
-- @usage local x = torch.ones(2, 3)
--    return x:isSameSizeAs(torch.zeros(2, 3)), x:isSameSizeAs(x:t()) --> true, false

--- Returns true if the tensor has these sizes.
-- @function torch.isSize
-- @as viewof
-- @also Tensor:isSize()
-- @param sizes storage: a LongStorage
-- @return boolean
-- @usage local x = torch.ones(2, 3)
--    return x:isSize(torch.LongStorage{2, 3}), x:isSize(torch.LongStorage{6}) --> true, false

--- Returns true if two tensors have the same memory, sizes and strides.
-- @function torch.isSetTo
-- @as viewof
-- @also Tensor:isSetTo()
-- @param y tensor: of any size
-- @return boolean
-- @usage local x = torch.ones(2)
--    return x:isSetTo(x:view(2)), x:isSetTo(x:clone()) --> true, false

--- Returns true if a value is a tensor.
-- @function torch.isTensor
-- @as plaintensor
-- @also Tensor:isTensor()
-- @param value any: the value to test
-- @return boolean
-- @usage torch.isTensor(torch.ones(1)), torch.isTensor(1) --> true, false

--- Returns true if a value is a storage.
-- @function torch.isStorage
-- @as plaintensor
-- @param value any: the value to test
-- @return boolean
-- @usage torch.isStorage(torch.ones(1):storage()), torch.isStorage(torch.ones(1)) --> true, false

--- Returns the device of a tensor; 0 for host memory.
-- @function torch.getDevice
-- @as viewof
-- @also Tensor:getDevice()
-- @return number
-- @usage torch.CudaTensor(2):getDevice() --> 1

--- Returns the elements as nested tables.
-- @function torch.totable
-- @as viewof
-- @also Tensor:totable()
-- @return table: of numbers, nested by dimension
-- @usage torch.totable(torch.Tensor{{1, 2}, {3, 4}}) --> {{1 2} {3 4}}

--- Returns the name of a tensor's type, or converts the tensor to another type.
-- @function torch.type
-- @as viewof
-- @also Tensor:type()
-- @param name? string: the type to convert to
-- @return string; with a type's name: a tensor of that type, x itself if it has that type
-- @usage torch.ones(1):type 'torch.IntTensor' --> [1]
