--- dpt.tensor.query: what a tensor says about itself: sizes, strides, identity, type, memory.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail
local type = dptffi.type
local istype, storageType = ffi.istype, core.storageType
local torch, method, both = class.torch, core.method, core.both
local check, dimension = core.checkTensor, core.dimension

--- A LongStorage with the numbers of size_ or stride_ of a tensor.
local function longs(t, field)
   local n = t.ndim_
   local s = core.freshStorage(core.LONG, n)
   ffi.copy(C.dpt_storage_data(s.ptr_), t[field], n * 8)
   core.hold(t)
   return s
end

--- size(): a LongStorage; size(dim): a number.
both('size', function(t, dim)
   if type(t) == 'cdata' and istype(storageType, t) then return t:size() end
   check('size', 'self', t)
   if dim == nil then return longs(t, 'size_') end
   return tonumber(t.size_[dimension('size', t, dim)])
end)

both('stride', function(t, dim)
   check('stride', 'self', t)
   if dim == nil then return longs(t, 'stride_') end
   return tonumber(t.stride_[dimension('stride', t, dim)])
end)

both('dim nDimension', function(t)
   check('dim', 'self', t)
   return t.ndim_
end)

both('nElement numel', function(t)
   check('nElement', 'self', t)
   return tonumber(C.dpt_count(t))
end)

both('storage', function(t)
   check('storage', 'self', t)
   return core.storageOf(t)
end)

both('storageOffset', function(t)
   check('storageOffset', 'self', t)
   return tonumber(t.offset_) + 1
end)

both('isContiguous', function(t)
   check('isContiguous', 'self', t)
   return C.dpt_is_contiguous(t) ~= 0
end)

both('isSameSizeAs', function(t, a)
   check('isSameSizeAs', 'self', t)
   return C.dpt_is_same_size(t, check('isSameSizeAs', 'tensor', a)) ~= 0
end)

--- Whether two tensors are the same view of one storage.
both('isSetTo', function(t, a)
   check('isSetTo', 'self', t)
   check('isSetTo', 'tensor', a)
   return t.storage_ ~= nil and C.dpt_is_set_to(t, a) ~= 0
end)

--- Whether the sizes are those of a LongStorage.
both('isSize', function(t, s)
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
   --- The tensor is not needed: torch.FloatTensor.elementSize().
   function methods.elementSize() return core.elementSizes[kind] end
end

--- The number of the device that holds the elements; 0 for host memory or no memory. On host
-- tensors too, so that scripts need not ask for the type first.
both('getDevice', function(t)
   check('getDevice', 'self', t)
   return C.dpt_tensor_device(t)
end)

--- A pointer to the first element; it holds while the tensor's storage lives and is not resized.
-- On devices it must not be followed.
both('data', function(t)
   if istype(storageType, t) then return t:data() end
   check('data', 'self', t)
   local first = C.dpt_tensor_data(t)
   if first == nil and t.storage_ ~= nil then
      first = ffi.cast('char *', C.dpt_storage_data(t.storage_))
         + t.offset_ * core.elementSizes[t.kind_]
   end
   return ffi.cast(core.pointers[t.kind_ % core.ON_DEVICE], first)
end)

--- The C object: the struct itself.
both('cdata', function(t)
   if istype(storageType, t) then return t:cdata() end
   return check('cdata', 'self', t)
end)

--- Nothing: memory is counted by dpt; for scripts that counted by hand.
-- @function Tensor:retain
-- @as tensormethod
-- @also Tensor:free()
-- @return the tensor
-- @usage torch.Tensor{2}:retain():free() --> [2]
method('retain free', function(t) return t end)

--- A number that identifies an object while it lives: two storages in Lua over the same memory have
-- the same one.
function torch.pointer(object)
   if istype(storageType, object) then return tonumber(ffi.cast('intptr_t', object.ptr_)) end
   local kind = type(object)
   if kind == 'cdata' then return tonumber(ffi.cast('intptr_t', ffi.cast('void *', object))) end
   if kind == 'number' or kind == 'boolean' or kind == 'nil' then
      fail('torch.pointer: wanted an object, got %s', torch.type(object))
   end
   return tonumber((('%p'):format(object)))
end

--- Whether two values are one object.
function torch.isequal(a, b)
   local ta, tb = type(a), type(b)
   if ta ~= tb or ta == 'number' or ta == 'boolean' or ta == 'nil' then return a == b end
   return torch.pointer(a) == torch.pointer(b)
end

--- The sizes, a LongStorage, or one of them.
-- @function torch.size
-- @as viewof
-- @also Tensor:size()
-- @param dim? number: only this one
-- @return LongStorage; with a dimension: number
-- @usage torch.ones(2, 3):size() --> 2x3

--- The distances in memory from one index to the next, or one of them.
-- @function torch.stride
-- @as viewof
-- @also Tensor:stride()
-- @param dim? number: only this one
-- @return LongStorage, in elements; with a dimension: number
-- @usage torch.ones(2, 3):stride() --> 3x1

--- How many dimensions; 0: an empty tensor.
-- @function torch.dim
-- @as viewof
-- @also Tensor:dim()
-- @return number
-- @usage torch.ones(2, 3):dim() --> 2

--- How many dimensions, by its longer name.
-- @function torch.nDimension
-- @as viewof
-- @also Tensor:nDimension()
-- @return number, as dim's
-- @usage torch.ones(2, 3):nDimension() --> 2

--- How many elements.
-- @function torch.nElement
-- @as viewof
-- @also Tensor:nElement()
-- @return number
-- @usage torch.ones(2, 3):nElement() --> 6

--- How many elements, by its shorter name.
-- @function torch.numel
-- @as viewof
-- @also Tensor:numel()
-- @return number, as nElement's
-- @usage torch.ones(2, 3):numel() --> 6

--- The memory behind a tensor; nil: it has none.
-- @function torch.storage
-- @as viewof
-- @also Tensor:storage()
-- @return a storage of the tensor's type, or nil
-- @usage #torch.ones(2, 3):storage() --> 6

--- Where in its storage a tensor begins, from 1 on.
-- @function torch.storageOffset
-- @as viewof
-- @also Tensor:storageOffset()
-- @return number, in elements
-- @usage torch.range(1, 5):narrow(1, 3, 1):storageOffset() --> 3

--- A C pointer to the first element of a host tensor.
-- @function torch.data
-- @as viewof
-- @also Tensor:data()
-- @return C data: a pointer, which is good as long as the tensor has this memory
-- @usage torch.FloatTensor{7}:data()[0] --> 7

--- The C structure of a tensor.
-- @function torch.cdata
-- @as viewof
-- @also Tensor:cdata()
-- @return C data: dpt_tensor
-- @usage tonumber(torch.cdata(torch.ones(2, 3)).ndim_) --> 2

--- Bytes of an element.
-- @function torch.elementSize
-- @as viewof
-- @also Tensor:elementSize()
-- @return number, in bytes
-- @usage torch.FloatTensor(1):elementSize() --> 4

--- Whether elements stand in order and without gaps.
-- @function torch.isContiguous
-- @as viewof
-- @also Tensor:isContiguous()
-- @return boolean
-- @usage local x = torch.ones(2, 3)
--    return x:isContiguous(), x:t():isContiguous() --> true, false

--- Whether two tensors have the same sizes.
-- @function torch.isSameSizeAs
-- @as viewof
-- @also Tensor:isSameSizeAs()
-- @param y tensor: of any size
-- @return boolean
-- @usage local x = torch.ones(2, 3)
--    return x:isSameSizeAs(torch.zeros(2, 3)), x:isSameSizeAs(x:t()) --> true, false

--- Whether the sizes are these.
-- @function torch.isSize
-- @as viewof
-- @also Tensor:isSize()
-- @param sizes storage: a LongStorage
-- @return boolean
-- @usage local x = torch.ones(2, 3)
--    return x:isSize(torch.LongStorage{2, 3}), x:isSize(torch.LongStorage{6}) --> true, false

--- Whether two tensors have the same memory, sizes and strides.
-- @function torch.isSetTo
-- @as viewof
-- @also Tensor:isSetTo()
-- @param y tensor: of any size
-- @return boolean
-- @usage local x = torch.ones(2)
--    return x:isSetTo(x:view(2)), x:isSetTo(x:clone()) --> true, false

--- Whether a value is a tensor.
-- @function torch.isTensor
-- @as plaintensor
-- @also Tensor:isTensor()
-- @param value any: what is asked about
-- @return boolean
-- @usage torch.isTensor(torch.ones(1)), torch.isTensor(1) --> true, false

--- Whether a value is a storage.
-- @function torch.isStorage
-- @as plaintensor
-- @param value any: what is asked about
-- @return boolean
-- @usage torch.isStorage(torch.ones(1):storage()), torch.isStorage(torch.ones(1)) --> true, false

--- The device of a tensor; 0: host memory.
-- @function torch.getDevice
-- @as viewof
-- @also Tensor:getDevice()
-- @return number
-- @usage torch.CudaTensor(2):getDevice() --> 1

--- The elements as tables in tables.
-- @function torch.totable
-- @as viewof
-- @also Tensor:totable()
-- @return table: numbers, for each dimension in a table
-- @usage torch.totable(torch.Tensor{{1, 2}, {3, 4}}) --> {{1 2} {3 4}}

--- The name of a tensor's type, or the tensor as one of another type.
-- @function torch.type
-- @as viewof
-- @also Tensor:type()
-- @param name? string: the type to convert to
-- @return string; with the name of a type: a tensor of that type, which is x itself if it has it
-- @usage torch.ones(1):type 'torch.IntTensor' --> [1]
