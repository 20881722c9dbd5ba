--- dpt.threads.named: what travels to another Lua state by its name.
--
-- Invariant: Lua's own libraries and dpt's are in every state, so they, the functions that they
-- hold under a name, and the tables that they held when dpt was loaded are not copied. What a
-- script made is copied, whatever table it stands in (a function's source says whose it is). What
-- is not in the other state under its name raises there; a class not before it is used, since an
-- init function that loads the class may have it among its upvalues.
local fail = require('dpt.ffi').fail
local type = require('dpt.ffi').type
local class = require 'dpt.class'
local torch = class.torch

local named = {}

local own = debug.getinfo(1, 'S').source:match '^(.*)threads/named%.lua$'

local libraries = {}
for name in ('string table math io os coroutine debug package bit ffi jit jit.util jit.opt _G '
   .. 'string.buffer table.new table.clear'):gmatch '%S+' do
   libraries[name] = true
end

-- Of a value: its module's name, and its key there (a module itself has none).
local modules, keys = {}, {}
local seen = {} -- the modules that were looked at, by name

local function isReference(v)
   local kind = type(v)
   return kind == 'function' or kind == 'table' or kind == 'userdata'
end

--- Whether a function is Lua's or dpt's own.
function named.isOwn(f)
   local info = debug.getinfo(f, 'S')
   return info.what == 'C' or info.source:find(own, 1, true) == 1
end

-- The scripts' functions among those that were asked about: a job's is, whenever it is sent.
local foreign = setmetatable({}, {__mode = 'k'})
local function isForeign(f)
   if foreign[f] == nil and not named.isOwn(f) then foreign[f] = true end
   return foreign[f]
end

-- Learns a module and what it holds; of the globals only Lua's own functions.
local function add(name, module, all)
   modules[module], keys[module] = name, nil
   if type(module) ~= 'table' then return end
   all = all and name ~= '_G'
   for key, v in next, module do
      local mine = type(v) == 'function' and named.isOwn(v) or type(v) ~= 'function' and all
      if mine and type(key) == 'string' and isReference(v) and not modules[v] then
         modules[v], keys[v] = name, key
      end
   end
end

-- Learns the modules that have been loaded since the last time.
local function learn(all)
   local some = false
   for name, module in next, package.loaded do
      if isReference(module) and not rawequal(seen[name], module) then
         seen[name], some = module, true
         if (name .. '.'):find '^dpt%.' then add(name, module, all) end
      end
   end
   if not some then return end
   for name in next, libraries do -- last: in a worker ffi.C is also dpt's library
      if package.loaded[name] then add(name, package.loaded[name], all) end
   end
end

--- dpt has been loaded: tables that its modules and Lua's hold now are in every state.
function named.loaded() learn(true) end

--- The module's name and the key in it of a value, or only the module's name; nil: it has none.
function named.find(v)
   if not modules[v] and not (type(v) == 'function' and isForeign(v)) then learn() end
   return modules[v], keys[v]
end

--- What named.find found, in this state.
function named.get(module, key)
   local value = require(module)
   if key == nil then return value end
   if value[key] == nil then
      fail("threads: '%s' of the module '%s' is unknown in this thread", key, module)
   end
   return value[key]
end

--- Returns the text that a class is sent as: its name, with a mark if a script's class has the name
-- of one of dpt's, so that dpt's does not replace it in another state.
function named.sent(methods)
   return (class.replaces(methods) and '!' or '') .. methods.__typename
end

-- The methods of the class that was sent, or nil, and its name.
local function received(sent)
   local name = sent:match '^!?(.*)$'
   local methods = torch.getmetatable(name)
   return methods and named.sent(methods) == sent and methods or nil, name
end

--- The methods of a class that was sent, in this state.
function named.methods(sent)
   local methods, name = received(sent)
   return methods or fail("threads: class '%s' is unknown in this thread: let the pool's init"
      .. ' function (of a network that of net:threads(f)) require the file that defines it', name)
end

-- Stand-ins for classes that were unknown when they came -> the texts that these were sent as.
local standIns = setmetatable({}, {__mode = 'k'})

--- The class that was sent, or a table that becomes it when it is used.
function named.class(sent)
   local function found() return rawget(named.methods(sent), '__constructor') end
   if received(sent) then return found() end
   local standIn = setmetatable({}, {
      __index = function(_, key) return found()[key] end,
      __newindex = function(_, key, value) found()[key] = value end,
      __call = function(_, ...) return found()(...) end})
   standIns[standIn] = sent
   return standIn
end

--- Returns the text that the class of a stand-in was sent as; nil if the table is not a stand-in.
function named.standsFor(t) return standIns[t] end

return named
