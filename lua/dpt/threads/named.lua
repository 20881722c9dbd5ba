--- dpt.threads.named: finds values that are sent to another Lua state by name.
--
-- Invariant: Lua's own libraries and dpt's are in every state, so they, their named functions, and
-- the tables that they held when dpt was loaded are not copied. Values that a script created are
-- copied, whatever table holds them (a function's source tells who created it). A value that is not
-- in the other state under its name raises there; a class does so only when it is used, since an
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

-- By value: the name of its module, and its key there (a module itself has no key).
local modules, keys = {}, {}
local seen = {} -- modules examined so far, by name

local function isReference(v)
   local kind = type(v)
   return kind == 'function' or kind == 'table' or kind == 'userdata'
end

--- Returns true if a function belongs to Lua or dpt.
function named.isOwn(f)
   local info = debug.getinfo(f, 'S')
   return info.what == 'C' or info.source:find(own, 1, true) == 1
end

-- Functions of scripts found so far: a job's function is looked up each time that it is sent.
local foreign = setmetatable({}, {__mode = 'k'})
local function isForeign(f)
   if foreign[f] == nil and not named.isOwn(f) then foreign[f] = true end
   return foreign[f]
end

-- Records a module and its contents; of the globals, only Lua's own functions.
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

-- Records the modules loaded since the last call.
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

--- Records the tables that the modules of dpt and Lua hold: every state has them. Called when dpt
-- has been loaded.
function named.loaded() learn(true) end

--- Returns the module's name and the value's key in it, or only a module's name; nil if unnamed.
function named.find(v)
   if not modules[v] and not (type(v) == 'function' and isForeign(v)) then learn() end
   return modules[v], keys[v]
end

--- Returns the value in this state for named.find's results.
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

-- Returns the methods of a sent class, or nil, and its name.
local function received(sent)
   local name = sent:match '^!?(.*)$'
   local methods = torch.getmetatable(name)
   return methods and named.sent(methods) == sent and methods or nil, name
end

--- Returns the methods of a sent class in this state; raises if it is unknown.
function named.methods(sent)
   local methods, name = received(sent)
   return methods or fail("threads: class '%s' is unknown in this thread: let the pool's init"
      .. ' function (for a network, f of net:threads(f)) require the file that defines it', name)
end

-- Stand-ins for classes that were unknown when received -> the texts that the classes were sent as.
local standIns = setmetatable({}, {__mode = 'k'})

--- Returns the class that was sent, or a table that becomes it on first use.
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
function named.classTextOf(t) return standIns[t] end

return named
