--- dpt.parallel.snapshot: what replica 1 was when the last pass ended, and what a script has
-- changed since.
--
-- Invariant: a snapshot has every field of replica 1's modules and of the plain tables in them, in
-- the order in which next gives them. It is taken when replicas are made and whenever dpt itself
-- has changed all of them alike, above all at the end of each pass; so a difference is the work of
-- a script and never of a module. Fields that a pass makes anew (output, gradInput and what the
-- class lists as transient) do not count, nor does what tensors hold: parameters and running
-- statistics have their own ways to the replicas. Comparing and taking allocate nothing as long as
-- no table was added or removed.
local class = require 'dpt.class'
local transient = require 'dpt.transient'
local fail = require('dpt.ffi').fail
local torch, getmetatable, next, rawequal, type = class.torch, getmetatable, next, rawequal, type

local Snapshot = {}
Snapshot.__index = Snapshot

--- Nothing known yet: replica 1 then differs from it. The field version grows whenever a take finds
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

-- Adds an object and what is inside to the lists.
local function add(self, object, parent, key, seen)
   local o, inside = #self.objects + 1, {}
   self.objects[o], self.metas[o] = object, getmetatable(object) or false
   self.parents[o], self.places[o] = parent, key
   local names, n = exemptOf(object), self.count
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
   for _, k in ipairs(inside) do add(self, object[k], o, k, seen) end
end

local function describe(self, root)
   for _, name in ipairs{'objects', 'metas', 'parents', 'places', 'ends', 'keys', 'passing',
      'inside'} do
      self[name] = {}
   end
   self.values = setmetatable({}, {__mode = 'v'}) -- a field that was dropped is not kept alive
   self.root, self.count, self.version = root, 0, self.version + 1
   add(self, root, nil, nil, {[root] = true})
end

-- Takes new values where the tables are the same ones; whether they are.
local function update(self)
   local objects, metas, ends, keys = self.objects, self.metas, self.ends, self.keys
   local values, passing, inside, n = self.values, self.passing, self.inside, 0
   for o = 1, #objects do
      local object = objects[o]
      for k, v in next, object do
         n = n + 1
         if not rawequal(keys[n], k) then return false end
         if not rawequal(values[n], v) then
            if not passing[n] then
               if inside[n] or type(v) == 'table' then return false end
               self.version = self.version + 1
            end
            values[n] = v
         end
      end
      if n ~= ends[o] or (getmetatable(object) or false) ~= metas[o] then return false end
   end
   return true
end

-- Whether every field is what it was.
local function isSame(self)
   local objects, metas, ends, keys = self.objects, self.metas, self.ends, self.keys
   local values, n = self.values, 0
   for o = 1, #objects do
      local object = objects[o]
      for k, v in next, object do
         n = n + 1
         if not rawequal(keys[n], k) or not rawequal(values[n], v) then return false end
      end
      if n ~= ends[o] or (getmetatable(object) or false) ~= metas[o] then return false end
   end
   return true
end

--- The version, or nil where replica 1 is not what it was at the last take.
function Snapshot:current(root)
   return self.root == root and isSame(self) and self.version or nil
end

--- Replica 1 as it is now is what the replicas are.
function Snapshot:take(root)
   if self.root ~= root or not update(self) then describe(self, root) end
end

-- Whether a field's value can be set on a replica as it is.
local function isSetting(key, value)
   local kind, keyKind = type(value), type(key)
   return (keyKind == 'string' or keyKind == 'number')
      and (kind == 'number' or kind == 'string' or kind == 'boolean' or kind == 'function')
end

local function pathOf(self, o)
   local path = {}
   while self.parents[o] do
      table.insert(path, 1, self.places[o])
      o = self.parents[o]
   end
   return path
end

-- Appends what has changed in object o to a list of settings; false: not a matter of settings.
local function compare(self, o, list)
   local object, old = self.objects[o], {}
   if (getmetatable(object) or false) ~= self.metas[o] then return false end
   for n = (self.ends[o - 1] or 0) + 1, self.ends[o] do old[self.keys[n]] = n end
   local names, values, path = exemptOf(object), self.values, nil
   local function note(key, before, after)
      if before ~= nil and not isSetting(key, before) then return false end
      if after ~= nil and not isSetting(key, after) then return false end
      path = path or pathOf(self, o)
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
-- @return nothing where it has changed nothing; else true, and a list of settings {path = keys from
-- the network to the table, key, value}, or nil where replicas must be made anew
function Snapshot:changes(root)
   if self.root == root and isSame(self) then return nil end
   if self.root ~= root then return true, nil end
   local list = {}
   for o = 1, #self.objects do
      if not compare(self, o, list) then return true, nil end
   end
   if #list == 0 then return nil end
   return true, list
end

--- Sets fields of a replica (run by a dispatcher).
-- @return whether the replica has the tables that they are in
function Snapshot.set(replica, i, settings)
   if i == 1 then return true end
   for _, setting in ipairs(settings) do
      local object = replica
      for _, key in ipairs(setting.path) do
         object = type(object) == 'table' and rawget(object, key) or nil
      end
      if type(object) ~= 'table' then return false end
      rawset(object, setting.key, setting.value)
   end
   return true
end

-- A field as in 'modules[2].weight'.
local function nameOf(setting)
   local name = ''
   for _, key in ipairs(setting.path) do
      name = name .. (type(key) == 'number' and '[' .. key .. ']' or '.' .. key)
   end
   local key = setting.key
   name = name .. (type(key) == 'number' and '[' .. key .. ']' or '.' .. key)
   return (name:gsub('^%.', ''))
end

--- Lets the replicas have settings, too. A function that cannot be sent to a replica raises.
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
