--- dpt.parallel.basic: runs the replicas one after the other from the caller's thread; they work at
-- once because devices work by themselves.
--
-- What must stay true: replica 1 is the owner's own module, the others are copies on their devices,
-- made at the first use and anew after applyChanges; the current device is the same before and after
-- a call, also when a replica raises; an error tells the replica and its device and keeps the way
-- through the modules and the traceback; nobody is left waiting.
--
-- A dispatcher has setup, call, exec, applyChanges and close; call takes the name of a method and
-- lists of arguments, so that a dispatcher may send them to a thread.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'

local Basic = torch.class('nn.DataParallelTable.Basic', {})

--- @param owner has modules[1], gpuAssignments and replicate(): a copy of modules[1] on the
-- current device
function Basic:__init(owner)
   self.dpt = owner
end

local function handler(message)
   if type(message) ~= 'string' or message:find('\nstack traceback:', 1, true) then
      return message
   end
   return debug.traceback(message, 2)
end

-- Calls f with the replica's device current; f's result, or false and the error with its place.
local function onDevice(self, i, f, ...)
   local devices = self.dpt.gpuAssignments
   local ok, result = xpcall(cutorch.setDevice, handler, devices[i])
   if ok then ok, result = xpcall(f, handler, ...) end
   if not ok and type(result) == 'string' then
      result = ('In replica %d of %d on device %d of %s:\n%s'):format(i, #devices, devices[i],
         torch.type(self.dpt), result)
   end
   return ok, result
end

-- Runs f(i) for the replicas 1 to count; the first error ends it, with the device put back.
local function each(self, count, f, a, b, c, d)
   local before, results = cutorch.getDevice(), {}
   for i = 1, count do
      local ok, result = onDevice(self, i, f, i, a, b, c, d)
      if not ok then
         cutorch.setDevice(before)
         error(result, 0)
      end
      results[i] = result
   end
   cutorch.setDevice(before)
   return results
end

local function makeReplica(i, self, modules)
   modules[i] = i == 1 and self.dpt.modules[1] or self.dpt:replicate()
end

--- The list of the replicas; makes them where that has not been done.
function Basic:setup()
   if not self.modules then
      local modules = {}
      each(self, #self.dpt.gpuAssignments, makeReplica, self, modules)
      self.modules = modules
   end
   return self.modules
end

local function callMethod(i, modules, method, inputs, others)
   local module = modules[i]
   return module[method](module, inputs[i], others and others[i], others and others.scale)
end

--- Calls a method of the first `count` replicas.
-- @param method its name
-- @param count how many replicas
-- @param inputs list with the first argument of each
-- @param others list with the second argument of each, or nil; others.scale is the third of all
-- @return list of results
function Basic:call(method, count, inputs, others)
   return each(self, count, callMethod, self:setup(), method, inputs, others)
end

local function callClosure(i, modules, closure)
   return closure(modules[i], i)
end

--- Calls closure(replica, i) for the first `count` replicas (all), each with its device current.
-- @return list of results
function Basic:exec(closure, count)
   return each(self, count or #self.dpt.gpuAssignments, callClosure, self:setup(), closure)
end

--- Lets the copies be made anew from replica 1 at the next use.
function Basic:applyChanges()
   self.modules = nil
end

function Basic:close()
   self.modules = nil
end

--- The fields that a copy or a file keeps: the replicas are made again from the first.
function Basic:__fields()
   return {dpt = self.dpt}
end

return Basic
