--- dpt.parallel.params.snapshot: records replica 1 at the end of the last pass, and finds what a
-- script has changed since.
--
-- Invariant: a snapshot has every field of replica 1's modules and of the plain tables in them, in
-- the order of next. It is taken when replicas are created and whenever dpt itself has changed all
-- replicas equally, mainly at the end of each pass; so only a script can cause a difference, never
-- a module. Fields that a pass overwrites (output, gradInput and those that the class lists as
-- transient) do not count. Neither do the elements of tensors: parameters, running statistics and
-- other tensors (dpt.parallel.params.constants) are copied to the replicas separately.
-- Comparing and taking allocate nothing unless a table was added or removed. All objects are
-- compared several times in each step: fields of tables with the same keys are compared by one
-- generated function, which LuaJIT compiles for their types.
local torch, dptffi = require('dpt.class').torch, require 'dpt.ffi'
local transient = require 'dpt.transient'
local fail, type = dptffi.fail, dptffi.type
local getmetatable, next, rawequal = getmetatable, next, rawequal

local Snapshot = {}
Snapshot.__index = Snapshot

-- By snapshot: metatables of its objects; not a field, which dpnn's getParameters would search.
local metatables = setmetatable({}, {__mode = 'k'})

--- Creates an empty snapshot, from which every replica 1 differs. The field version increases
-- whenever take() finds changed values.
function Snapshot.new()
   return setmetatable({version = 0}, Snapshot)
end

local plain = {} -- exempt fields of a plain table: none
local exempt = setmetatable({}, {__mode = 'k'}) -- by class: its exempt fields

local function exemptOf(object)
   local meta = getmetatable(object)
   if meta == nil then return plain end
   if not exempt[meta] then
      local names = {output = true, gradInput = true}
      for name in next, transient.fieldsOf(object) do names[name] = true end
      exempt[meta] = names
   end
   return exempt[meta]
end

-- Returns true if a value is compared field by field: a module or a table without a metatable.
local function isInside(value)
   if type(value) ~= 'table' then return false end
   if getmetatable(value) == nil then return true end
   return (torch.isTypeOf(value, 'nn.Module') or torch.isTypeOf(value, 'nn.Criterion'))
      and not value.ownDevices
end

-- Generated functions, by their source text: f(table, values, n) returns true if the table's fields
-- still have the values that follow values[n].
local forms = setmetatable({}, {__mode = 'v'})
local LONGEST = 32 -- largest number of fields compared without a loop

local function inLoop(keys, passing, first, last)
   local mine = {}
   for n = first, last do mine[#mine + 1] = not passing[n] and keys[n] end
   return function(object, values, n)
      for i = 1, #mine do
         local key = mine[i]
         if key and not rawequal(values[n + i], object[key]) then return false end
      end
      return true
   end
end

-- Returns the function for a table with the fields from `first` to `last`.
local function formOf(keys, passing, first, last)
   if last - first >= LONGEST then return inLoop(keys, passing, first, last) end
   local parts = {}
   for n = first, last do
      local key = keys[n]
      if not passing[n] then
         if type(key) ~= 'string' and type(key) ~= 'number' then
            return inLoop(keys, passing, first, last)
         end
         parts[#parts + 1] = ('rawequal(values[n + %d], object[%s])'):format(n - first + 1,
            type(key) == 'string' and ('%q'):format(key) or ('%.17g'):format(key))
      end
   end
   local text = #parts == 0 and 'true' or table.concat(parts, ' and ')
   forms[text] = forms[text] or loadstring(('local rawequal = rawequal'
      .. ' return function(object, values, n) return %s end'):format(text))()
   return forms[text]
end

-- Appends an object and the objects inside it to the lists.
local function add(self, object, parent, key, seen)
   local o, inside = #self.objects + 1, {}
   self.objects[o], metatables[self][o] = object, getmetatable(object) or false
   self.parents[o], self.parentKeys[o] = parent, key
   local names, first, n = exemptOf(object), self.count + 1, self.count
   for k, v in next, object do
      n = n + 1
      self.keys[n], self.values[n] = k, v
      self.passing[n] = names[k] or false
      self.inside[n] = not names[k] and isInside(v)
      if self.inside[n] and not seen[v] then
         seen[v] = true
         inside[#inside + 1] = k
      end
   end
   self.ends[o], self.count = n, n
   self.forms[o] = formOf(self.keys, self.passing, first, n)
   for _, k in ipairs(inside) do add(self, object[k], o, k, seen) end
end

local function describe(self, root)
   for _, name in ipairs{'objects', 'parents', 'parentKeys', 'ends', 'keys', 'passing', 'inside',
      'forms'} do
      self[name] = {}
   end
   metatables[self] = {}
   -- Does not keep dropped fields alive; the collector clears values[0], which shows that it has
   -- run.
   self.values = setmetatable({[0] = {}}, {__mode = 'v'})
   self.root, self.count, self.version = root, 0, self.version + 1
   add(self, root, nil, nil, {[root] = true, [self] = true}) -- which grows meanwhile
end

-- Returns true if a compared value was dropped by its object and collected.
local function hasCollected(self)
   local values, passing = self.values, self.passing
   if values[0] then return false end
   for n = 1, self.count do
      if values[n] == nil and not passing[n] then return true end
   end
   values[0] = {}
   return false
end

-- Returns the first object from `o` that has changed, assuming no value was lost; nil: none.
local function firstChanged(self, o)
   local objects, metas, ends = self.objects, metatables[self], self.ends
   local isAlike, values, n = self.forms, self.values, ends[o - 1] or 0
   for i = o, #objects do
      local object = objects[i]
      if not isAlike[i](object, values, n) or (getmetatable(object) or false) ~= metas[i] then
         return i
      end
      for _ in next, object do n = n + 1 end
      if n ~= ends[i] then return i end
   end
end

-- Records the new values of object o if it has the same fields with the same tables in them.
-- Returns true if it has.
local function updateOne(self, o)
   local object, n, last = self.objects[o], self.ends[o - 1] or 0, self.ends[o]
   for k, v in next, object do
      n = n + 1
      if n > last or not rawequal(self.keys[n], k) then return false end
      if not self.passing[n] and not rawequal(self.values[n], v) then
         if self.inside[n] or type(v) == 'table' then return false end
         self.values[n], self.version = v, self.version + 1
      end
   end
   return n == last and (getmetatable(object) or false) == metatables[self][o]
end

-- Records the new values if no table was added, removed or replaced. Returns true if so.
local function update(self)
   if hasCollected(self) then return false end
   local o = firstChanged(self, 1)
   while o do
      if not updateOne(self, o) then return false end
      o = firstChanged(self, o + 1)
   end
   return true
end

--- Returns true if replica 1 is unchanged since the last take.
function Snapshot:isSame(root)
   return self.root == root and not hasCollected(self) and not firstChanged(self, 1)
end

--- Returns the version, or nil if replica 1 has changed since the last take.
function Snapshot:current(root)
   return self:isSame(root) and self.version or nil
end

--- Records the present state of replica 1: all replicas are equal to it.
function Snapshot:take(root)
   if rawequal(root, self) then
      fail 'nn.DataParallelTable: a script replaced its internal fields'
   end
   if self.root ~= root or not update(self) then describe(self, root) end
end

-- Returns true if a field's value can be set on a replica directly.
local function isSetting(key, value)
   local kind, keyKind = type(value), type(key)
   return (keyKind == 'string' or keyKind == 'number')
      and (kind == 'number' or kind == 'string' or kind == 'boolean' or kind == 'function')
end

--- Returns the keys that lead from the network to object o, followed by `key` if it is not nil.
-- @param parents, parentKeys of a snapshot
function Snapshot.path(parents, parentKeys, o, key)
   local path = {key}
   while parents[o] do
      table.insert(path, 1, parentKeys[o])
      o = parents[o]
   end
   return path
end

-- Appends the changes of object o to a list of settings; returns false if settings cannot express
-- them.
local function compare(self, o, list)
   local object, old = self.objects[o], {}
   if (getmetatable(object) or false) ~= metatables[self][o] then return false end
   for n = (self.ends[o - 1] or 0) + 1, self.ends[o] do old[self.keys[n]] = n end
   local names, values, path = exemptOf(object), self.values, nil
   local function note(key, before, after)
      if before ~= nil and not isSetting(key, before) then return false end
      if after ~= nil and not isSetting(key, after) then return false end
      path = path or Snapshot.path(self.parents, self.parentKeys, o)
      list[#list + 1] = {path = path, key = key, value = after}
      return true
   end
   for k, v in next, object do
      local n = old[k]
      old[k] = nil
      local was = n and values[n]
      local same = rawequal(was, v) or was ~= was and v ~= v -- NaN
      if not names[k] and not same then
         if n and was == nil or not note(k, was or (n and was), v) then return false end
      end
   end
   for k, n in next, old do
      if not names[k] and (values[n] == nil or not note(k, values[n], nil)) then return false end
   end
   return true
end

--- Returns the changes that a script has made since the last take.
-- @return nothing if there are none; otherwise true, and a list of settings {path = keys from the
-- network to the table, key, value}, or nil if replicas must be rebuilt
function Snapshot:changes(root)
   if self:isSame(root) then return nil end
   if self.root ~= root then return true, nil end
   local list = {}
   for o = 1, #self.objects do
      if not compare(self, o, list) then return true, nil end
   end
   if #list > 0 then return true, list end
   describe(self, root) -- fields that passes write were added or removed
end

--- Returns the value at a path of keys in the network; nil: none.
function Snapshot.at(network, path)
   local value = network
   for _, key in ipairs(path) do
      value = type(value) == 'table' and rawget(value, key) or nil
   end
   return value
end

--- Sets fields of a replica (run by a dispatcher).
-- @return true if the replica has the tables of these fields
function Snapshot.set(replica, i, settings)
   if i == 1 then return true end
   for _, setting in ipairs(settings) do
      local object = Snapshot.at(replica, setting.path)
      if type(object) ~= 'table' then return false end
      rawset(object, setting.key, setting.value)
   end
   return true
end

-- Returns the name of a field, such as 'modules[2].weight'.
local function nameOf(setting)
   local name = ''
   for i = 1, #setting.path + 1 do
      local key = setting.path[i] or setting.key
      name = name .. (type(key) == 'number' and '[' .. key .. ']' or '.' .. key)
   end
   return (name:gsub('^%.', ''))
end

--- Sets the fields on the other replicas, too. Raises if a function cannot be sent to a replica.
-- @param name of the network's class
-- @return true if they could be set on all replicas
function Snapshot.applySettings(settings, dispatcher, name)
   local ok, results = pcall(dispatcher.run, dispatcher, Snapshot.set, settings)
   if not ok then
      for _, setting in ipairs(settings) do
         local fine, message = pcall(dispatcher.run, dispatcher, Snapshot.set, {setting})
         if not fine then
            fail('%s: %s of replica 1 was set and cannot be set on the other replicas: %s', name,
               nameOf(setting), tostring(message))
         end
      end
      error(results, 0)
   end
   for _, could in ipairs(results) do
      if not could then return false end
   end
   return true
end

return Snapshot
