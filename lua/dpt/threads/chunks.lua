--- dpt.threads.chunks: shares compiled dpt modules between workers.
--
-- Invariant: a worker finds modules on the same path as the state that created it; sources do not
-- change while a process uses them. Bytecode keeps names and lines, so error messages do not
-- change.
local dptffi = require 'dpt.ffi'
local entries = require 'dpt.threads.entries'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib
local put, get, growIfFull = entries.put, entries.get, entries.growIfFull
local keyIn, valueIn, valueOut = entries.keyIn, entries.valueIn, entries.valueOut

local chunks = {}

local slot = ffi.new 'dpt_shared *[1]'
local compiled -- a hash in C: path -> bytecode

local function own() compiled = ffi.gc(slot[0], C.dpt_shared_release) end

--- Returns the number by which a worker of this state finds the modules compiled so far.
function chunks.id()
   if not compiled then
      lib.table_new(slot, C.DPT_HASH)
      own()
   end
   return tonumber(C.dpt_shared_id(compiled))
end

local function load(name)
   local path = name:find '^dpt%f[.%z]' and package.searchpath(name, package.path)
   if not path then return nil end
   put('require', keyIn, path, true)
   repeat lib.table_get(compiled, keyIn, valueOut.v) until not growIfFull(valueOut)
   local bytecode = get(valueOut)
   if bytecode then return assert(loadstring(bytecode)) end
   local chunk = assert(loadfile(path))
   bytecode = string.dump(chunk)
   put('require', keyIn, path, true)
   put('require', valueIn, bytecode)
   lib.table_set(compiled, keyIn, valueIn)
   return chunk
end

--- Makes this worker's state load dpt's modules from the shared bytecode.
-- @param id number: chunks.id() of the state that created the worker
function chunks.use(id)
   lib.shared_find(slot, C.DPT_HASH, id)
   own()
   table.insert(package.loaders, 2, load) -- after package.preload
end

return chunks
