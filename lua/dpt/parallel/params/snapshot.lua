--- dpt.parallel.params.snapshot: what replica 1 was when the last pass ended, and what a script has
-- changed since.
--
-- Invariant: a snapshot has every field of replica 1's modules and of the plain tables in them, in
-- the order in which next returns them. It is taken when replicas are made and whenever dpt itself
-- has changed all of them alike, above all at the end of each pass; so a difference is the work of
-- a script and never of a module. Fields that a pass makes anew (output, gradInput and what the
-- class lists as transient) do not count, nor does what tensors hold: parameters, running
-- statistics and other tensors (dpt.parallel.params.constants) have their own ways to the replicas.
-- Comparing and taking allocate nothing as long as no table was added or removed. All objects are
-- compared several times in each step: the fields of tables of one form are compared by one
-- generated function, which LuaJIT compiles for their types.
local torch, dptffi = require('dpt.class').torch, require 'dpt.ffi'
local transient = require 'dpt.transient'
local fail, type = dptffi.fail, dptffi.type
local getmetatable, next, rawequal = getmetatable, next, rawequal

local Snapshot = {}
Snapshot.__index = Snapshot

-- By snapshot: its objects' metatables. As fields dpnn's getParameters took them for modules.
local metatables = setmetatable({}, {__mode = 'k'})

--- An empty snapshot, from which replica 1 differs. The field version grows whenever a take finds
-- other values than the one before.
function Snapshot.new()
   return setmetatable({version = 0}, Snapshot)
end

local plain = {} -- nothing is exempt in a plain table
local exempt = setmetatable({}, {__mode = 'k'}) -- by class: its fields that do not count

local function exemptOf(object)
   local meta = getmetatable(object)
   if meta == nil then return plain end
   if not exempt[meta] then
      local names = {output = true, gradInput = true}
      for name in next, transient.of(object) do names[name] = true end
      exempt[meta] = names
   end
   return exempt[meta]
end

-- Whether a value is compared field by field: a module or a table without a metatable.
local function isInside(value)
   if type(value) ~= 'table' then return false end
   if getmetatable(value) == nil then return true end
   return (torch.isTypeOf(value, 'nn.Module') or torch.isTypeOf(value, 'nn.Criterion'))
      and not value.ownDevices
end

-- Whether the values of a table's fields are what they were: functions (table, values, n before its
-- first value) by the text that they are made of.
local forms = setmetatable({}, {__mode = 'v'})
local LONGEST = 32 -- fields that are compared without a loop

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

-- The function for the table that has the fields from `first` to `last`.
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

-- Adds an object and what is inside to the lists.
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
   -- A field that was dropped is not kept alive; value 0 says that the collector has been here.
   self.values = setmetatable({[0] = {}}, {__mode = 'v'})
   self.root, self.count, self.version = root, 0, self.version + 1
   add(self, root, nil, nil, {[root] = true})
end

-- Whether a value that counts was dropped and collected.
local function hasLost(self)
   local values, passing = self.values, self.passing
   if values[0] then return false end
   for n = 1, self.count do
      if values[n] == nil and not passing[n] then return true end
   end
   values[0] = {}
   return false
end

-- The first object from `o` that is not what it was if no value was lost; nil: all are.
local function firstOther(self, o)
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

-- Takes the new values of object o if it has the same fields with the same tables in them.
-- Returns whether it has.
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

-- Takes the new values if no table was added, removed or replaced. Returns whether that is so.
local function update(self)
   if hasLost(self) then return false end
   local o = firstOther(self, 1)
   while o do
      if not updateOne(self, o) then return false end
      o = firstOther(self, o + 1)
   end
   return true
end

--- Returns true if replica 1 is unchanged since the last take.
function Snapshot:isSame(root)
   return self.root == root and not hasLost(self) and not firstOther(self, 1)
end

--- Returns the version, or nil if replica 1 has changed since the last take.
function Snapshot:current(root)
   return self:isSame(root) and self.version or nil
end

--- Records replica 1 as it is now: all replicas are equal to that.
function Snapshot:take(root)
   if self.root ~= root or not update(self) then describe(self, root) end
end

-- Whether a field's value can be set on a replica as it is.
local function isSetting(key, value)
   local kind, keyKind = type(value), type(key)
   return (keyKind == 'string' or keyKind == 'number')
      and (kind == 'number' or kind == 'string' or kind == 'boolean' or kind == 'function')
end

--- The keys that lead from the network to object o, and `key` behind them if there is one.
-- @param parents, parentKeys of a snapshot
function Snapshot.path(parents, parentKeys, o, key)
   local path = {key}
   while parents[o] do
      table.insert(path, 1, parentKeys[o])
      o = parents[o]
   end
   return path
end

-- Appends what has changed in object o to a list of settings; false: not a matter of settings.
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

--- What a script has changed since the last take.
-- @return nothing if it has changed nothing; else true, and a list of settings {path = keys from
-- the network to the table, key, value}, or nil if replicas must be made anew
function Snapshot:changes(root)
   if self:isSame(root) then return nil end
   if self.root ~= root then return true, nil end
   local list = {}
   for o = 1, #self.objects do
      if not compare(self, o, list) then return true, nil end
   end
   if #list > 0 then return true, list end
   describe(self, root) -- what passes came or went
end

--- What the keys of a path lead to from the network; nil: nothing.
function Snapshot.at(network, path)
   local value = network
   for _, key in ipairs(path) do
      value = type(value) == 'table' and rawget(value, key) or nil
   end
   return value
end

--- Sets fields of a replica (run by a dispatcher).
-- @return whether the replica has the tables that they are in
function Snapshot.set(replica, i, settings)
   if i == 1 then return true end
   for _, setting in ipairs(settings) do
      local object = Snapshot.at(replica, setting.path)
      if type(object) ~= 'table' then return false end
      rawset(object, setting.key, setting.value)
   end
   return true
end

-- A field as in 'modules[2].weight'.
local function nameOf(setting)
   local name = ''
   for i = 1, #setting.path + 1 do
      local key = setting.path[i] or setting.key
      name = name .. (type(key) == 'number' and '[' .. key .. ']' or '.' .. key)
   end
   return (name:gsub('^%.', ''))
end

--- Sets the fields on the other replicas, too. A function that cannot be sent to a replica raises.
-- @param name of the network's class
-- @return whether all replicas could take them
function Snapshot.carry(settings, dispatcher, name)
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
