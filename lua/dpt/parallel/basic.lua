--- dpt.parallel.basic: runs the replicas one after the other from the caller's thread; they work at
-- once because devices work by themselves.
--
-- What must stay true: replica 1 is the owner's own module, the others are copies on their devices,
-- made at the first use and anew after applyChanges; the current device is the same before and
-- after a call, also when a replica raises; every replica is run, also after one has raised, and
-- the errors of all of them make one message, each with its replica, its device, the way through
-- the modules and the traceback; nobody is left waiting.
--
-- A dispatcher has setup, call, run, tellRows, exec, applyChanges and close. call and run take
-- names and values that can be sent to a thread; what dpt does on replicas goes through them. exec
-- is for users.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local errors = require 'dpt.parallel.errors'

local dispatchers = {}
local Basic = torch.class('nn.DataParallelTable.Basic', dispatchers)

--- @param owner has modules[1], gpuAssignments and replicate(): a copy of modules[1] on the
-- current device
function Basic:__init(owner)
   self.dpt = owner
end

-- Calls f with the replica's device current; f's result, or false and the error with its place.
local function onDevice(self, i, f, ...)
   local devices = self.dpt.gpuAssignments
   local ok, result = xpcall(cutorch.setDevice, errors.handler, devices[i])
   if ok then ok, result = xpcall(f, errors.handler, ...) end
   if not ok then result = errors.place(result, i, devices, torch.type(self.dpt)) end
   return ok, result
end

-- Runs f(i) for the replicas 1 to count, puts the device back and raises what went wrong.
local function each(self, count, f, ...)
   local before, results, wrong = cutorch.getDevice(), {}, nil
   for i = 1, count do
      local ok, result = onDevice(self, i, f, i, ...)
      if ok then
         results[i] = result
      else
         wrong = wrong or {}
         wrong[#wrong + 1] = result
      end
   end
   cutorch.setDevice(before)
   if wrong then errors.raise(wrong) end
   return results
end

local function makeReplica(i, self, modules, drawing)
   modules[i] = i == 1 and self.dpt.modules[1] or self.dpt:replicate()
   drawing[i] = {}
   -- a criterion has no list
   for _, module in ipairs(modules[i].listModules and modules[i]:listModules() or {}) do
      if module.rowOffset_ then table.insert(drawing[i], module) end
   end
end

--- The list of the replicas; makes them where that has not been done.
function Basic:setup()
   if not self.modules then
      local modules, drawing = {}, {}
      each(self, #self.dpt.gpuAssignments, makeReplica, self, modules, drawing)
      self.modules, self.drawing = modules, drawing
   end
   return self.modules
end

--- Tells modules that draw by row (they have a field rowOffset_) where in the batch their replica's
-- rows begin; what they draw is then what one device would.
-- @param before list of the rows before each replica's first
function Basic:tellRows(before)
   local first = self.drawing[1]
   for i, modules in ipairs(self.drawing) do
      for k, module in ipairs(modules) do
         module.rowOffset_ = before[i]
         module.dropoutStep_ = first[k].dropoutStep_
      end
   end
end

local function callMethod(i, modules, f, method, inputs, others, scale)
   return f(modules[i], i, method, inputs[i], others and others[i], scale)
end

--- Calls a method of the first `count` replicas.
-- @param method its name
-- @param count how many replicas
-- @param inputs list with the first argument of each
-- @param others list with the second argument of each, or nil
-- @param scale the third argument of all
-- @param file which file of dpt.parallel has the function `call` that does it ('replica')
-- @return list of results
function Basic:call(method, count, inputs, others, scale, file)
   local f = require('dpt.parallel.' .. (file or 'replica')).call
   return each(self, count, callMethod, self:setup(), f, method, inputs, others, scale)
end

local function callFunction(i, modules, f, ...)
   return f(modules[i], i, ...)
end

--- Calls require('dpt.parallel.' .. file)[name](replica, i, ...) for every replica, each with its
-- device current. Arguments and results are values that can be sent to a thread: no functions, no
-- modules.
-- @return list of results
function Basic:run(file, name, ...)
   return each(self, #self.dpt.gpuAssignments, callFunction, self:setup(),
      require('dpt.parallel.' .. file)[name], ...)
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

return dispatchers.Basic
