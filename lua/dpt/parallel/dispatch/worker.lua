--- dpt.parallel.dispatch.worker: the part of dpt.parallel.dispatch.threads that runs in a worker's
-- Lua state, which has one replica.
--
-- Invariant: the replica is a copy of replica 1 on its own device. During each call of the replica,
-- this state has the caller's settings and the device is current.
local cutorch = require 'dpt.device'
local copyTree = require 'dpt.clone'
local settings = require 'dpt.parallel.dispatch.state_settings'
local functions = require 'dpt.parallel.dispatch.replica'

local worker = {}

local replica, number, device -- the replica, its number and its device

-- Prepares a job; snapshot is nil if settings have not changed.
local function prepare(snapshot)
   if snapshot then settings.set(snapshot, number) end
   cutorch.setDevice(device)
end

--- Creates replica i.
-- @param module replica 1, whose tensors are shared with the caller's state
function worker.make(snapshot, i, onDevice, module)
   replica = nil
   functions.collect() -- frees the previous replica first
   number, device = i, onDevice
   prepare(snapshot)
   replica = copyTree(module)
end

--- Calls f(replica, i, ...).
function worker.run(snapshot, f, ...)
   prepare(snapshot)
   return (f(replica, number, ...))
end

return worker
