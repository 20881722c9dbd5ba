--- dpt.threads.entries: converts keys and values of dpt.threads.tds to and from C.
--
-- Invariant: C copies or references a value before the call returns; a returned value is a copy, or
-- a reference that the Lua value then owns. Only one call runs at a time.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local torch = require('dpt.class').torch
local objects = require 'dpt.threads.objects'
local ffi, C, fail, type = dptffi.ffi, dptffi.C, dptffi.fail, dptffi.type
local istype, tensorType = ffi.istype, core.tensorType

for _, kind in ipairs{C.DPT_HASH, C.DPT_VEC, C.DPT_TALLY} do
   objects.types[kind] = ffi.typeof 'struct { dpt_shared *shared_; }' -- a distinct type each time
end
local hashType, vecType = objects.types[C.DPT_HASH], objects.types[C.DPT_VEC]

local entries = {}

--- Returns a result that has space for a string.
local function newValue()
   local v = ffi.new 'dpt_value'
   local bytes = ffi.new('char[?]', 256)
   v.bytes, v.space = bytes, 256
   return {v = v, bytes = bytes}
end
entries.keyIn, entries.valueIn = ffi.new 'dpt_value', ffi.new 'dpt_value'
entries.keyOut, entries.valueOut = newValue(), newValue()

--- Stores a Lua value in v; the caller must hold the value until the C call returns.
function entries.put(fn, v, value, isKey)
   local kind = type(value)
   if kind == 'number' then
      if isKey and value ~= value then fail('%s: a key is NaN', fn) end
      v.type, v.number = C.DPT_NUMBER, value
   elseif kind == 'string' then
      v.type, v.bytes, v.size = C.DPT_STRING, ffi.cast('char *', value), #value
   elseif kind == 'boolean' then
      v.type, v.number = C.DPT_BOOLEAN, value and 1 or 0
   elseif value == nil and not isKey then
      v.type = C.DPT_NIL
   elseif istype(hashType, value) or istype(vecType, value) then
      v.type, v.shared = C.DPT_SHARED, value.shared_
   elseif not isKey and istype(tensorType, value) then
      v.type, v.bytes, v.size = C.DPT_TENSOR, ffi.cast('char *', value), ffi.sizeof(tensorType)
   else
      fail('%s: a %s cannot be a %s: wanted a number, string, boolean%s, tds.Hash or tds.Vec', fn,
         torch.type(value), isKey and 'key' or 'value', isKey and '' or ', tensor')
   end
end

--- Converts a result to a Lua value. Call it once for each result, as it may take over a reference.
function entries.get(out)
   local v = out.v
   local kind = v.type
   if kind == C.DPT_NUMBER then return v.number end
   if kind == C.DPT_STRING then return ffi.string(v.bytes, v.size) end
   if kind == C.DPT_BOOLEAN then return v.number ~= 0 end
   if kind == C.DPT_SHARED then
      local object = objects.types[C.dpt_shared_kind(v.shared)]()
      object.shared_ = v.shared
      return object
   end
   if kind == C.DPT_TENSOR then
      local t = tensorType()
      ffi.copy(t, v.bytes, ffi.sizeof(tensorType))
      return t
   end
end

--- Returns true if a result did not fit, after enlarging its buffer.
function entries.growIfFull(out)
   local v = out.v
   if v.type ~= C.DPT_STRING or v.size <= v.space then return false end
   out.bytes = ffi.new('char[?]', v.size)
   v.bytes, v.space = out.bytes, v.size
   return true
end

return entries
