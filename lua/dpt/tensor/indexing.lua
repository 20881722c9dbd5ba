--- dpt.tensor.indexing: the metatype of tensors: t[i], t[{...}], t[mask], operators on the object.
--
-- Invariant: a string is a method name (or, as in Torch7, a numeric string), looked up in the live
-- table of the tensor's kind and nil if missing; numbers are 1-based, negative ones count from the
-- end.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local metatype = require 'dpt.tensor.metatype'
local sizes = require 'dpt.tensor.sizes'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType = ffi.istype, core.tensorType
local tensor, tensorMethods, ON_DEVICE = core.tensor, core.tensorMethods, core.ON_DEVICE
local torch = class.torch

local value = ffi.new 'double[1]'
local at = ffi.new 'int64_t[1]'

--- Returns the 0-based index for number i (1-based, or negative from the end) in dimension d (from
-- 0).
local function zeroBased(t, i, d)
   local n = tonumber(t.size_[d])
   local from = i < 0 and n + i or i - 1
   if from < 0 or from >= n or from ~= from then
      fail('index %s is out of range, wanted 1 to %d or -1 to -%d in dimension %d of a %s', i, n, n,
         d + 1, core.describeSize(t))
   end
   return from - from % 1
end

local function isMask(t, key)
   if not istype(tensorType, key) then return false end
   local bytes = key.kind_ % ON_DEVICE == core.BYTE
   if t.kind_ >= ON_DEVICE then return bytes or key.kind_ == t.kind_ end
   return bytes and key.kind_ < ON_DEVICE
end

local function wrongKey(t, key)
   local name = core.tensorNames[t.kind_]
   return fail('%s: an index is a number, a table, a torch.LongStorage or a torch.%sByteTensor,'
      .. ' got %s', name, t.kind_ >= ON_DEVICE and 'Cuda' or '', torch.type(key))
end

--- Returns the view that a table of numbers and ranges selects, or its offset (a number) if that is
-- one element. The result has t's kind and is never t itself.
local function slice(t, list)
   local view, d = tensor(t.kind_), 0
   lib.tensor_set(view, t)
   local n = #list
   if n > t.ndim_ then
      fail('got %d indices, wanted at most %d as for %s', n, t.ndim_, core.describeSize(t))
   end
   for k = 1, n do
      local entry = list[k]
      local number = type(entry) == 'number' and entry
         or type(entry) == 'string' and tonumber(entry)
      if number then
         number = zeroBased(view, number, d)
         if view.ndim_ == 1 then return view, number * tonumber(view.stride_[0]) end
         lib.select(view, view, d, number)
      elseif type(entry) == 'table' then
         local first = tonumber(entry[1])
         if first then
            local last = zeroBased(view, tonumber(entry[2]) or first, d)
            first = zeroBased(view, first, d)
            if last < first then
               fail('range {%s, %s} ends before it begins', entry[1], entry[2])
            end
            lib.narrow(view, view, d, first, last - first + 1)
         elseif #entry > 0 then
            fail('a range is {}, {n} or {first, last}, got {%s}', torch.type(entry[1]))
         end
         d = d + 1
      else
         fail('index %d of a table is a number or a range {first, last}, got %s', k,
            torch.type(entry))
      end
   end
   return view
end

--- Returns the offset of the element at the indices in a LongStorage.
local function offsetOf(t, s)
   if core.storageLength(s) ~= t.ndim_ then
      fail('got a torch.LongStorage of %d indices, wanted %d as for %s', core.storageLength(s),
         t.ndim_, core.describeSize(t))
   end
   local offset = 0
   for d = 0, t.ndim_ - 1 do
      offset = offset + zeroBased(t, s[d + 1], d) * tonumber(t.stride_[d])
   end
   return offset
end

local function noDimension(t)
   return fail('%s: cannot index a tensor with no dimension', core.tensorNames[t.kind_])
end

local function getNumber(t, i)
   local ndim = t.ndim_
   if ndim == 1 then
      at[0] = i - 1
      if i >= 1 then
         if C.dpt_get_at(t, 1, at, value) == 0 then return value[0] end
         zeroBased(t, i, 0) -- an invalid index has its own message
         dptffi.raiseMessage() -- else work queued earlier failed, which is reported once
      end
      lib.get(t, zeroBased(t, i, 0) * tonumber(t.stride_[0]), value)
      return value[0]
   end
   if ndim == 0 then noDimension(t) end
   local out = tensor(t.kind_)
   lib.select(out, t, 0, zeroBased(t, i, 0))
   return out
end

local function getOther(t, key)
   local kind = type(key)
   if kind == 'table' then
      local view, offset = slice(t, key)
      if not offset then return view end
      lib.get(view, offset, value)
      return value[0]
   elseif isMask(t, key) then
      local out = core.fresh(t.kind_)
      lib.masked_select(out, t, core.mask(t, key))
      return out
   elseif sizes.isLongs(key) then
      lib.get(t, offsetOf(t, key), value)
      return value[0]
   elseif kind == 'cdata' then
      return tonumber(key) and getNumber(t, tonumber(key)) or wrongKey(t, key)
   end
   return nil -- t[nil] with an undefined name, as in Torch7
end

--- Returns an element, a view or a selection, and true; false if the key is a method's name.
local function get(t, key)
   if type(key) == 'number' then return getNumber(t, key), true end
   if type(key) ~= 'string' then return getOther(t, key), true end
   local number = tonumber(key)
   if not number then return false end
   return getNumber(t, number), true
end

local hasCustomIndex = false -- true once a script has set its own __index or __newindex in a class

local function index(t, key)
   if hasCustomIndex then return tensorMethods[t.kind_].__index(t, key) end
   if type(key) == 'string' then
      local f = tensorMethods[t.kind_][key]
      if f ~= nil then return f end
      return get(t, key) or nil
   end
   if type(key) == 'number' then return getNumber(t, key) end
   return getOther(t, key)
end

--- Fills a view with a number or copies a tensor into it.
local function assign(view, v)
   if type(v) == 'number' then return lib.fill(view, v) end
   if istype(tensorType, v) then
      -- x[i] = x[i]: nothing to do
      if v.kind_ == view.kind_ and C.dpt_is_set_to(v, view) ~= 0 then return end
      return lib.copy(view, v)
   end
   return lib.fill(view, core.checkNumber('assignment', 'value', v))
end

local function put(t, offset, v)
   if istype(tensorType, v) then
      local view = tensor(t.kind_)
      at[0] = 1
      lib.set_storage(view, t.storage_, t.offset_ + offset, 1, at, nil)
      core.keepAlive(t)
      return lib.copy(view, v)
   end
   lib.put(t, offset, core.checkNumber('assignment', 'value', v))
end

local function setNumber(t, i, v)
   local ndim = t.ndim_
   if ndim == 1 then
      at[0] = i - 1
      if type(v) == 'number' and i >= 1 and C.dpt_put_at(t, 1, at, v) == 0 then return end
      return put(t, zeroBased(t, i, 0) * tonumber(t.stride_[0]), v)
   end
   if ndim == 0 then noDimension(t) end
   local view = tensor(t.kind_)
   lib.select(view, t, 0, zeroBased(t, i, 0))
   return assign(view, v)
end

-- If there is a number for every dimension, sets one element (put); else assigns v to a view of t.
local function set(t, key, v)
   local kind = type(key)
   if kind == 'number' then return setNumber(t, key, v) end
   if kind == 'table' then
      local view, offset = slice(t, key)
      if offset then return put(view, offset, v) end
      return assign(view, v)
   elseif kind == 'string' and tonumber(key) then
      return setNumber(t, tonumber(key), v)
   elseif isMask(t, key) then
      if istype(tensorType, v) then return lib.masked_copy(t, core.mask(t, key), v) end
      return lib.masked_fill(t, core.mask(t, key), core.checkNumber('assignment', 'value', v))
   elseif sizes.isLongs(key) then
      return put(t, offsetOf(t, key), v)
   elseif kind == 'string' then
      fail("%s: a tensor has no fields, got an assignment to '%s'%s", core.tensorNames[t.kind_],
         key, key == 'storage' and "; dpt's tensors are not Torch7's C structs: return the tensor"
         .. ' itself from the job' or '')
   end
   return wrongKey(t, key)
end

local function newindex(t, key, v)
   if hasCustomIndex then return tensorMethods[t.kind_].__newindex(t, key, v) end
   if type(key) == 'number' then return setNumber(t, key, v) end
   return set(t, key, v)
end

--- Default metamethods of tensor classes; dpt.tensor.operators adds Torch7's operator names.
core.tensorAnswers = {
   __index__ = get,
   __newindex__ = function(t, key, v)
      set(t, key, v)
      return true
   end,
}

metatype(tensorType, tensorMethods,
   {__gc = C.dpt_tensor_free, __index = index, __newindex = newindex}, core.tensorAnswers,
   function() hasCustomIndex = true end)
