--- dpt.parallel.params.tracker: finds the gradients of a replica that a backward pass has
-- completed.
--
-- Invariant: this file runs in the Lua state of the replica. A tracker has the modules of a replica
-- that own gradients (`modules`, weak: it must not keep them alive), how many calls of each fill
-- its gradients (`expected`, by method), and the events of the running pass. A container also owns
-- the gradients of its inner modules unless it is known not to write to them
-- (dpt.parallel.params.gradient_writers): their buckets wait until it returns. Modules have hooks
-- only while a backward pass runs, so files and clones never contain them.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local random = require 'dpt.parallel.dispatch.random'
local errors = require 'dpt.parallel.dispatch.errors'
local writers = require 'dpt.parallel.params.gradient_writers'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail

local tracking = {}

local trackers = setmetatable({}, {__mode = 'k'}) -- by replica

--- Functions that are called when a bucket has become ready on its first replica, by the address of
-- a reducer of this Lua state.
tracking.listeners = {}

local HOOKED = {'backward', 'accGradParameters'}

-- Returns the number of writes to the gradients; overlapped sums count only when they end.
local function countWrites(tracker)
   local sum = 0
   for _, t in ipairs(tracker.gradients) do sum = sum + core.writes(t) end
   return sum
end

-- Detects writes outside of calls of the modules that own the gradients.
local function verify(tracker)
   if countWrites(tracker) == tracker.lastWrites then return end
   tracker.wroteOutside = true
   tracker.wroteLate = tracker.wroteLate or tracker.anyReady
end

-- Raises if bucket b was sent to other processes: nothing can be added to it.
local function checkSent(tracker, k, b)
   if C.dpt_reducer_state(tracker.reducer, b - 1) ~= C.DPT_BUCKET_SENT then return end
   local sizes = {}
   for i, t in ipairs(tracker.modules[k]:parameters() or {}) do
      sizes[i] = table.concat(t:size():totable(), 'x')
   end
   fail('overlap: %s with parameters %s is called %d times in this pass, %d in those before, after'
      .. ' its gradients were sent to other ranks; overlap = false sends them after the pass',
      torch.type(tracker.modules[k]), table.concat(sizes, ', '), tracker.calls[k] + 1,
      tracker.expectedCalls[k])
end

-- Begins a call of module k; it may be one more than in any earlier pass.
local function enter(tracker, k)
   if tracker.inside == 0 then verify(tracker) end
   tracker.inside = tracker.inside + 1
   local depth = tracker.depth[k]
   tracker.depth[k] = depth + 1
   if depth > 0 or tracker.calls[k] < tracker.expectedCalls[k] then return end
   for _, b in ipairs(tracker.buckets[k]) do
      if tracker.expectedCalls[k] > 0 then
         checkSent(tracker, k, b)
         lib.reducer_invalidate(tracker.reducer, tracker.replica, b - 1)
         -- the container may do anything to gradients whose sum may have begun
         tracker.wroteLate = tracker.wroteLate or tracker.isContainer[k] and tracker.missing[b] == 0
      end
      tracker.missing[b] = math.huge
   end
end

-- Ends a call of module k; its last call may complete its buckets.
local function leave(tracker, k, ...)
   tracker.inside = tracker.inside - 1
   if tracker.inside == 0 then tracker.lastWrites = countWrites(tracker) end
   local depth = tracker.depth[k] - 1
   tracker.depth[k] = depth
   if depth > 0 then return ... end
   local calls = tracker.calls[k] + 1
   tracker.calls[k], tracker.returned = calls, tracker.returned + 1
   tracker.returnedAt[k] = tracker.returned
   if calls == tracker.expectedCalls[k] then
      for _, b in ipairs(tracker.buckets[k]) do
         local missing = tracker.missing[b] - 1
         tracker.missing[b] = missing
         if missing == 0 then
            tracker.anyReady = true
            lib.reducer_bucket_ready(tracker.reducer, tracker.replica, b - 1)
            local listener = tracker.replica == 0 and tracking.listeners[tracker.address]
            if listener then listener() end
         end
      end
   end
   return ...
end

local function hook(tracker, k, name)
   return function(module, ...)
      enter(tracker, k)
      return leave(tracker, k, tracker.original[name][k](module, ...))
   end
end

-- Adds a module that owns gradients to a tracker; byKey: the bucket of each gradient.
local function observe(tracker, module, byKey)
   local list, had, keys = {}, {}, writers.gradientsWrittenBy(module)
   for key in pairs(keys) do
      local b = byKey[key]
      if not b then tracker.isUnsupported = true end
      if b and not had[b] then
         had[b] = true
         list[#list + 1] = b
      end
   end
   if #list == 0 then return end
   local k = #tracker.buckets + 1
   tracker.buckets[k], tracker.modules[k], tracker.keys[k] = list, module, keys
   tracker.isContainer[k] = #(module.modules or {}) > 0
   for _, b in ipairs(list) do tracker.writers[b] = tracker.writers[b] + 1 end
   for _, name in ipairs(HOOKED) do tracker.hooks[name][k] = hook(tracker, k, name) end
end

--- Makes a replica mark the buckets of a reducer (run by a dispatcher).
-- @param address of the reducer, which its owner keeps alive
-- @param bucketOf list: the bucket of each parameter; 0: none
-- @param count number of buckets
function tracking.track(replica, i, address, bucketOf, count)
   local tracker = {
      reducer = ffi.cast('dpt_reducer *', ffi.cast('uintptr_t', address)), replica = i - 1,
      modules = setmetatable({}, {__mode = 'v'}), buckets = {}, writers = {}, expected = {},
      isContainer = {}, leavingContainers = setmetatable({}, {__mode = 'v'}), address = address,
      bucketOf = bucketOf, hooks = {}, original = {}, shadowed = {}, gradients = {}, keys = {},
      returnedAt = {}, gradientKeys = {},
   }
   for b = 1, count do tracker.writers[b] = 0 end
   for _, name in ipairs(HOOKED) do
      tracker.hooks[name], tracker.original[name], tracker.shadowed[name] = {}, {}, {}
   end
   local byKey, storages, seen = {}, {}, {}
   local tensors, gradients = replica:parameters()
   for k = 1, #tensors do
      local t = gradients[k]
      if not t then
         tracker.isUnsupported = true
         break
      end
      tracker.gradientKeys[k] = writers.keyOf(t)
      if bucketOf[k] > 0 then byKey[writers.keyOf(t)] = bucketOf[k] end
      if t:nElement() > 0 and not storages[comm.address(t)] then
         storages[comm.address(t)] = true
         table.insert(tracker.gradients, t)
      elseif t:nElement() == 0 then
         byKey[writers.keyOf(t)] = byKey[writers.keyOf(t)] or 1 -- nothing to wait for
      end
   end
   for _, module in ipairs(replica:listModules()) do
      if not seen[module] then
         seen[module] = true
         observe(tracker, module, byKey)
         if #(module.modules or {}) > 0 and writers.leavesInnerGradients(module) then
            table.insert(tracker.leavingContainers, module)
         end
      end
   end
   tracker.containers = #tracker.leavingContainers
   trackers[replica] = not tracker.isUnsupported and tracker or nil
end

-- Returns the tracker of a replica. Rebuilds it if a container that did not write to inner
-- gradients now may.
local function trackerOf(replica, i)
   local tracker = trackers[replica]
   for k = 1, tracker and tracker.containers or 0 do
      local module = tracker.leavingContainers[k]
      if module and not writers.leavesInnerGradients(module) then
         tracking.track(replica, i, tracker.address, tracker.bucketOf, #tracker.writers)
         return trackers[replica]
      end
   end
   return tracker
end

local function start(tracker, method)
   local expected = tracker.expected[method] or {}
   tracker.expected[method], tracker.expectedCalls = expected, expected
   tracker.calls, tracker.depth, tracker.missing, tracker.inside = {}, {}, {}, 0
   tracker.anyReady, tracker.wroteLate, tracker.wroteOutside = false, false, false
   tracker.returned = 0
   for b, count in ipairs(tracker.writers) do tracker.missing[b] = count end
   tracker.lastWrites = countWrites(tracker)
   for k in ipairs(tracker.buckets) do
      tracker.calls[k], tracker.depth[k], expected[k] = 0, 0, expected[k] or 0
      local module = tracker.modules[k]
      for _, name in ipairs(HOOKED) do
         tracker.shadowed[name][k], tracker.original[name][k] = rawget(module, name), module[name]
         rawset(module, name, tracker.hooks[name][k])
      end
   end
end

-- Removes the hooks and learns from a pass that succeeded.
local function stop(tracker, ok)
   local expected = tracker.expectedCalls
   for k in ipairs(tracker.buckets) do
      local module = tracker.modules[k]
      for _, name in ipairs(HOOKED) do
         rawset(module, name, tracker.shadowed[name][k])
         tracker.shadowed[name][k], tracker.original[name][k] = nil, nil
      end
      if ok then expected[k] = math.max(expected[k], tracker.calls[k]) end
   end
   verify(tracker)
end

--- Returns a list with the time at which each parameter's gradient was complete in the last pass
-- (0: the pass did not reach it); nil without a tracker (run by a dispatcher).
function tracking.order(replica)
   local tracker, times, list = trackers[replica], {}, {}
   if not tracker then return nil end
   for k, time in pairs(tracker.returnedAt) do
      for key in pairs(tracker.keys[k]) do times[key] = math.max(times[key] or 0, time) end
   end
   for i, key in ipairs(tracker.gradientKeys) do list[i] = times[key] or 0 end
   return list
end

--- Calls a method of a replica that adds to its gradients (run by a dispatcher). Raises if
-- gradients were written to after their sum may have begun: the write may have been too late.
-- @param pass of dpt.parallel.dispatch.random
function tracking.call(replica, i, pass, method, input, other, scale)
   local tracker = trackerOf(replica, i)
   if not tracker then
      return random.within(pass, replica[method], replica, input, other, scale)
   end
   start(tracker, method)
   local ok, result = xpcall(random.within, errors.handler, pass, replica[method], replica, input,
      other, scale)
   stop(tracker, ok)
   if tracker.wroteOutside or tracker.wroteLate then trackers[replica] = nil end
   if not ok then error(result, 0) end
   if tracker.wroteLate then
      fail('overlap: gradients were written to after their sum over the devices had begun, by code'
         .. ' outside of their module and its containers; call zeroGradParameters() and repeat this'
         .. ' step, sums begin after the pass from now on (as with net.overlap = false)')
   end
   return result
end

return tracking
