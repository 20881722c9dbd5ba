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

--- Counting is dpt's own affair: these keep scripts that count by hand running.
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
