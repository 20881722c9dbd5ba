--- dpt.parallel.dispatch.basic: runs the replicas one after the other from the caller's thread;
-- their devices work asynchronously and so concurrently.
--
-- Invariant: replica 1 is the owner's own module. The others are copies on their devices, made at
-- the first use and again after applyChanges. The current device is the same before and after a
-- call, even if a replica raises. Every replica is run, even after another has raised. The errors
-- of all replicas form one message, each with its replica, its device, the path through the modules
-- and the traceback. No worker is left waiting.
--
-- A dispatcher has setup, get, call, run, setRows, exec, collect, applyChanges, newFor and close.
-- dpt's own work on replicas goes through call and run: they take functions of dpt, which are sent
-- to a thread by name, and values that can be sent to a thread. exec is for users. All of them use
-- `perform`; another dispatcher (dpt.parallel.dispatch.threads) replaces perform, setup, get and
-- close.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local random = require 'dpt.parallel.dispatch.random'
local rendezvous = require 'dpt.parallel.dispatch.rendezvous'
local errors = require 'dpt.parallel.dispatch.errors'
local batchPart = require 'dpt.parallel.dispatch.batch_part'
local replica = require 'dpt.parallel.dispatch.replica'

local dispatchers = {}
local Basic = torch.class('nn.DataParallelTable.Basic', dispatchers)
Basic._internal = true

--- Runs replicas one after the other from the caller's thread; their devices work asynchronously.
-- @param owner has modules[1], gpuAssignments and replicate()
-- @return a dispatcher, which is the owner's field impl
function Basic:__init(owner)
   self.dpt = owner
end

--- Creates a dispatcher of the same class for another owner.
-- @param owner as for the constructor
-- @return a dispatcher
function Basic:newFor(owner)
   return dispatchers.Basic(owner)
end

--- Returns an error of replica i, with the replica and its device.
-- @param i number of the replica
-- @param message error that was raised
-- @return a string
function Basic:inReplica(i, message)
   return errors.inReplica(message, i, self.dpt.gpuAssignments, torch.type(self.dpt))
end

--- Calls f(...) with the device of replica i current, and leaves it current.
-- @param i number of the replica
-- @return true and f's result, or false and the error
function Basic:attempt(i, f, ...)
   local ok, result = xpcall(cutorch.setDevice, errors.handler, self.dpt.gpuAssignments[i])
   if ok then ok, result = xpcall(f, errors.handler, ...) end
   if not ok then result = self:inReplica(i, result) end
   return ok, result
end

-- Runs f(i, ...) for the replicas 1 to count, restores the current device and raises the errors.
local function runAll(self, count, f, ...)
   local before, results, wrong = cutorch.getDevice(), {}, nil
   for i = 1, count do
      local ok, result = self:attempt(i, f, i, ...)
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

local function make(i, owner)
   return i == 1 and owner.modules[1] or owner:replicate()
end

--- Returns the list of the replicas in this state; creates all replicas at the first call.
-- @return a list of modules
function Basic:setup()
   if not self.modules then
      self.modules = runAll(self, #self.dpt.gpuAssignments, make, self.dpt)
   end
   return self.modules
end

--- Returns replica i, or nil if there is none yet.
-- @param i number of the replica
-- @return a module or nil
function Basic:get(i)
   return self.modules and self.modules[i]
end

local function apply(i, modules, f, argumentsOf, ...)
   return f(modules[i], i, argumentsOf(i, ...))
end

--- Calls f(replica, i, argumentsOf(i, ...)) for the first replicas, each on its device.
-- @param count number of replicas
-- @param f a function of dpt
-- @param argumentsOf receives i and `...`, returns f's further arguments
-- @param ... for argumentsOf
-- @return a list of results
function Basic:perform(count, f, argumentsOf, ...)
   return runAll(self, count, apply, self:setup(), f, argumentsOf, ...)
end

--- Sets where in the batch the rows of each replica begin, for the following calls: random numbers
-- depend on it.
-- @param before list: the number of rows before each replica's part, then the total
function Basic:setRows(before)
   self.before = before
end

local function argumentsOfCall(i, passes, method, inputs, others, scale)
   return passes and passes[i], method, inputs[i], others and others[i], scale
end

local function same(_, ...) return ... end

--- Calls a method of the first `count` replicas.
-- @param method name of the method
-- @param count number of replicas
-- @param inputs a list of first arguments
-- @param others a list of second arguments, or nil
-- @param scale third argument, the same for all
-- @param f function that makes the call; nil: replica.call
-- @return a list of results
function Basic:call(method, count, inputs, others, scale, f)
   local passes = self.before and random.passes(self.dpt.gpuAssignments[1], self.before, count)
   if self:usesRendezvous() then
      return rendezvous.run(self, count, f or replica.call, argumentsOfCall, passes, method, inputs,
         others, scale)
   end
   return self:perform(count, f or replica.call, argumentsOfCall, passes, method, inputs, others,
      scale)
end

-- Queries properties of the replicas once after they were created.
local function inspect(self)
   local made = self:setup()
   if self.inspected == made then return end
   self.inspected, self.rendezvousUsed = made, rendezvous.isUsedBy(made[1])
   self.partWanted = #batchPart.modulesOf(made[1]) > 0
end

--- Returns true if replicas exchange values in the middle of passes.
-- @return a boolean
function Basic:usesRendezvous()
   inspect(self)
   return self.rendezvousUsed
end

--- Returns true if some modules need to know their replica's part of the batch.
-- @return a boolean
function Basic:isPartWanted()
   inspect(self)
   return self.partWanted
end

--- Calls f(replica, i, ...) for every replica. Arguments and results must be values that can be
-- sent to a thread: no modules.
-- @param f a function that a file of dpt returns, or a named field of it
-- @param ... values that can be sent to a thread
-- @return a list of results
function Basic:run(f, ...)
   return self:perform(#self.dpt.gpuAssignments, f, same, ...)
end

--- Calls closure(replica, i) for the first `count` replicas (default: all), each on its device. The
-- owner's methods scriptBegins and scriptEnded, if they exist, are called before and after.
-- @param count number of replicas (default: all)
-- @return a list of results
function Basic:exec(closure, count)
   local owner = self.dpt
   if owner.scriptBegins then owner:scriptBegins() end
   local ok, results = pcall(self.perform, self, count or #owner.gpuAssignments, replica.apply,
      same, closure)
   if owner.scriptEnded then owner:scriptEnded() end
   if not ok then error(results, 0) end
   return results
end

--- Releases memory held only by Lua states that a script cannot access: here there are none.
function Basic:collect()
end

--- Drops the copies; they are made from replica 1 again at the next use.
function Basic:applyChanges()
   self.modules = nil
end

--- Ends the workers, if there are any; replicas are created again at the next use.
function Basic:close()
   self.modules = nil
end

return dispatchers.Basic
