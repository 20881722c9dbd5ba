--- dpt.class: torch.class and its registry; returns the table `torch`.
--
-- Invariant: an object of a class is a plain table whose metatable is the class's method table.
-- That table's own metatable leads to the parent's methods, so all descendants see methods that are
-- added to a class later. One registry finds classes by name, including those of tensors and
-- storages (C data); debug.getregistry() has both directions, as in Torch7. Both tables of a
-- declared class exist before its file is loaded; any access to them loads it.
local dptffi = require 'dpt.ffi'
local checkTransient = require 'dpt.class.transient'
local operators = require('dpt.class.operators').operators
local defaults = require('dpt.class.operators').defaults
local fail = dptffi.fail
local type = dptffi.type

local torch = {}
local classes = {}  -- name -> method table
local children = {} -- method table -> list of the method tables of its direct descendants
local entries = {}  -- method table -> result of `tables`
local declared = {} -- name -> method table that `declare` made
local packages = {} -- 'nn' -> table of nn's constructors; has priority over the global nn
local registry = debug.getregistry()
local types = require 'dpt.class.types'(torch, children)
local replaceLater -- function that replaces each method added to a class, or nil

-- A package may load a class when its field is read, so an unknown name triggers one lookup in its
-- package.
setmetatable(classes, {__index = function(_, name)
   local package, rest = tostring(name):match('^(%w+)%.(%w+)$')
   if packages[package] and packages[package][rest] ~= nil then return rawget(classes, name) end
end})

--- Formats a value for an error message: a string in quotes, otherwise its type.
local function quote(v) return type(v) == 'string' and "'" .. v .. "'" or torch.type(v) end

--- Makes Lua call the operator `key` for objects of the class and of its descendants.
local function install(methods, key)
   local name, metamethod = operators[key][1], operators[key][2]
   local present = rawget(methods, name)
   if present == nil or present == methods then rawset(methods, name, metamethod) end
   for _, child in ipairs(children[methods]) do install(child, key) end
end

-- classes -----------------------------------------------------------------------------------------

--- Makes the two tables of a class, the method table and the constructor, with their metatables.
local function tables(name, above)
   local methods, meta, maker = {__typename = name, __version = 1}, {}, {}
   methods.__index, methods.__tostring = methods, operators.__tostring__[2]
   meta.__metatable = above or false
   -- A.__index is a table, for speed, but can be called like Torch7's function
   function meta.__call(_, object, key)
      if not children[getmetatable(object)] then
         fail("%s: a class's method table creates no objects; its constructor does", name)
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

--- Returns a method table; loads the class's file first if the class was only declared.
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

--- Returns the method table of the class with this name, or nil.
local function known(name) return loaded(classes[name]) end

--- Declares a class that is created on first use.
-- @param name e.g. 'nn.Linear'
-- @param parent name of the parent, declared before, or nil
-- @param file the module that defines it, for `require`
-- @param replaceable if true, torch.class may define another class of this name after its first use
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

--- Returns true for a method table with the name of a declared class that is a different table.
local function replaces(methods)
   local own = declared[methods.__typename]
   return own ~= nil and own ~= methods
end

--- Makes a class of C data look up missing fields in a table, including for __index.
-- @param changed changed(key) is called when a field is added to the class
local function observe(methods, answers, changed)
   local entry = entries[methods]
   entry.meta.__index, entry.changed = setmetatable(answers, {__index = defaults}), changed
   rawset(methods, '__index', nil)
end

--- Returns the names in `nn` (without 'nn.') of the classes that others may replace.
local function withdrawn()
   local names = {}
   for methods, entry in pairs(entries) do
      if entry.replaceable then names[#names + 1] = methods.__typename:match '^nn%.(.*)$' end
   end
   return names
end

--- Removes the replaceable classes from `nn`, so that a package can define classes of these names.
-- They are loaded first, so that existing objects and descendants keep them.
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

--- Replaces every method of every loaded class by f(methods, key, value).
-- @param later does this for methods that classes get from now on; nil: these are not replaced
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

--- Returns the table that receives the constructor of a class: the package that the class's name
-- begins with, or the globals.
local function namespaceOf(name)
   local namespace, path = nil, name:match('^(.+)%.[^.]+$')
   if not path then return _G end
   for part in path:gmatch('[^.]+') do
      if namespace then namespace = namespace[part]
      else namespace = packages[part] or rawget(_G, part) end
      if type(namespace) ~= 'table' then
         fail("torch.class: class '%s': table '%s' not found", name, part)
      end
   end
   return namespace
end

--- Registers a class; returns its method table, its constructor and its parent's method table.
-- @param name e.g. 'nn.Linear'
-- @param parent name of a registered class, or nil
-- @param construct function(...) that makes an object
-- @param factory function() that makes one without initialising it
-- @param namespace table that gets the constructor; default: the table named by the first parts of
--    the name, or the globals
function torch.newmetatable(name, parent, construct, _, factory, namespace)
   local methods = rawget(classes, name)
   local entry = methods and entries[methods]
   -- while a module is being loaded, package.loaded has a placeholder for it
   if entry and not (entry.file and (entry.loading or package.loaded[entry.file])) then
      -- without a parent Torch7 continued with the existing class
      local unused = entry.file and parent
      if not (entry.replaceable or unused) then
         fail("torch.class: class '%s' exists already", name)
      end
      loaded(methods) -- descendants need its methods
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
         fail("torch.class: class '%s': got parent '%s', wanted '%s' as declared", name,
            tostring(parent), tostring(entry.parent))
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
      -- until the file returns its class, a definition is the file's own
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

--- Makes a new class; returns its method table and its parent's. torch.class(name [, parent] [,
-- module])
-- @param name 'package.Name'
-- @param parent the parent's name
-- @param module table that gets the constructor under the last part of the name
function torch.class(name, parent, module)
   if type(parent) == 'table' and module == nil then parent, module = nil, parent end
   if type(name) ~= 'string' or (parent ~= nil and type(parent) ~= 'string')
      or (module ~= nil and type(module) ~= 'table') then
      fail('torch.class: got %s, %s, %s, wanted name [, parent name] [, module table]',
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

--- Returns the method table of the class with this name, or nil.
function torch.getmetatable(name) return known(name) end

--- Makes a table the method table of a class of this name, which torch.typename then returns.
function torch.metatype(name, methods)
   if type(name) ~= 'string' or type(methods) ~= 'table' then
      fail('torch.metatype: got %s, %s, wanted a name and a method table', type(name),
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
      fail("torch.setmetatable: argument 'object' is of type %s, wanted a table (class '%s')",
         type(object), name)
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

--- Returns a function that makes an object of the class without calling its __init; nil if the
-- class is unknown. A class may define its own in the field __factory; torch.load passes the file
-- to it.
function torch.factory(name)
   return rawget(known(name) or {}, '__factory')
end

--- Tags shared by the reference entries of plain torch functions.
-- @pattern plaintorch
-- @within utilities
-- @raise at the caller's line if an argument has the wrong type, sizes do not fit, or operands are
--    on different sides or devices
-- @follows Torch7's torch

--- Makes a new class; returns its method table and its parent's.
-- @function torch.class
-- @as plaintorch
-- @param name string: such as 'nn.Mine'
-- @param parent? string: the parent's name
-- @param module? table: receives the constructor
-- @return table, table: the methods, to be filled in, and the parent's (nil without a parent)
-- @usage torch.class 'ReferenceOne'
--    function ReferenceOne:two() return 2 end
--    return ReferenceOne():two() --> 2

--- Returns the name of an object's class, or nil if it has none.
-- @function torch.typename
-- @as plaintorch
-- @param object any: any value
-- @return string or nil
-- @usage torch.typename(nn.Tanh()) --> nn.Tanh

--- Returns true if an object is of a class or of one of its descendants.
-- @function torch.isTypeOf
-- @as plaintorch
-- @param object any: any value
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

--- Returns the method table of a class, or nil.
-- @function torch.getmetatable
-- @as plaintorch
-- @param name string: the class
-- @return table or nil
-- @usage type(torch.getmetatable('nn.Tanh').forward) --> function

--- Returns the constructor of a class.
-- @function torch.getconstructortable
-- @as plaintorch
-- @param name string: the class
-- @return a callable table with the class's fields
-- @usage torch.type(torch.getconstructortable('nn.Tanh')()) --> nn.Tanh

--- Registers a class with its own constructor function.
-- @function torch.newmetatable
-- @as plaintorch
-- @param name string: the class
-- @param parent? string: the parent's name
-- @param construct function: makes an object
-- @return table, table, table: the methods, to be filled in; the callable constructor; the parent's
--    methods (nil without a parent)
-- @usage type(torch.newmetatable('ReferenceTwo', nil, function() return 5 end)) --> table

--- Makes a table the method table of a class.
-- @function torch.metatype
-- @as plaintorch
-- @param name string: the class
-- @param methods table: its method table
-- @return nothing
-- @usage torch.metatype('ReferenceThree', {})
--    return torch.getmetatable('ReferenceThree').__typename --> ReferenceThree

--- Returns a function that makes an object without calling its constructor.
-- @function torch.factory
-- @as plaintorch
-- @param name string: the class
-- @return function() that returns an object without fields; nil if there is no such class
-- @usage torch.type(torch.factory('nn.Tanh')()) --> nn.Tanh

--- Returns a number that identifies an object.
-- @function torch.pointer
-- @as plaintorch
-- @param object any: tensor, storage, table, function
-- @return number, constant during the object's lifetime; for C data its address
-- @usage local a, p = torch.ones(2), torch.pointer
--    return p(a) == p(a), p(a) == p(a:clone()) --> true, false

--- Sets the tensor type that torch.Tensor, torch.rand and modules use.
-- @function torch.setdefaulttensortype
-- @as plaintorch
-- @param name string: the type
-- @return nothing
-- @usage local before = torch.getdefaulttensortype()
--    torch.setdefaulttensortype 'torch.FloatTensor'
--    local made = torch.rand(2):type()
--    torch.setdefaulttensortype(before)
--    return made --> torch.FloatTensor

--- Returns the default tensor type.
-- @function torch.getdefaulttensortype
-- @as plaintorch
-- @return string, such as 'torch.DoubleTensor'
-- @usage torch.getdefaulttensortype():sub(1, 6) --> torch.

--- Sets the number of threads that compute on host tensors.
-- @function torch.setnumthreads
-- @as plaintorch
-- @param n number: at least 1
-- @return nothing
-- @usage local before = torch.getnumthreads()
--    torch.setnumthreads(1)
--    local now = torch.getnumthreads()
--    torch.setnumthreads(before)
--    return now --> 1

--- Returns the number of threads that compute on host tensors.
-- @function torch.getnumthreads
-- @as plaintorch
-- @return number, 1 at least
-- @usage torch.getnumthreads() -- 8, say

--- Returns the number of cores that this process may use.
-- @function torch.getnumcores
-- @as plaintorch
-- @return number, 1 at least
-- @usage torch.getnumcores() -- 8, say

--- Returns the current time, for torch.toc.
-- @function torch.tic
-- @as plaintorch
-- @return number, in seconds
-- @usage local start = torch.tic()
--    nn.Linear(10, 10):forward(torch.ones(10))
--    return torch.toc(start) -- 0.0001, say

--- Returns the seconds since torch.tic.
-- @function torch.toc
-- @as plaintorch
-- @param start number: result of torch.tic
-- @return number, in seconds
-- @usage torch.toc(torch.tic()) -- 1e-06, say

--- Returns dpt's version.
-- @function torch.version
-- @as plaintorch
-- @return string: three numbers, separated by dots
-- @usage type(torch.version()) --> string

--- Writes any value to a file atomically: completely or not at all.
-- @function torch.save
-- @as plaintorch
-- @within files
-- @param path string: the file
-- @param object any: the value to save
-- @param format? string: 'binary', 'ascii', 'b32' or 'b64'
-- @param referenced? boolean: false: an object that occurs twice is saved twice
-- @return nothing
-- @raise if a value cannot be written, with its path in the object, or if the file cannot be
--    written, with its name; an existing file is then unchanged
-- @usage local p = os.tmpname()
--    torch.save(p, {a = torch.ones(2)})
--    local t = torch.load(p)
--    os.remove(p)
--    return t.a --> [1 1]

--- Reads a file that torch.save wrote, in dpt or in Torch7. No code in the file is run: each
-- function is replaced by one that raises when called; torch.save writes it as the original
-- function.
-- @function torch.load
-- @as plaintorch
-- @within files
-- @param path string: of the file
-- @param format? string: as for torch.save
-- @param referenced? boolean: as for torch.save
-- @param options? table: functions = true loads functions, false rejects a file with functions
--    ('skip'; true if the environment has DPT_FUNCTIONS=1)
-- @return the value
-- @raise if the file does not exist, is truncated or damaged, or has another format or mode; with
--    its name
-- @usage local p = os.tmpname()
--    torch.save(p, 5, 'ascii')
--    local v = torch.load(p, 'ascii')
--    os.remove(p)
--    return v --> 5

--- Returns as a string the bytes that torch.save would write.
-- @function torch.serialize
-- @as plaintorch
-- @within files
-- @param object any: the value to write
-- @param format? string: 'binary' or 'ascii'
-- @return string
-- @usage torch.deserialize(torch.serialize{1, 2}) --> {1 2}

--- Returns the value of a string of torch.serialize.
-- @function torch.deserialize
-- @as plaintorch
-- @within files
-- @param text string: result of torch.serialize
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
