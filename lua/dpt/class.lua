--- dpt.class: torch.class and its registry; returns the table `torch`.
--
-- Invariant: an object of a class is a plain table whose metatable is the class's method table;
-- that table's own metatable leads to the parent's methods, so methods added to a class later are
-- seen by all its descendants. A class is found by its name through one registry, tensors and
-- storages (C data) too; debug.getregistry() has both directions, as Torch7's had. Both tables of a
-- declared class are there before its file is loaded: whatever touches them loads it.
local dptffi = require 'dpt.ffi'
local checkTransient = require 'dpt.class.transient'
local operators = require('dpt.class.operators').operators
local defaults = require('dpt.class.operators').defaults
local fail = dptffi.fail
local type = dptffi.type

local torch = {}
local classes = {}  -- name -> method table
local children = {} -- method table -> list of the method tables of its direct descendants
local entries = {}  -- method table -> what `tables` made
local declared = {} -- name -> method table that `declare` made
local packages = {} -- 'nn' -> table: where torch.class('nn.X') puts X, before the globals
local registry = debug.getregistry()
local types = require 'dpt.class.types'(torch, children)
local replaceLater -- what replaces the methods that classes get; nil: nothing does

-- A package may load a class when its field is read, so an unknown name triggers one lookup in its
-- package.
setmetatable(classes, {__index = function(_, name)
   local package, rest = tostring(name):match('^(%w+)%.(%w+)$')
   if packages[package] and packages[package][rest] ~= nil then return rawget(classes, name) end
end})

--- A value for an error message: a string in quotes, else its type.
local function quote(v) return type(v) == 'string' and "'" .. v .. "'" or torch.type(v) end

--- Makes Lua call the operator `key` of objects of the class and of its descendants.
local function install(methods, key)
   local name, metamethod = operators[key][1], operators[key][2]
   local present = rawget(methods, name)
   if present == nil or present == methods then rawset(methods, name, metamethod) end
   for _, child in ipairs(children[methods]) do install(child, key) end
end

-- classes -----------------------------------------------------------------------------------------

--- A class's two tables, the method table and the constructor, and their metatables.
local function tables(name, above)
   local methods, meta, maker = {__typename = name, __version = 1}, {}, {}
   methods.__index, methods.__tostring = methods, operators.__tostring__[2]
   meta.__metatable = above or false
   -- A.__index is no function, for speed, but is called as Torch7's was
   function meta.__call(_, object, key)
      if not children[getmetatable(object)] then
         fail("%s: a class's method table makes no objects, its constructor does", name)
      end
      return defaults.__index(object, key)
   end
   maker.__index, maker.__newindex, maker.__metatable = methods, methods, methods
   function maker.__call(_, ...)
      local object = maker.__new(...)
      return object
   end
   local constructor = setmetatable({}, maker)
   methods.__constructor = constructor
   setmetatable(methods, meta)
   classes[name], children[methods] = methods, {}
   entries[methods] = {meta = meta, maker = maker, above = above}
   registry[name], registry[methods] = methods, name
   return methods, constructor
end

--- A method table, its class's file loaded if the class was only declared.
local function loaded(methods)
   local entry = methods and entries[methods]
   if entry and entry.file then
      entry.loading = true
      local ok, why = pcall(entry.load or require, entry.file)
      entry.loading = false
      if not ok then error(why, 0) end
   end
   return methods
end

--- The method table of the class with this name; nil: none.
local function known(name) return loaded(classes[name]) end

--- Declares a class that is made at its first use.
-- @param name e.g. 'nn.Linear'
-- @param parent name of the parent, declared before, or nil
-- @param file the module that defines it, for `require`
-- @param replaceable whether torch.class may define another class of this name after its first use
-- @param load, guard load(file) defines it (require); guard(name, key, value) replaces a definition
-- @return the constructor
local function declare(name, parent, file, replaceable, load, guard)
   local methods, constructor = tables(name, classes[parent])
   local entry = entries[methods]
   declared[name] = methods
   entry.file, entry.parent = file, parent
   entry.replaceable, entry.load, entry.guard = replaceable, load, guard
   function entry.meta.__index(_, key) return loaded(methods)[key] end
   function entry.meta.__newindex(_, key, value) loaded(methods)[key] = value end
   function entry.maker.__new(...)
      loaded(methods)
      return entry.maker.__new(...)
   end
   return constructor
end

--- Returns true for a method table that has the name of a declared class, which it is not.
local function replaces(methods)
   local own = declared[methods.__typename]
   return own ~= nil and own ~= methods
end

--- Lets a class of C data answer for what it lacks from a table, also for __index.
-- @param changed changed(key) is called when the class gets something new
local function observe(methods, answers, changed)
   local entry = entries[methods]
   entry.meta.__index, entry.changed = setmetatable(answers, {__index = defaults}), changed
   rawset(methods, '__index', nil)
end

--- The names in `nn` (without 'nn.') of the classes that others may replace.
local function withdrawn()
   local names = {}
   for methods, entry in pairs(entries) do
      if entry.replaceable then names[#names + 1] = methods.__typename:match '^nn%.(.*)$' end
   end
   return names
end

--- Takes them away, so that a package finds their names free. Objects and descendants stay, so they
-- are loaded before.
local function withdraw()
   for _, name in ipairs(withdrawn()) do
      local methods = rawget(classes, 'nn.' .. name)
      if methods and entries[methods].replaceable then
         loaded(methods)
         classes['nn.' .. name] = nil
         rawset(packages.nn, name, nil)
      end
   end
end

--- Lets f(methods, key, value) replace every method of every loaded class.
-- @param later the same for what classes get from now on; nil: that stays as it is
local function replaceMethods(f, later)
   replaceLater = later
   for methods, entry in pairs(entries) do
      if not entry.file then
         for key, value in pairs(methods) do
            if type(value) == 'function' then rawset(methods, key, f(methods, key, value)) end
         end
      end
   end
end

--- The table that a class of this name goes into: what the first parts name, or the globals.
local function namespaceOf(name)
   local namespace, path = nil, name:match('^(.+)%.[^.]+$')
   if not path then return _G end
   for part in path:gmatch('[^.]+') do
      if namespace then namespace = namespace[part]
      else namespace = packages[part] or rawget(_G, part) end
      if type(namespace) ~= 'table' then
         fail("torch.class: class '%s' belongs into a table '%s', which does not exist", name, part)
      end
   end
   return namespace
end

--- Registers a class; returns its method table, its constructor and its parent's method table.
-- @param name e.g. 'nn.Linear'
-- @param parent name of a registered class, or nil
-- @param construct function(...) that makes an object
-- @param factory function() that makes one without initialising it
-- @param namespace table that gets the constructor; default: the table that the name's first parts
-- name, or the globals
function torch.newmetatable(name, parent, construct, _, factory, namespace)
   local methods = rawget(classes, name)
   local entry = methods and entries[methods]
   -- while a module is loaded, package.loaded has a mark for it
   if entry and not (entry.file and (entry.loading or package.loaded[entry.file])) then
      -- without a parent Torch7 went on with the class that was there
      local unused = entry.file and parent
      if not (entry.replaceable or unused) then
         fail("torch.class: class '%s' exists already", name)
      end
      loaded(methods) -- for its descendants
      entry = nil
   end
   local above = parent and (entry and loaded(entry.above) or not entry and known(parent))
   if parent and not above then
      fail("torch.class: parent class '%s' of '%s' is unknown", parent, name)
   end
   namespace = namespace or namespaceOf(name)
   local guard, file = entry and entry.guard, entry and entry.file
   local constructor
   if entry then
      if entry.parent ~= parent then
         fail("torch.class: class '%s' is declared with another parent than '%s'", name,
            tostring(parent))
      end
      constructor = methods.__constructor
   else
      methods, constructor = tables(name, above)
      entry = entries[methods]
   end
   entry.file, entry.load, entry.loading = nil, nil, nil
   entry.meta.__index = above or defaults
   function entry.meta.__newindex(_, key, value)
      if key == 'transient' then checkTransient(name, value) end
      -- until the file returns its class this is the file's own definition
      if guard and type(package.loaded[file]) ~= 'table' then value = guard(name, key, value) end
      if replaceLater then value = replaceLater(methods, key, value) end
      rawset(methods, key, value)
      if entry.changed then entry.changed(key)
      elseif operators[key] then install(methods, key) end
   end
   entry.maker.__new = construct
   rawset(methods, 'new', construct)
   rawset(methods, '__factory', factory)
   if above then
      table.insert(children[above], methods)
      for key in pairs(operators) do
         if above[key] ~= nil then install(methods, key) end
      end
   end
   rawset(namespace, name:match('([^.]+)$'), constructor)
   return methods, constructor, above
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
   local methods, above, _
   local function factory() return setmetatable({}, methods) end
   local function construct(...)
      local object = setmetatable({}, methods)
      local init = object.__init
      if init then init(object, ...) end
      return object
   end
   methods, _, above = torch.newmetatable(name, parent, construct, nil, factory, module)
   return methods, above or nil
end

--- The method table of the class with this name, nil if there is none.
function torch.getmetatable(name) return known(name) end

--- Makes a table the method table of a class of this name, which torch.typename then knows.
function torch.metatype(name, methods)
   if type(name) ~= 'string' or type(methods) ~= 'table' then
      fail('torch.metatype: wanted a name and a method table, got %s, %s', type(name),
         type(methods))
   end
   rawset(methods, '__typename', name)
   classes[name], children[methods] = methods, children[methods] or {}
   registry[name], registry[methods] = methods, name
end

--- Makes a table an object of the class with this name; returns the table.
function torch.setmetatable(object, name)
   local methods = known(name)
   if not methods then fail('torch.setmetatable: class %s is unknown', quote(name)) end
   if type(object) ~= 'table' then
      fail("torch.setmetatable: wanted a table as object of class '%s', got %s", name, type(object))
   end
   return setmetatable(object, methods)
end

function torch.getconstructortable(name)
   local methods = known(name)
   local constructor = methods and rawget(methods, '__constructor')
   if not constructor then
      fail('torch.getconstructortable: class %s is unknown', quote(name))
   end
   return constructor
end

--- A function that makes an object of the class without its __init; nil: unknown class. A class may
-- bring its own, as the field __factory; torch.load calls it with the file.
function torch.factory(name)
   return rawget(known(name) or {}, '__factory')
end

--- Entries of the reference.
-- @pattern plaintorch
-- @within utilities
-- @raise if an argument is of another kind, if sizes do not fit, or if operands are on different
--    sides or devices, at the script's line
-- @follows Torch7's torch

--- A new class: its method table and its parent's.
-- @function torch.class
-- @as plaintorch
-- @param name string: as 'nn.Mine'
-- @param parent? string: the parent's name
-- @param module? table: gets the constructor
-- @return table, table: the methods to fill in, and the parent's (nil without a parent)
-- @usage torch.class 'ReferenceOne'
--    function ReferenceOne:two() return 2 end
--    return ReferenceOne():two() --> 2

--- The name of an object's class; nil: it has none.
-- @function torch.typename
-- @as plaintorch
-- @param object any: what is asked about
-- @return string or nil
-- @usage torch.typename(nn.Tanh()) --> nn.Tanh

--- Whether an object is of a class or of a descendant.
-- @function torch.isTypeOf
-- @as plaintorch
-- @param object any: what is asked about
-- @param class string: a name, or a constructor
-- @return boolean
-- @usage torch.isTypeOf(nn.ReLU(), 'nn.Module'), torch.isTypeOf(nn.ReLU(), 'nn.Linear')
--    --> true, false

--- Makes a table an object of a class.
-- @function torch.setmetatable
-- @as plaintorch
-- @param object table: becomes an object
-- @param name string: the class
-- @return the table itself
-- @usage torch.typename(torch.setmetatable({}, 'nn.Tanh')) --> nn.Tanh

--- The method table of a class; nil: there is none.
-- @function torch.getmetatable
-- @as plaintorch
-- @param name string: the class
-- @return table or nil
-- @usage type(torch.getmetatable('nn.Tanh').forward) --> function

--- What is called to make an object of a class.
-- @function torch.getconstructortable
-- @as plaintorch
-- @param name string: the class
-- @return a table that can be called, with the class's fields
-- @usage torch.type(torch.getconstructortable('nn.Tanh')()) --> nn.Tanh

--- Registers a class with a constructor of its own.
-- @function torch.newmetatable
-- @as plaintorch
-- @param name string: the class
-- @param parent? string: the parent's name
-- @param construct function: makes an object
-- @return table, table, table: the methods, to fill in; what is called to make an object; the
--    parent's methods (nil without a parent)
-- @usage type(torch.newmetatable('ReferenceTwo', nil, function() return 5 end)) --> table

--- Makes a table of methods a class.
-- @function torch.metatype
-- @as plaintorch
-- @param name string: the class
-- @param methods table: its method table
-- @return nothing
-- @usage torch.metatype('ReferenceThree', {})
--    return torch.getmetatable('ReferenceThree').__typename --> ReferenceThree

--- A function that makes an object without its constructor.
-- @function torch.factory
-- @as plaintorch
-- @param name string: the class
-- @return function() that returns an object without fields; nil: there is no such class
-- @usage torch.type(torch.factory('nn.Tanh')()) --> nn.Tanh

--- A number that is an object's own.
-- @function torch.pointer
-- @as plaintorch
-- @param object any: tensor, storage, table, function
-- @return number, the same as long as the object lives; of C data its address
-- @usage local a, p = torch.ones(2), torch.pointer
--    return p(a) == p(a), p(a) == p(a:clone()) --> true, false

--- Chooses what torch.Tensor, torch.rand and modules are made of.
-- @function torch.setdefaulttensortype
-- @as plaintorch
-- @param name string: the type
-- @return nothing
-- @usage local before = torch.getdefaulttensortype()
--    torch.setdefaulttensortype 'torch.FloatTensor'
--    local made = torch.rand(2):type()
--    torch.setdefaulttensortype(before)
--    return made --> torch.FloatTensor

--- The type that torch.Tensor makes.
-- @function torch.getdefaulttensortype
-- @as plaintorch
-- @return string, as in 'torch.DoubleTensor'
-- @usage torch.getdefaulttensortype():sub(1, 6) --> torch.

--- How many threads compute on host tensors.
-- @function torch.setnumthreads
-- @as plaintorch
-- @param n number: at least 1
-- @return nothing
-- @usage local before = torch.getnumthreads()
--    torch.setnumthreads(1)
--    local now = torch.getnumthreads()
--    torch.setnumthreads(before)
--    return now --> 1

--- How many threads compute on host tensors now.
-- @function torch.getnumthreads
-- @as plaintorch
-- @return number, 1 at least
-- @usage torch.getnumthreads() -- 8, say

--- How many cores this process may use.
-- @function torch.getnumcores
-- @as plaintorch
-- @return number, 1 at least
-- @usage torch.getnumcores() -- 8, say

--- A time from which torch.toc measures.
-- @function torch.tic
-- @as plaintorch
-- @return number, in seconds
-- @usage local start = torch.tic()
--    nn.Linear(10, 10):forward(torch.ones(10))
--    return torch.toc(start) -- 0.0001, say

--- Seconds since torch.tic.
-- @function torch.toc
-- @as plaintorch
-- @param start number: of torch.tic
-- @return number, in seconds
-- @usage torch.toc(torch.tic()) -- 1e-06, say

--- dpt's version.
-- @function torch.version
-- @as plaintorch
-- @return string of three numbers with dots between them
-- @usage type(torch.version()) --> string

--- Writes any value into a file, at once or not at all.
-- @function torch.save
-- @as plaintorch
-- @within files
-- @param path string: the file
-- @param object any: what is saved
-- @param format? string: 'binary', 'ascii', 'b32' or 'b64'
-- @param referenced? boolean: false: objects that come twice are two
-- @return nothing
-- @raise if a value cannot be written, naming the way to it, or the file cannot, naming it: then
--    the file from before is unchanged
-- @usage local p = os.tmpname()
--    torch.save(p, {a = torch.ones(2)})
--    local t = torch.load(p)
--    os.remove(p)
--    return t.a --> [1 1]

--- Reads what torch.save wrote, of Torch7 too; nothing of the file is run. A function in it becomes
-- one that raises when it is called, and that torch.save writes as it came.
-- @function torch.load
-- @as plaintorch
-- @within files
-- @param path string: the file
-- @param format? string: as for torch.save
-- @param referenced? boolean: as for torch.save
-- @param options? table: functions = true loads functions, false rejects a file with functions
--    ('skip'; true if the environment has DPT_FUNCTIONS=1)
-- @return the value
-- @raise if the file is not there, ends early, is damaged, or is of another format or mode, naming
--    it
-- @usage local p = os.tmpname()
--    torch.save(p, 5, 'ascii')
--    local v = torch.load(p, 'ascii')
--    os.remove(p)
--    return v --> 5

--- What torch.save would write, as a string.
-- @function torch.serialize
-- @as plaintorch
-- @within files
-- @param object any: what is written
-- @param format? string: 'binary' or 'ascii'
-- @return string
-- @usage torch.deserialize(torch.serialize{1, 2}) --> {1 2}

--- The value that torch.serialize wrote.
-- @function torch.deserialize
-- @as plaintorch
-- @within files
-- @param text string: of torch.serialize
-- @param format? string: 'binary' or 'ascii'
-- @return the value
-- @usage torch.deserialize(torch.serialize 'words') --> words

return {
   quote = quote,
   torch = torch,
   classes = classes,
   packages = packages,
   declare = declare,
   observe = observe,
   replaceMethods = replaceMethods,
   withdrawn = withdrawn,
   withdraw = withdraw,
   replaces = replaces,
   methodsOf = types.methodsOf,
   setCdata = types.setCdata,
}
