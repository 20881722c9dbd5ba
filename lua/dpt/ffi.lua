--- dpt.ffi: the binding to libdpt, the only file that loads it.
--
-- Invariant: the declarations are read from the library itself, so they always match it. A C
-- function that fails leaves one error message; lib.NAME(...) raises it at the line of
-- dpt's caller, the first stack frame outside dpt's own sources. The library is loaded once per
-- Lua state: a second load would create new C types under live objects, so it is rejected.
require 'dpt.luajit'
local ffi = require 'ffi'
local type = type -- dpt.compat replaces the global one

local here = debug.getinfo(1, 'S').source:match('^@(.*)ffi%.lua$') or './'
local chunk = '@' .. here .. 'ffi.lua'

local registry = debug.getregistry()
if registry.dpt_loaded then
   error('dpt: loaded already in this Lua state and cannot be loaded twice: package.loaded was'
      .. " cleared; load 'ffi' and 'dpt' before that (with busted: in its helper)", 0)
end

local function exists(path)
   local file = io.open(path, 'rb')
   if file then file:close() end
   return file ~= nil
end

--- Finds a library, best location first: beside the libdpt.so that the user named, the source tree,
-- an installed tree (plain prefix, then luarocks), Lua's path for C modules; nil if not found.
-- `files` is the folder of its Lua files, dpt's by default.
local function find(name, files)
   local named = os.getenv 'DPT_LIBRARY'
   if named then
      return name == 'libdpt' and named or (named:match '^.*/' or '') .. name .. '.so'
   end
   for _, folder in ipairs{'', '../../build/', '../../lib/', '../../../../lib/lua/5.1/',
      '../../../../lib/'} do
      local path = (files or here) .. folder .. name .. '.so'
      if exists(path) then return path end
   end
   return package.searchpath(name, package.cpath)
end

ffi.cdef [[
const char *dpt_cdef(void);
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
]]

-- libgomp reads its wait policy from the environment when it is loaded. By default its threads spin
-- for milliseconds, which takes cores from streams and from threads that are woken; if it has more
-- threads than cores, they hardly spin.
local function loadWaiting(path)
   local ours = not os.getenv 'OMP_WAIT_POLICY' and not os.getenv 'GOMP_SPINCOUNT'
   if ours then
      ffi.C.setenv('OMP_WAIT_POLICY', 'active', 1)
      ffi.C.setenv('GOMP_SPINCOUNT', '4000', 1) -- about 0.1 ms
   end
   local ok, library = pcall(ffi.load, path, true)
   if ours then
      ffi.C.unsetenv 'OMP_WAIT_POLICY'
      ffi.C.unsetenv 'GOMP_SPINCOUNT'
   end
   return ok, library
end

local function load()
   local path = find 'libdpt'
   local ok, library = loadWaiting(path or 'dpt')
   if not ok then
      if path then error(library, 0) end
      error("dpt: libdpt.so not found beside dpt's Lua files (" .. here
         .. "), in ../../build, on package.cpath or on the loader's path; build it with"
         .. ' scripts/build, or set DPT_LIBRARY to its path', 0)
   end
   return library
end

-- Uses the library that another Lua state of this process has loaded, if any.
local C = pcall(function() return ffi.C.dpt_cdef end) and ffi.C or load()
local cdef = ffi.string(C.dpt_cdef())
ffi.cdef(cdef)

-- Declares Torch7's C types, which declarations of scripts mention, as opaque types.
local function opaque(name) ffi.cdef(('typedef struct %s %s;'):format(name, name)) end
for dtype = 0, C.DPT_NDTYPE - 1 do
   local element = ffi.string(C.dpt_dtype_get(dtype).name)
   for _, kind in ipairs{'Tensor', 'Storage'} do
      opaque('TH' .. element .. kind)
      opaque('THCuda' .. (element == 'Float' and '' or element) .. kind)
   end
end
opaque 'THCState'
opaque 'THGenerator'
registry.dpt_loaded = true

--- Prefixes of the names of dpt's own sources: its folder, and those of the libraries that
-- come with it (image, tds).
local own = {'@' .. here}

local function isOwn(source)
   for _, folder in ipairs(own) do
      if source:sub(1, #folder) == folder then return true end
   end
   return false
end

--- Raises an error message at the line of the first stack frame outside dpt's own sources.
local function raise(message)
   local level = 2
   while true do
      local info = debug.getinfo(level, 'S')
      if not info then error(message, 0) end
      -- not a tail call, which would shift the levels
      if info.what ~= 'C' and not isOwn(info.source) then error(message, level) end
      level = level + 1
   end
end

--- Raises the error message of the C function that was just called.
local function raiseMessage() return raise(ffi.string(C.dpt_message())) end

--- Returns the parameters of a declared function that returns a status, parsed on first use: a
-- list of {name, tensor = true for a tensor, list = true for several, optional = true if it may be
-- nil}; nil if there is no such function.
local function signatureOf(name)
   local _, last = cdef:find('\nint ' .. name .. '(', 1, true)
   if not last then return nil end
   local list = cdef:match('^(.-)%)%s*;', last + 1)
   local parameters = {}
   for text in list:gsub('/%* or NULL %*/', 'OPTIONAL'):gsub('/%*.-%*/', ''):gmatch '[^,]+' do
      local optional = text:find 'OPTIONAL' ~= nil
      parameters[#parameters + 1] = text:find '^%s*void%s*$' == nil and {
         name = text:gsub('OPTIONAL', ''):match '([%w_]+)[%s%[%]%d]*$',
         tensor = text:find 'dpt_tensor %*[%w_]' ~= nil,
         list = text:find '%*.*%*' ~= nil,
         optional = optional,
      } or nil
   end
   return parameters
end

--- Names that modules use for operands with short names in C.
local NAMES = {['in'] = 'input', out = 'output', gin = 'gradInput', gout = 'gradOutput',
   gw = 'gradWeight', gb = 'gradBias', idx = 'indices'}

--- Raises if an argument is not a tensor. A layer's operation is reported under the layer's name.
local function noTensor(name, parameter, value)
   return raise(("%s: argument '%s' is %s, wanted a tensor"):format(
      name:gsub('_forward.*', ''):gsub('_backward.*', ''), NAMES[parameter] or parameter,
      value == nil and 'nil' or 'a ' .. type(value)))
end

--- Counts of the work queued, done or drawn so far by this Lua state's thread.
local effects = C.dpt_effects()

--- Returns true if a failed call is to be retried: it ran out of memory and had no effect, so that
-- effects[0] is still `before`. In that case it runs Lua's collector first: garbage tensors may
-- hold the missing memory, of which the collector does not know.
local function collected(before)
   if C.dpt_may_retry(before) == 0 then return false end
   collectgarbage()
   collectgarbage()
   return true
end

--- lib.NAME(...) calls C.dpt_NAME(...) and raises its error message if it fails. Each wrapper is
-- created on first use with as many parameters as the C function has: no varargs in hot paths.
-- LuaJIT would pass nil as NULL, so arguments that are not tensors are rejected here.
local lib = setmetatable({}, {__index = function(lib, name)
   local signature = signatureOf('dpt_' .. name)
   if not signature then
      error('libdpt has no function dpt_' .. name .. ' that returns a status', 2)
   end
   local parameters, checks = {}, {}
   for i, parameter in ipairs(signature) do
      parameters[i] = 'a' .. i
      if parameter.tensor then
         local is = parameter.list and "type(a%d) == 'cdata'" or 'istype(tensor, a%d)'
         checks[#checks + 1] = ("if %snot (%s) then noTensor('%s', '%s', a%d) end")
            :format(parameter.optional and 'a' .. i .. ' and ' or '', is:format(i), name,
               parameter.name, i)
      end
   end
   local wrapper = assert(loadstring(([[
      local call, effects, type, istype, tensor, noTensor, raiseMessage, collected = ...
      return function(PARAMETERS)
         CHECKS
         local before = effects[0]
         if call(PARAMETERS) == 0 then return end
         if not collected(before) or call(PARAMETERS) ~= 0 then raiseMessage() end
      end
   ]]):gsub('%u%u+', {PARAMETERS = table.concat(parameters, ', '),
      CHECKS = table.concat(checks, ' ')}), chunk))(C['dpt_' .. name], effects, type,
      ffi.istype, ffi.typeof 'dpt_tensor', noTensor, raiseMessage, collected)
   rawset(lib, name, wrapper)
   return wrapper
end})

--- Opens an optional library, under the first of its names that is installed.
-- @param used C declarations of the functions used, from this library or from libc
-- @return the library, or nil
local function optional(used, ...)
   for _, name in ipairs{...} do
      local found, library = pcall(ffi.load, name)
      if found then
         ffi.cdef(used)
         return library
      end
   end
end

return {
   ffi = ffi,
   C = C,
   lib = lib,
   --- Lua's own type(), which returns 'cdata' for tensors (dpt.compat's returns 'userdata').
   type = type,
   raise = raise,
   --- find(name, [folder]): returns the path of another library, which belongs to dpt or to the Lua
   -- files in that folder; nil if it is missing.
   find = find,
   --- own(folder): marks the folder's sources as dpt's own: errors are raised at their caller's
   -- line.
   own = function(folder) own[#own + 1] = '@' .. folder end,
   raiseMessage = raiseMessage,
   optional = optional,
   --- Raises a formatted error message at the line of dpt's caller.
   fail = function(...) return raise(string.format(...)) end,
   --- Returns true if libdpt declares the function `name` (without "dpt_") and it returns a status.
   has = function(name) return signatureOf('dpt_' .. name) ~= nil end,
}
