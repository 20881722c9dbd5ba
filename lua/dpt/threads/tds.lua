--- dpt.threads.tds: the module `tds`: Hash, Vec and AtomicCounter in C memory, which Lua's
-- collector does not traverse and which several threads can hold at once.
--
-- Invariant: an object is one reference to a container in C. Reading an entry creates a new object
-- for the same container, so objects are compared by their containers. Each access is atomic.
-- Entries may be numbers, strings, booleans, tensors (their memory is shared) and these containers
-- themselves; a cycle of containers is never freed.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local entries = require 'dpt.threads.entries'
local objects = require 'dpt.threads.objects'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type
local torch, istype = class.torch, ffi.istype
local HASH, VEC, TALLY = C.DPT_HASH, C.DPT_VEC, C.DPT_TALLY

local put, get, growIfFull = entries.put, entries.get, entries.growIfFull
local keyIn, valueIn, keyOut, valueOut = entries.keyIn, entries.valueIn, entries.keyOut,
   entries.valueOut

local tds = {}
local hash, vec, atomicCounter = {}, {}, {} -- methods

local names = {[HASH] = 'tds.Hash', [VEC] = 'tds.Vec', [TALLY] = 'tds.AtomicCounter'}
local methods = {[HASH] = hash, [VEC] = vec, [TALLY] = atomicCounter}
local hashType, vecType, tallyType = objects.types[HASH], objects.types[VEC], objects.types[TALLY]

local function methodsOf(v)
   for kind, ctype in pairs(objects.types) do
      if istype(ctype, v) then return methods[kind] end
   end
end

local slot = ffi.new 'dpt_shared *[1]'

local function new(kind)
   if kind == TALLY then lib.shared_new(slot, kind) else lib.table_new(slot, kind) end
   local object = objects.types[kind]()
   object.shared_ = slot[0]
   return object
end

local function lookUp(object)
   repeat lib.table_get(object.shared_, keyIn, valueOut.v) until not growIfFull(valueOut)
   return get(valueOut)
end

--- Returns the 0-based index.
local function index(fn, key)
   if type(key) ~= 'number' or key < 1 or key % 1 ~= 0 or key > 2 ^ 40 then
      fail('%s: the index is %s, wanted a whole number from 1 on', fn, tostring(key))
   end
   return key - 1
end

-- hashes -----------------------------------------------------------------------------------------

local function length(object) return tonumber(C.dpt_table_length(object.shared_)) end

local function setHash(object, key, value)
   put('tds.Hash', keyIn, key, true)
   put('tds.Hash', valueIn, value)
   lib.table_set(object.shared_, keyIn, valueIn)
   core.keepAlive(key, value)
end

local function nextOf(object)
   local at = ffi.new('int64_t[1]')
   return function()
      local before, key, value = at[0]
      if before < 0 then return nil end
      repeat
         at[0] = before
         lib.table_next(object.shared_, at, keyOut.v, valueOut.v)
         if at[0] < 0 then return nil end
         -- a string that did not fit is read again; get releases the reference of the other result
         local isShort = growIfFull(keyOut)
         isShort = growIfFull(valueOut) or isShort
         key, value = get(keyOut), get(valueOut)
      until not isShort
      return key, value
   end
end

-- vecs -------------------------------------------------------------------------------------------

local function setVec(object, key, value)
   keyIn.type, keyIn.number = C.DPT_NUMBER, index('tds.Vec', key)
   put('tds.Vec', valueIn, value)
   lib.table_set(object.shared_, keyIn, valueIn)
   core.keepAlive(value)
end

local function getVec(object, key)
   keyIn.type, keyIn.number = C.DPT_NUMBER, index('tds.Vec', key)
   return lookUp(object)
end

--- Inserts an element at the end, or at an index; later elements move up.
-- @function tds.Vec:insert
-- @as tds
-- @param index? number: the position
-- @param value any: a valid entry
-- @return nothing
-- @usage local v = require('tds').Vec(1, 3)
--    v:insert(2, 2)
--    return v:concat ',' --> 1,2,3
function vec.insert(object, ...)
   local key, value = ...
   if select('#', ...) == 1 then key, value = length(object) + 1, key end
   local at = index('tds.Vec: insert', key)
   put('tds.Vec: insert', valueIn, value)
   lib.vec_insert(object.shared_, at, valueIn)
   core.keepAlive(value)
end

--- Removes the last element, or the one at an index; later elements move down.
-- @function tds.Vec:remove
-- @as tds
-- @param index? number: the position
-- @return nothing
-- @usage local v = require('tds').Vec(1, 2, 3)
--    v:remove(1)
--    return v:concat ',' --> 2,3
function vec.remove(object, key)
   if key == nil then
      key = length(object)
      if key == 0 then return end
   end
   lib.vec_remove(object.shared_, index('tds.Vec: remove', key))
end

--- Resizes the vec; new elements are nil.
-- @function tds.Vec:resize
-- @as tds
-- @param n number: the new number of elements
-- @return nothing
-- @usage local v = require('tds').Vec(1, 2, 3)
--    v:resize(2)
--    return #v --> 2
function vec.resize(object, n)
   lib.vec_resize(object.shared_, n == 0 and 0 or index('tds.Vec: resize', n) + 1)
end

--- Concatenates the elements to a string.
-- @function tds.Vec:concat
-- @as tds
-- @param separator? string: between elements ('')
-- @param first? number: index of the first element (1)
-- @param last? number: index of the last element (all)
-- @return a string
-- @usage require('tds').Vec(7, 8, 9):concat('-', 2) --> 8-9
function vec.concat(object, separator, first, last)
   local parts = {}
   for i = first or 1, last or length(object) do
      parts[#parts + 1] = tostring(getVec(object, i))
   end
   return table.concat(parts, separator)
end

--- Concatenates the elements to the bytes of a storage.
-- @function tds.Vec:concatstorage
-- @as tds
-- @param separator? string: between elements ('')
-- @param first? number: index of the first element (1)
-- @param last? number: index of the last element (all)
-- @return a CharStorage
-- @usage require('tds').Vec('a', 'b'):concatstorage '' --> 97x98
function vec.concatstorage(object, ...) return torch.CharStorage():string(object:concat(...)) end

--- Sorts the elements.
-- @function tds.Vec:sort
-- @as tds
-- @param compare function: receives two elements, returns true if the first comes before the second
-- @return nothing
-- @usage local v = require('tds').Vec(3, 1, 2)
--    v:sort(function(a, b) return a < b end)
--    return v:concat() --> 123
function vec.sort(object, compare)
   if type(compare) ~= 'function' then
      fail('tds.Vec: sort: argument 1 is a %s, wanted a function', torch.type(compare))
   end
   local list, n = {}, length(object)
   for i = 1, n do list[i] = getVec(object, i) end
   table.sort(list, compare)
   for i = 1, n do setVec(object, i, list[i]) end
end

-- counters ---------------------------------------------------------------------------------------

--- Adds 1 to the counter atomically.
-- @function tds.AtomicCounter:inc
-- @as tds
-- @return the value before the increment
-- @usage require('tds').AtomicCounter():inc() --> 0
function atomicCounter.inc(object) return tonumber(C.dpt_counter_add(object.shared_, 1)) - 1 end

--- Returns the value of the tds counter.
-- @function tds.AtomicCounter:get
-- @as tds
-- @return an integer
-- @usage require('tds').AtomicCounter():get() --> 0
function atomicCounter.get(object) return tonumber(C.dpt_counter_get(object.shared_)) end

--- Sets the value of the tds counter.
-- @function tds.AtomicCounter:set
-- @as tds
-- @param n number: the new value
-- @return nothing
-- @usage local n = require('tds').AtomicCounter()
--    n:set(4)
--    return n:get() --> 4
function atomicCounter.set(object, n)
   if type(n) ~= 'number' then
      fail('tds.AtomicCounter: set: got %s, wanted a number', tostring(n))
   end
   C.dpt_counter_set(object.shared_, n)
end

-- all containers ---------------------------------------------------------------------------------

--- Formats up to 20 entries, one or more lines each; keys are right-aligned to `width` or, without
-- it, left-aligned to the widest key.
local function describe(object, name, iterate, width)
   local keys, values, widest = {}, {}, 0
   for key, value in iterate(object) do
      local plain = type(key) == 'string' or type(key) == 'number' or type(key) == 'boolean'
      keys[#keys + 1] = plain and tostring(key) or torch.type(key)
      values[#keys] = tostring(value)
      widest = math.max(widest, #keys[#keys])
      if #keys == 20 then break end
   end
   local lines = {('%s[%d]{'):format(name, length(object))}
   for i, key in ipairs(keys) do
      local spaces = (' '):rep((width or widest) - #key)
      local head = (width and spaces .. key or key .. spaces) .. ' : '
      lines[#lines + 1] = head .. values[i]:gsub('\n([^\n])', '\n' .. (' '):rep(#head) .. '%1')
   end
   if #keys == 20 then lines[#lines + 1] = '...' end
   return table.concat(lines, '\n') .. '\n}'
end

local function each(object)
   local i = 0
   return function()
      i = i + 1
      if i <= length(object) then return i, getVec(object, i) end
   end
end

local function same(a, b)
   return methodsOf(a) ~= nil and methodsOf(a) == methodsOf(b) and a.shared_ == b.shared_
end

local function release(object) C.dpt_shared_release(object.shared_) end

ffi.metatype(hashType, {__gc = release, __eq = same, __len = length, __pairs = nextOf,
   __newindex = setHash,
   __index = function(object, key)
      put('tds.Hash', keyIn, key, true)
      local value = lookUp(object)
      core.keepAlive(key)
      return value
   end,
   __tostring = function(object) return describe(object, 'tds.Hash', nextOf) end})

ffi.metatype(vecType, {__gc = release, __eq = same, __len = length, __pairs = each,
   __ipairs = each, __newindex = setVec,
   __index = function(object, key)
      if type(key) == 'number' then return getVec(object, key) end
      return vec[key] or fail('tds.Vec: got the key %s, wanted an index or the name of a method',
         tostring(key))
   end,
   __tostring = function(object) return describe(object, 'tds.Vec', each, 5) end})

ffi.metatype(tallyType, {__gc = release, __eq = same, __index = atomicCounter,
   __tostring = function(object) return 'tds.AtomicCounter=' .. object:get() end})

--- Converts tables to containers: vecs if their keys are numbers, else hashes.
local function converted(value)
   if type(value) ~= 'table' then return value end
   if torch.typename(value) then
      fail('tds: a %s cannot be a key or value', torch.typename(value))
   end
   for key in pairs(value) do
      if type(key) ~= 'number' then return tds.Hash(value) end
   end
   return tds.Vec(value)
end

--- Creates a table in C memory. Keys and values are numbers, strings, booleans, tensors and these
-- containers; `#` counts the entries, assigning nil removes one, pairs iterates over them.
-- @function tds.Hash
-- @as tds
-- @also tds.hash()
-- @param table? table: initial entries; nested tables become containers
-- @return a hash
-- @usage local h = require('tds').Hash{a = 1, b = 2}
--    h.a = nil
--    return #h, h.b --> 1, 2
function tds.Hash(...)
   local object, list = new(HASH), ...
   if select('#', ...) > 0 and type(list) ~= 'table' then
      fail('tds.Hash: got a %s, wanted a table or nothing', torch.type(list))
   end
   for key, value in pairs(list or {}) do setHash(object, converted(key), converted(value)) end
   return object
end

--- Creates a list in C memory with indices from 1; elements may be nil.
-- @function tds.Vec
-- @as tds
-- @also tds.vec()
-- @param ...? any: initial elements, or a table of them
-- @return a vec
-- @usage local v = require('tds').Vec(5, 6)
--    v[3] = 'x'
--    return #v, v[1], v[3] --> 3, 5, x
function tds.Vec(...)
   local object, list = new(VEC), ...
   if select('#', ...) ~= 1 or type(list) ~= 'table' then list = {...} end
   for key, value in pairs(list) do setVec(object, key, converted(value)) end
   return object
end

--- Creates an atomic counter in C memory, initially 0.
-- @function tds.AtomicCounter
-- @as tds
-- @also tds.atomic_counter()
-- @return a counter, whose inc returns the value before
-- @usage local n = require('tds').AtomicCounter()
--    n:inc()
--    return n:get() --> 1
function tds.AtomicCounter() return new(TALLY) end

-- files ------------------------------------------------------------------------------------------

-- Collects the entries first, so that their number is right whatever other threads do.
function hash.__write(object, file)
   local list = {}
   for key, value in nextOf(object) do list[#list + 1] = {key, value} end
   file:writeLong(#list)
   for _, entry in ipairs(list) do
      file:writeObject(entry[1])
      file:writeObject(entry[2])
   end
end
function hash.__read(object, file)
   for _ = 1, file:readLong() do
      local key = file:readObject()
      setHash(object, key, file:readObject())
   end
end

-- the last element of a vec may be nil
function vec.__write(object, file)
   local n = length(object)
   file:writeLong(n)
   for i = 1, n do file:writeObject(getVec(object, i)) end
end
function vec.__read(object, file)
   local n = file:readLong()
   for i = 1, n do setVec(object, i, file:readObject()) end
end

function atomicCounter.__write(object, file) file:writeLong(object:get()) end
function atomicCounter.__read(object, file) object:set(file:readLong()) end

for kind, name in pairs(names) do
   methods[kind].__factory = function() return new(kind) end
   methods[kind].__version = 0
   torch.metatype(name, methods[kind])
end
core.cdataMethods = methodsOf
function core.cdataAddress(v)
   return type(v) == 'cdata' and methodsOf(v) and tonumber(ffi.cast('intptr_t', v.shared_)) or nil
end
tds.hash, tds.vec, tds.atomic_counter = tds.Hash, tds.Vec, tds.AtomicCounter

--- Tags shared by the reference entries of tds containers.
-- @pattern tds
-- @within tds
-- @follows Torch7's package tds
-- @raise at the caller's line if an entry has a type that cannot be shared, or an index is invalid

return tds
