--- dpt.class: torch.class and its registry; returns the table `torch`.
--
-- What must stay true: an object of a class is a plain table whose metatable is the class's method
-- table; that table's own metatable leads to the parent's methods, so methods added to a class
-- later are seen by all its descendants. A class is found by its name through one registry, tensors
-- and storages (C data) too. Torch7's __add__ and so on are installed as Lua's metamethods
-- at the moment they are defined, for the class and the descendants that define none.
local dptffi = require 'dpt.ffi'
local fail = dptffi.fail

local torch = {}
local classes = {}      -- name -> method table
local constructors = {} -- name -> constructor table
local factories = {}    -- name -> function that makes an object without calling __init
local children = {}     -- method table -> list of the method tables of its direct descendants
local rooms = {}        -- 'nn' -> table: where torch.class('nn.X') puts X, before the globals

-- A room may load its classes when they are asked for (as fields of its table), so a name that is
-- not in a list here is asked for there once.
for _, list in ipairs{classes, constructors, factories} do
   setmetatable(list, {__index = function(_, name)
      local package, rest = tostring(name):match('^(%w+)%.(%w+)$')
      if rooms[package] and rooms[package][rest] ~= nil then return rawget(list, name) end
   end})
end

--- Lua's metamethods that a class may define as __NAME__; the value tells how they are installed.
local operators = {}
for name in ('add sub mul div mod pow unm concat len eq lt le call tostring'):gmatch('%a+') do
   operators['__' .. name .. '__'] = {'__' .. name, function(_, f) return f end}
end
-- __index__ returns value, handled; __newindex__ returns handled
operators.__index__ = {'__index', function(methods, f)
   return function(object, key)
      local value, handled = f(object, key)
      if handled then return value end
      return methods[key]
   end
end}
operators.__newindex__ = {'__newindex', function(_, f)
   return function(object, key, value)
      if not f(object, key, value) then rawset(object, key, value) end
   end
end}

--- A value for a sentence: a string in quotes, else its type.
local function quote(v) return type(v) == 'string' and "'" .. v .. "'" or torch.type(v) end

--- Makes Lua call `f` for the operator `key` on objects of the class and of its descendants.
local function install(methods, key, f)
   local name, wrap = operators[key][1], operators[key][2]
   rawset(methods, name, wrap(methods, f))
   for _, child in ipairs(children[methods]) do
      if rawget(child, key) == nil then install(child, key, f) end
   end
end

-- What a class lists as transient (dpt.transient) must be names of fields.
local function checkTransient(name, list)
   local fits = type(list) == 'table'
   for key, field in pairs(fits and list or {}) do
      fits = fits and type(key) == 'number' and type(field) == 'string'
   end
   if not fits then
      fail("torch.class: transient of class '%s' wants a list of names of fields, got %s", name,
         type(list) == 'table' and 'another table' or quote(list))
   end
end

--- Registers a class; returns its method table.
-- @param name e.g. 'nn.Linear'
-- @param parent name of a registered class, or nil
-- @param construct function(...) that makes an object
-- @param factory function() that makes one without initialising it
-- @param place table that gets the constructor, false for none; default: the table that the name's
-- first part names, or the globals
function torch.newmetatable(name, parent, construct, _, factory, place)
   if classes[name] then fail("torch.class: class '%s' exists already", name) end
   local above
   if parent then
      above = classes[parent]
      if not above then fail("torch.class: parent class '%s' of '%s' is unknown", parent, name) end
   end
   local methods = {__typename = name, __version = 1}
   methods.__index = methods
   local constructor = setmetatable({}, {
      __index = methods,
      __newindex = methods,
      __metatable = methods,
      __call = function(_, ...) return construct(...) end,
   })
   if place == nil then
      local package, rest = name:match('^([^.]+)%.(.+)$')
      place = package and (rooms[package] or rawget(_G, package)) or not package and _G
      if type(place) ~= 'table' then
         fail("torch.class: class '%s' belongs into a table '%s', which does not exist", name,
            package)
      end
      while rest and rest:find('.', 1, true) do
         package, rest = rest:match('^([^.]+)%.(.+)$')
         place = place[package]
         if type(place) ~= 'table' then
            fail("torch.class: class '%s' belongs into a table '%s', which does not exist", name,
               package)
         end
      end
   end
   setmetatable(methods, {
      __index = above,
      __metatable = above or false,
      __newindex = function(_, key, value)
         if key == 'transient' then checkTransient(name, value) end
         rawset(methods, key, value)
         if operators[key] then install(methods, key, value) end
      end,
   })
   children[methods] = {}
   if above then
      table.insert(children[above], methods)
      for key in pairs(operators) do
         local f = above[key]
         if f ~= nil then rawset(methods, operators[key][1], operators[key][2](methods, f)) end
      end
   end
   classes[name], constructors[name], factories[name] = methods, constructor, factory
   if place then rawset(place, name:match('([^.]+)$'), constructor) end
   return methods, constructor
end

--- torch.class(name [, parent] [, module]): a new class; returns its method table and its parent's.
-- @param name 'package.Name'
-- @param parent the parent's name
-- @param module table that gets the constructor under the name's last part
function torch.class(name, parent, module)
   if type(parent) == 'table' and module == nil then parent, module = nil, parent end
   if type(name) ~= 'string' or (parent ~= nil and type(parent) ~= 'string')
      or (module ~= nil and type(module) ~= 'table') then
      fail('torch.class: wanted name [, parent name] [, module table], got %s, %s, %s',
         type(name), type(parent), type(module))
   end
   local methods
   local function factory() return setmetatable({}, methods) end
   local function construct(...)
      local object = setmetatable({}, methods)
      local init = object.__init
      if init then init(object, ...) end
      return object
   end
   methods = torch.newmetatable(name, parent, construct, nil, factory, module)
   return methods, parent and classes[parent] or nil
end

--- The method table of the class with this name, nil where there is none.
function torch.getmetatable(name) return classes[name] end

--- Gives a table the class with this name; returns the table.
function torch.setmetatable(object, name)
   local methods = classes[name]
   if not methods then fail('torch.setmetatable: class %s is unknown', quote(name)) end
   if type(object) ~= 'table' then
      fail("torch.setmetatable: wanted a table as object of class '%s', got %s", name, type(object))
   end
   return setmetatable(object, methods)
end

function torch.getconstructortable(name)
   local constructor = constructors[name]
   if not constructor then
      fail('torch.getconstructortable: class %s is unknown', quote(name))
   end
   return constructor
end

--- A function that makes an object of the class without calling its __init; nil: unknown class.
function torch.factory(name) return factories[name] end

--- The class's name of a C data object; the tensor room replaces this (nothing else is C data).
local function cdataMethods() return nil end

local function methodsOf(object)
   local kind = type(object)
   if kind == 'cdata' then return cdataMethods(object) end
   if kind == 'table' or kind == 'userdata' then
      local methods = getmetatable(object)
      -- a constructor hides its class's method table behind __metatable: it is no object
      local name = type(methods) == 'table' and rawget(methods, '__typename')
      if name and classes[name] == methods and constructors[name] ~= object
         and (kind ~= 'table' or not children[object]) then
         return methods
      end
   end
end

--- The name of the object's class; nil for what is no object of a class.
function torch.typename(object)
   local methods = methodsOf(object)
   return methods and methods.__typename or nil
end

--- The name of the object's class, or Lua's type.
function torch.type(object)
   local methods = methodsOf(object)
   return methods and methods.__typename or type(object)
end

--- Whether the object's class or one of its ancestors is `spec`: a name, a pattern that matches the
-- whole name, or a constructor.
function torch.isTypeOf(object, spec)
   local methods = methodsOf(object)
   if type(spec) == 'table' then spec = getmetatable(spec) end
   while methods do
      if spec == methods then return true end
      if type(spec) == 'string' then
         local name = methods.__typename
         local first, last = name:find(spec)
         if name == spec or (first == 1 and last == #name) then return true end
      end
      methods = getmetatable(methods)
   end
   return false
end

return {
   quote = quote,
   torch = torch,
   classes = classes,
   rooms = rooms,
   methodsOf = methodsOf,
   --- Tells how to find the method table of C data: f(object) gives it or nil.
   setCdata = function(f) cdataMethods = f end,
   getCdata = function() return cdataMethods end,
}
