--- dpt.tensor.construct: arguments of torch.FloatTensor(...) and the other constructors.
--
-- Invariant: the forms are Torch7's. (): empty; (n, m, ...) or (LongStorage [, strides]): sizes;
-- (table): data; (tensor) and (storage [, offset [, sizes]]): a view of the same memory.
-- torch.LongTensor(LongStorage) views the storage as data; torch.CudaLongTensor copies it.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local ffi, lib, fail = dptffi.ffi, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType, storageType = ffi.istype, core.tensorType, core.storageType

--- Returns the sizes of a nested table, read from its first elements.
local function measure(name, values)
   local n, level = 0, values
   while type(level) == 'table' do
      if #level == 0 then
         if n == 0 then return 0 end
         fail('%s: the table contains an empty table', name)
      end
      if n == 12 then fail('%s: the table is nested more than 12 levels deep', name) end
      sizes.size[n] = #level
      n, level = n + 1, level[1]
   end
   return n
end

--- Stores the numbers of a nested table in `flat`; raises if the table is not regular.
local function flatten(name, values, depth, n, lengths, flat)
   if type(values) ~= 'table' or #values ~= lengths[depth] then
      fail('%s: the table is not regular: wanted tables of %d elements at depth %d, got %s', name,
         lengths[depth], depth, type(values) == 'table' and #values or type(values))
   end
   if depth < n then
      for i = 1, #values do flatten(name, values[i], depth + 1, n, lengths, flat) end
   else
      for i = 1, #values do flat[#flat + 1] = values[i] end
   end
end

local function fromTable(kind, values)
   local name = core.tensorNames[kind]
   local t, n = core.fresh(kind), measure(name, values)
   if n == 0 then return t end
   local flat = values
   if n > 1 then
      local lengths = {}
      for d = 1, n do lengths[d] = tonumber(sizes.size[d - 1]) end
      flat = {}
      flatten(name, values, 1, n, lengths, flat)
   end
   lib.resize(t, n, sizes.size)
   core.fillFromTable(core.storageOf(t), flat, #flat)
   return t
end

--- Makes r a view of a storage: set(storage [, offset [, sizes]]).
local function setToStorage(fn, r, s, offset, ...)
   if s.kind_ ~= r.kind_ then
      fail('%s: got a %s, wanted a %s', fn, core.storageNames[s.kind_], core.storageNames[r.kind_])
   end
   local first = 0
   if offset ~= nil then first = core.checkInteger(fn, 'offset', offset) - 1 end
   if first < 0 then fail("%s: argument 'offset' is %d, wanted 1 or more", fn, first + 1) end
   local n, stepped = sizes.readPairs(fn, ...)
   if n == 0 then
      local have = core.storageLength(s)
      if first > have then
         fail("%s: argument 'offset' is %d, wanted 1 to %d, the size of the storage", fn, first + 1,
            have)
      end
      sizes.size[0] = have - first
      n = have > first and 1 or 0
   end
   lib.set_storage(r, s.ptr_, first, n, sizes.size, stepped and sizes.step or nil)
   core.keepAlive(s)
   return r
end

function core.newTensor(kind, a, b, ...)
   if a == nil then
      if b ~= nil then core.usage(core.tensorNames[kind], 'sizes, data or a storage', a, b, ...) end
      return core.tensor(kind)
   end
   if type(a) == 'number' then
      local t = core.fresh(kind)
      lib.resize(t, sizes.read(core.tensorNames[kind], a, b, ...), sizes.size)
      return t
   end
   local name = core.tensorNames[kind]
   if type(a) == 'table' then return fromTable(kind, a) end
   if type(a) == 'string' then core.usage(name, 'sizes, data or a storage', a, b, ...) end
   if istype(tensorType, a) then
      if a.kind_ ~= kind then core.usage(name, 'one tensor, of that type', a, b, ...) end
      local t = core.tensor(kind)
      lib.tensor_set(t, a)
      return t
   end
   if istype(storageType, a) and a.kind_ == kind and not sizes.isLongs(b) then
      return setToStorage(name, core.tensor(kind), a, b, ...)
   end
   local t = core.fresh(kind)
   if kind == core.LONG + core.ON_DEVICE and b == nil and sizes.isLongs(a) then
      local data = core.storageTensor(a)
      lib.resize_as(t, data)
      lib.copy(t, data)
      return t
   end
   local n = sizes.read(name, a)
   if b ~= nil then
      sizes.readSteps(name, b, n)
      lib.resize_strided(t, n, sizes.size, sizes.step)
   else
      lib.resize(t, n, sizes.size)
   end
   return t
end

--- Makes the tensor a view of another tensor's or storage's elements; without arguments, makes it
-- empty.
-- @function Tensor:set
-- @as tensormethod
-- @param storage? storage: of the tensor's type; or a tensor, as the only argument; or sizes, for
--    new memory
-- @param offset? number: of the first element, from 1 (1)
-- @param sizes? LongStorage: the size of each dimension (default: one dimension over all elements);
--    or numbers: size, stride, size, stride ...
-- @param strides? LongStorage: the stride of each dimension, in elements
-- @return the tensor
-- @usage torch.Tensor():set(torch.DoubleStorage{1, 2, 3, 4}, 2, torch.LongStorage{2}) --> [2 3]
core.method('set', function(t, a, ...)
   core.checkTensor('set', 'self', t)
   if a == nil then
      lib.set_storage(t, nil, 0, 0, sizes.size, nil)
   elseif istype(tensorType, a) then
      if a.kind_ ~= t.kind_ then core.usage('set', 'a ' .. core.tensorNames[t.kind_], a) end
      lib.tensor_set(t, a)
   elseif type(a) == 'number' or istype(storageType, a) and a.kind_ ~= t.kind_ and sizes.isLongs(a)
   then -- sizes: new memory
      lib.tensor_set(t, core.newTensor(t.kind_, a, ...))
   elseif istype(storageType, a) then
      setToStorage('set', t, a, ...)
   else
      core.usage('set', 'a tensor or a storage', a, ...)
   end
   return t
end)

--- Resizes the tensor; the storage keeps its elements in order, and new elements are uninitialized.
-- @function Tensor:resize
-- @as tensormethod
-- @param sizes number: one per dimension; or a LongStorage or a table of them
-- @return the tensor
-- @usage torch.Tensor{1, 2, 3, 4}:resize(2, 2) --> [1 2 3 4]
core.method('resize', function(t, a, b, ...)
   core.checkTensor('resize', 'self', t)
   if b ~= nil and sizes.isLongs(a) then
      local n = sizes.read('resize', a)
      sizes.readSteps('resize', b, n)
      lib.resize_strided(t, n, sizes.size, sizes.step)
   else
      lib.resize(t, sizes.read('resize', a, b, ...), sizes.size)
   end
   return t
end)

--- Resizes the tensor to the size of another tensor.
-- @function Tensor:resizeAs
-- @as tensormethod
-- @param tensor tensor: of any type
-- @return the tensor
-- @usage torch.Tensor():resizeAs(torch.Tensor(2, 3)):nElement() --> 6
core.method('resizeAs', function(t, a)
   core.checkTensor('resizeAs', 'self', t)
   lib.resize_as(t, core.checkTensor('resizeAs', 'tensor', a))
   return t
end)

--- Returns a new tensor of this type; accepts the arguments of the constructor.
-- @function Tensor:new
-- @as tensormethod
-- @param size? number: sizes, or a table, a storage or a tensor as for torch.Tensor
-- @return the new tensor
-- @usage torch.IntTensor{5}.new(2):fill(1) --> [1 1]

--- Writes sizes, strides and elements to an open file, as writeObject does.
-- @function Tensor:write
-- @as tensormethod
-- @param file torch.File: open for writing
-- @return nothing
-- @usage local f = torch.MemoryFile()
--    torch.Tensor{5, 6}:write(f)
--    f:seek(1)
--    local t = torch.Tensor()
--    t:read(f)
--    return t --> [5 6]

--- Reads a tensor that `write` wrote to a file into this tensor.
-- @function Tensor:read
-- @as tensormethod
-- @param file torch.File: open for reading
-- @return nothing
-- @usage local f = torch.MemoryFile()
--    torch.IntTensor{9}:write(f)
--    f:seek(1)
--    local t = torch.IntTensor()
--    t:read(f)
--    return t --> [9]
