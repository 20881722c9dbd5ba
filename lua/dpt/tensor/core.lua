--- dpt.tensor.core: the C types of tensors, storages and generators, their classes, and the only
-- functions that create them.
--
-- Invariant: a tensor or storage in Lua is a struct by value that its finalizer frees. Methods are
-- looked up in the live method table of its kind (torch.getmetatable returns that very table), so
-- scripts can add methods. All tensors are created by `tensor` or `fresh` here; `fresh` is for
-- those that will own new memory: Lua's collector cannot see C memory, so `fresh` calls it before
-- an allocation once the live bytes exceed a soft limit, never inside a C call. A pointer or an
-- array field taken from an object (s.ptr_, t.size_, x:data()) does not keep the object alive.
-- Neither does a local variable after its last use, once the compiler has compiled the loop. Code
-- that takes a pointer calls core.keepAlive(object) after its last use, and makes no tail call.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local ffi, C, fail = dptffi.ffi, dptffi.C, dptffi.fail
local type = dptffi.type
local istype = ffi.istype
local torch = class.torch

local tensorType = ffi.typeof 'dpt_tensor'
local storageType = ffi.typeof 'struct { dpt_storage *ptr_; int32_t kind_; }'
local generatorType = ffi.typeof 'struct { dpt_generator *ptr_; }'

local ON_DEVICE = C.DPT_ON_DEVICE
local LONG, FLOAT, DOUBLE, BYTE = C.DPT_I64, C.DPT_F32, C.DPT_F64, C.DPT_U8

local core = {
   tensorType = tensorType,
   storageType = storageType,
   generatorType = generatorType,
   generatorMethods = nil, -- set by dpt.tensor.random
   elements = {},       -- element type -> its name, size and other properties
   names = {},          -- kind -> 'Float', 'CudaByte'
   methodNames = {},    -- kind -> the method that converts to it: 'float', 'cudaByte'
   tensorNames = {},    -- kind -> 'torch.FloatTensor'
   realNames = {},      -- kind -> 'torch.FloatTensor', for the real types
   storageNames = {},   -- kind -> 'torch.FloatStorage'
   kinds = {},          -- 'torch.FloatTensor', 'torch.FloatStorage' -> kind
   tensorMethods = {},  -- kind -> live method table
   storageMethods = {}, -- kind -> live method table
   tensorConstructors = {},
   storageConstructors = {},
   pointers = {},       -- element type -> C pointer type
   elementSizes = {},   -- kind -> bytes
   default = DOUBLE,    -- the kind of torch.Tensor
   ON_DEVICE = ON_DEVICE, LONG = LONG, FLOAT = FLOAT, DOUBLE = DOUBLE, BYTE = BYTE,
}

-- Copies the list of element types from C (csrc/base/dtype.h). ctype: the C type of an element in
-- memory; Lua sees the bits of a reduced type (16-bit floats).
for dtype = 0, C.DPT_NDTYPE - 1 do
   local from = C.dpt_dtype_get(dtype)
   local isReal, isReduced = from.real ~= 0, from.compute ~= dtype
   local ctype = isReduced and 'uint16_t' or isReal and (dtype == FLOAT and 'float' or 'double')
      or (dtype == BYTE and 'uint8_t' or 'int' .. 8 * from.size .. '_t')
   core.elements[dtype] = {name = ffi.string(from.name), file = ffi.string(from.file),
      size = from.size, ctype = ctype, isReal = isReal, isReduced = isReduced,
      compute = from.compute}
end

--- Returns the properties of a kind's element type.
function core.elementOf(kind) return core.elements[kind % ON_DEVICE] end

--- Returns the kind in which kernels compute: float for the reduced types.
function core.computeKind(kind)
   local dtype = kind % ON_DEVICE
   return kind - dtype + core.elements[dtype].compute
end

--- Calls f(kind) for every kind: each element type on the host and on devices.
function core.eachKind(f)
   for dtype = 0, C.DPT_NDTYPE - 1 do
      f(dtype)
      f(dtype + ON_DEVICE)
   end
end

core.eachKind(function(kind)
   local dtype = kind % ON_DEVICE
   local element = core.elements[dtype]
   local name, method = element.name, element.name:lower()
   if kind >= ON_DEVICE then
      name = dtype == FLOAT and 'Cuda' or 'Cuda' .. name
      method = name:gsub('^%u', string.lower)
   end
   core.pointers[dtype] = ffi.typeof(element.ctype .. ' *')
   core.names[kind] = name
   core.methodNames[kind] = method
   core.elementSizes[kind] = element.size
   for what, of in pairs{Tensor = 'tensor', Storage = 'storage'} do
      local full = 'torch.' .. name .. what
      local function construct(...) return core['new' .. what](kind, ...) end
      local methods, constructor = torch.newmetatable(full, nil, construct, nil, construct, torch)
      methods.new = construct
      core.kinds[full] = kind
      if what == 'Tensor' and element.isReal then core.realNames[kind] = full end
      core[of .. 'Names'][kind] = full
      core[of .. 'Methods'][kind] = methods
      core[of .. 'Constructors'][kind] = constructor
   end
end)

--- Returns the method table of cdata other than tensors, storages and generators; set by
-- dpt.threads.tds.
function core.cdataMethods() return nil end
--- Returns the address, as a number, of the memory that such cdata refers to.
function core.cdataAddress() return nil end

class.setCdata(function(object)
   if istype(tensorType, object) then return core.tensorMethods[object.kind_] end
   if istype(storageType, object) then return core.storageMethods[object.kind_] end
   if istype(generatorType, object) then return core.generatorMethods end
   return core.cdataMethods(object)
end)

function core.isTensor(v) return istype(tensorType, v) end
function core.isStorage(v) return istype(storageType, v) end
torch.isTensor, torch.isStorage = core.isTensor, core.isStorage
for _, methods in pairs(core.tensorMethods) do methods.isTensor = core.isTensor end

--- Adds a method under each of the names to every kind of tensor.
function core.method(names, f)
   for name in names:gmatch('%S+') do
      for _, methods in pairs(core.tensorMethods) do rawset(methods, name, f) end
   end
end

--- Adds a method to every kind of tensor and the same function to torch.
function core.define(names, f)
   core.method(names, f)
   for name in names:gmatch('%S+') do torch[name] = f end
end

function core.storageMethod(names, f)
   for name in names:gmatch('%S+') do
      for _, methods in pairs(core.storageMethods) do rawset(methods, name, f) end
   end
end

--- Keeps its arguments alive up to this call.
function core.keepAlive() end

-- creation ----------------------------------------------------------------------------------------

--- Returns an empty tensor that will view existing memory.
local function tensor(kind)
   local t = tensorType()
   t.kind_ = kind
   return t
end

local function collect()
   collectgarbage()
   collectgarbage() -- finalizers of the first pass may have released more objects
   C.dpt_collect_done(collectgarbage 'count' * 1024)
end

--- Returns an empty tensor that will own new memory.
local function fresh(kind)
   if C.dpt_collect_due(kind, 0) ~= 0 then collect() end
   return tensor(kind)
end

--- Returns a Lua storage that takes over the caller's reference to `pointer`.
local function storage(kind, pointer)
   local s = storageType()
   s.kind_, s.ptr_ = kind, pointer
   return s
end

core.tensor, core.fresh, core.storage, core.collect = tensor, fresh, storage, collect

--- Collects garbage if due; for a Lua state that receives tensors without creating any.
function core.collectIfDue()
   if C.dpt_collect_due(core.BYTE, 0) ~= 0 then collect() end
end

local slot = ffi.new 'dpt_storage *[1]'

--- Returns a new storage of n uninitialized elements.
function core.freshStorage(kind, n)
   if C.dpt_collect_due(kind, n) ~= 0 then collect() end
   slot[0] = nil
   dptffi.lib.storage_new(slot, kind, n)
   return storage(kind, slot[0])
end

--- Returns a tensor's storage with an additional reference, or nil if the tensor has none.
function core.storageOf(t)
   if t.storage_ == nil then return nil end
   C.dpt_storage_retain(t.storage_)
   return storage(t.kind_, t.storage_)
end

--- Returns the first and the last element of its storage (counted from 1) that a non-empty tensor
-- reaches, and true if it reaches all elements between them.
function core.extent(t)
   local first, last, n = t:storageOffset(), t:storageOffset(), t:nElement()
   for d = 1, t:dim() do last = last + (t:size(d) - 1) * t:stride(d) end
   return first, last, last - first + 1 == n
end

--- Returns true if the runs of elements of two tensors overlap.
function core.overlap(a, b)
   if a.storage_ ~= b.storage_ or a:nElement() == 0 or b:nElement() == 0 then return false end
   local first, last = core.extent(a)
   local low, high = core.extent(b)
   return low <= last and high >= first
end

--- Returns the number of writes to a tensor's storage; 0 if it has none.
function core.writes(t)
   return t.storage_ ~= nil and tonumber(C.dpt_storage_writes(t.storage_)) or 0
end

-- arguments ---------------------------------------------------------------------------------------

--- Describes arguments for an error message: "torch.FloatTensor, number, nil".
function core.describe(...)
   local words, n = {}, select('#', ...)
   while n > 0 and (select(n, ...)) == nil do n = n - 1 end
   for i = 1, n do words[i] = torch.type((select(i, ...))) end
   return #words == 0 and 'nothing' or table.concat(words, ', ')
end

core.quote = class.quote

--- Returns the kind of tensors that a string such as 'torch.FloatTensor' names, else nil.
function core.kindNamed(name)
   local kind = type(name) == 'string' and core.kinds[name]
   return kind and core.tensorNames[kind] == name and kind or nil
end

--- Raises "fn: wanted ..., got ..." at the caller's line.
function core.usage(fn, wanted, ...)
   return fail('%s: wanted %s, got %s', fn, wanted, core.describe(...))
end

function core.checkTensor(fn, argument, v)
   if not istype(tensorType, v) then
      fail("%s: argument '%s' is of type %s, wanted a tensor", fn, argument, torch.type(v))
   end
   return v
end

--- Checks a number argument; accepts int64 cdata and numeric strings.
function core.checkNumber(fn, argument, v)
   if type(v) == 'number' then return v end
   local kind = type(v)
   local number = (kind == 'cdata' or kind == 'string') and tonumber(v)
   if not number then
      fail("%s: argument '%s' is of type %s, wanted a number", fn, argument, torch.type(v))
   end
   return number
end

--- Checks an integer argument: a number within C's range; fractions are truncated.
function core.checkInteger(fn, argument, v)
   if type(v) ~= 'number' then v = core.checkNumber(fn, argument, v) end
   if not (v >= -2 ^ 53 and v <= 2 ^ 53) then
      fail("%s: argument '%s' is %s, wanted an integer", fn, argument, v)
   end
   return v < 0 and math.ceil(v) or math.floor(v)
end

--- Converts a 1-based dimension of tensor t to a 0-based one.
function core.dimension(fn, t, dim)
   if type(dim) ~= 'number' then dim = core.checkInteger(fn, 'dim', dim) end
   if dim < 1 or dim > t.ndim_ or dim % 1 ~= 0 then
      fail("%s: argument 'dim' is %s, wanted 1 to %d as for %s", fn, dim, t.ndim_,
         core.describeSize(t))
   end
   return dim - 1
end

--- Returns the tensor that receives an operation's indices if a script passed `result` for them:
-- `result`, or a new CudaLongTensor for a CudaTensor, in which old versions of cutorch kept
-- indices.
function core.longsFor(result)
   return result.kind_ == FLOAT + ON_DEVICE and fresh(LONG + ON_DEVICE) or result
end

--- Returns the result with the indices that the operation stored in `longs`.
function core.indicesInto(result, longs)
   if rawequal(result, longs) then return result end
   return result:resize(longs:size()):copy(longs)
end

--- Describes a tensor: "torch.FloatTensor of size 2x3".
function core.describeSize(t)
   local name = core.tensorNames[t.kind_]
   if t.ndim_ == 0 then return name .. ' with no dimension' end
   local sizes = {}
   for d = 0, t.ndim_ - 1 do sizes[d + 1] = tonumber(t.size_[d]) end
   return name .. ' of size ' .. table.concat(sizes, 'x')
end

return core
