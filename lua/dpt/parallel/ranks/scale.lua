--- dpt.parallel.ranks.scale: whether modules of a script heed how much a gradient counts.
--
-- Invariant: ranks weigh gradients by the third argument of backward and accGradParameters. A
-- module of a script that ignores it would be wrong and nobody would see it: so the first call that
-- adds something to its gradients is done before by a copy of it, with 0, which must add nothing.
-- Modules have hooks only while a backward pass runs, those of replicas only on replica 1 and only
-- while replicas run (the field `around` of an nn.DataParallelTable), so that no other replica
-- follows them; dpt's own are covered by specs. What a script sets on a module later, the next
-- backward looks at.
local util = require 'jit.util'
local torch = require 'dpt.tensor'
local copyTree = require 'dpt.clone'
local transient = require 'dpt.transient'
local named = require 'dpt.threads.named'
local weights = require 'dpt.parallel.ranks.weights'
local fail = require('dpt.ffi').fail

local scale = {}

local METHODS = {'backward', 'accGradParameters'}

-- The parameters' gradients of a module as a list.
local function gradientsOf(module)
   local _, gradients = module:parameters()
   return gradients or {}
end

-- The networks of devices around modules, by module.
local function tablesOf(network)
   local tables = {}
   for _, module in ipairs(network:listModules()) do
      local isTable = torch.isTypeOf(module, 'nn.DataParallelTable')
      for i, inner in ipairs(isTable and module:listModules() or {}) do
         tables[inner] = i > 1 and module or nil
      end
   end
   return tables
end

-- Whether a function is `function(...) end`, by which scripts freeze a module.
local function isEmpty(method)
   local count = util.funcinfo(method).bytecodes
   return count ~= nil and count <= 2
end

-- The modules with parameters that have such methods of a script's: list of {module, number = which
-- one it is, methods = {name = its field or false}, table = the nn.DataParallelTable that it is in,
-- or nil}.
local function foreign(network, owner)
   local list, tables = {}, tablesOf(network)
   for i, module in ipairs(network:listModules()) do
      local methods, some = {}, #gradientsOf(module) > 0
      for _, name in ipairs(some and METHODS or {}) do
         local method = module[name]
         if not named.isOwn(method) and not isEmpty(method) then
            local info = debug.getinfo(method, 'u')
            if not info.isvararg and info.nparams < 4 then
               fail("%s: module %d, a %s, has a method %s without the argument 'scale' (input,"
                  .. ' gradOutput, scale), by which ranks weigh their gradients (to freeze a'
                  .. ' module: accGradParameters = function() end)', owner, i, torch.type(module),
                  name)
            end
            methods[name] = rawget(module, name) or false
         end
      end
      if next(methods) then
         list[#list + 1] = {module = module, number = i, methods = methods, table = tables[module]}
      end
   end
   return list
end

local function note(self)
   self.list, self.modules, self.fields = foreign(self.network, self.owner), {}, {}
   for i, module in ipairs(self.network:listModules()) do
      self.modules[i] = module
      for _, name in ipairs(METHODS) do
         self.fields[#self.fields + 1] = rawget(module, name) or false
      end
   end
   return self
end

--- Looks at a network's modules, for scale.within.
function scale.look(network, owner)
   return note{network = network, owner = owner}
end

-- Whether a script has set a method of a module since, or removed one.
local function isOther(self)
   local n = 0
   for _, module in ipairs(self.modules) do
      for _, name in ipairs(METHODS) do
         n = n + 1
         if (rawget(module, name) or false) ~= self.fields[n] then return true end
      end
   end
   return false
end

-- How far apart gradients are; NaN if they are not finite.
local function distance(a, b)
   local most = 0
   for i, t in ipairs(a) do
      if t:nElement() > 0 then
         local off = (t - b[i]):abs():max()
         if off ~= off then return off end
         most = math.max(most, off)
      end
   end
   return most
end

-- A copy in the middle of a pass, without the hooks of a backward pass: with what the forward pass
-- left in transient fields (what lies on several devices keeps other things there).
local function copyOf(module, list)
   local own = {}
   for _, one in ipairs(list) do own[one.module] = one.methods end
   local copy = copyTree(module)
   local originals = module:listModules()
   for i, inner in ipairs(copy:listModules()) do
      local original = originals[i]
      for _, name in ipairs(METHODS) do
         rawset(inner, name, own[original] and own[original][name] or nil)
      end
      for name in pairs(original.ownDevices and {} or transient.of(original)) do
         rawset(inner, name, copyTree(rawget(original, name)))
      end
   end
   return copy
end

-- The gradients after a copy's call.
local function try(one, list, factor, name, input, gradOutput)
   local copy = copyOf(one.module, list)
   weights.probing = true
   local ok, message = pcall(copy[name], copy, copyTree(input), copyTree(gradOutput), factor)
   weights.probing = false
   if not ok then error(message, 0) end
   return gradientsOf(copy)
end

-- Whether a call has shown that the module heeds its scale; raises if it does not.
local function heeds(owner, one, list, name, input, gradOutput)
   local before = gradientsOf(one.module)
   if distance(try(one, list, 0, name, input, gradOutput), before) > 0 then
      fail("%s: module %d, a %s, ignores the argument 'scale' of %s(input, gradOutput, scale), by"
         .. ' which ranks weigh their gradients: with 0 it must add nothing to them', owner,
         one.number, torch.type(one.module), name)
   end
   return distance(try(one, list, 1, name, input, gradOutput), before) ~= 0
end

-- Calls f(...) while the modules of the list that are in a network of devices (nil: in none) have
-- hooks.
-- @param passed those that heed their scale
local function hookedIn(parallel, owner, list, passed, f, ...)
   local hooked = {}
   for _, one in ipairs(list) do
      for name in pairs(one.table == parallel and one.methods or {}) do
         local method = one.module[name]
         hooked[#hooked + 1] = {one.module, name, rawget(one.module, name)}
         rawset(one.module, name, function(module, input, gradOutput, ...)
            passed[one] = passed[one] or heeds(owner, one, list, name, input, gradOutput)
            return method(module, input, gradOutput, ...)
         end)
      end
   end
   local results = {pcall(f, ...)}
   for i = #hooked, 1, -1 do rawset(unpack(hooked[i], 1, 3)) end -- a module may stand there twice
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

--- Calls f(...), a backward pass, in which modules are looked at; those that have passed leave the
-- list.
-- @param look what scale.look returned
function scale.within(look, f, ...)
   if isOther(look) then note(look) end
   local owner, list, passed = look.owner, look.list, {}
   if #list == 0 then return f(...) end
   for _, one in ipairs(list) do
      local parallel = one.table
      if parallel then
         parallel.around = function(...) return hookedIn(parallel, owner, list, passed, ...) end
      end
   end
   local results = {pcall(hookedIn, nil, owner, list, passed, f, ...)}
   for _, one in ipairs(list) do
      if one.table then one.table.around = nil end
   end
   for i = #list, 1, -1 do
      if passed[list[i]] then table.remove(list, i) end
   end
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

return scale
