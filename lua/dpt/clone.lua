--- dpt.clone: a deep copy of a tree of Lua values.
--
-- What must stay true: what is shared inside the tree is shared in the copy: a table that occurs
-- twice is copied once, tensors over one storage are views of one new storage with the sizes,
-- strides and offsets they had. Objects keep their class and lose their transient fields; functions
-- and foreign C data are shared with the original. Device memory of the copy is the current
-- device's. A class with a method __clone(plain) makes the copies of its objects itself; plain()
-- returns the copy that there would be without the method.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local core = require 'dpt.tensor.core'
local transient = require 'dpt.transient'
local lib, ffi = dptffi.lib, dptffi.ffi
local type = dptffi.type

--- The address of a storage as a table key.
local function key(pointer) return tonumber(ffi.cast('intptr_t', pointer)) end

local copyValue

local function copyStorage(s, seen)
   local address = key(s.ptr_)
   local copy = seen[address]
   if not copy then
      copy = core.newStorage(s.kind_, core.storageLength(s)):copy(s)
      seen[address] = copy
   end
   return copy
end

local function copyTensor(t, seen)
   local copy = core.tensor(t.kind_)
   if t.store_ ~= nil then
      local storage = copyStorage(core.storageOf(t), seen)
      lib.set_storage(copy, storage.ptr_, t.first_, t.ndim_, t.size_, t.step_)
      core.hold(storage, t)
   end
   return copy
end

local function copyTable(v, seen)
   local copy, skip = {}, transient.of(v)
   seen[v] = copy
   for k, value in next, v do
      if not skip[k] then rawset(copy, copyValue(k, seen), copyValue(value, seen)) end
   end
   setmetatable(copy, debug.getmetatable(v))
   transient.reset(copy)
   return copy
end

function copyValue(v, seen)
   local kind = type(v)
   if kind ~= 'table' and kind ~= 'cdata' then return v end
   local copy = seen[v]
   if copy ~= nil then return copy end
   if kind == 'table' then
      local own = torch.typename(v) and v.__clone
      copy = own and own(v, function() return copyTable(v, seen) end) or copyTable(v, seen)
      seen[v] = copy
      return copy
   end
   if core.isTensor(v) then
      copy = copyTensor(v, seen)
   elseif core.isStorage(v) then
      copy = copyStorage(v, seen)
   else
      copy = v
   end
   seen[v] = copy
   return copy
end

--- clone(value): a deep copy.
return function(v) return copyValue(v, {}) end
