--- dpt.parallel.params.overlap: reduces gradients in buckets while the backward pass goes on.
--
-- Invariant: the flat gradients are cut into buckets of whole parameters, the last parameters
-- first. A bucket's sum begins when all modules that may write to it have returned, on every
-- replica, as known from the backward passes before; what is not done early is done at the end.
-- Each replica learns for itself which modules fill a bucket, and in how many calls. A container
-- that is not known to leave the gradients of the modules in it alone owns them, so that one that
-- begins to clip, scale or freeze them is in time. Every pass is verified by the write counters of
-- the gradients: a write from elsewhere lets the replica's buckets wait for the end from then on,
-- and if a sum may have begun the pass raises. Modules have hooks only while a backward pass runs,
-- so files and clones never contain them. Every element is summed in the order of comm.reduceInto:
-- the bits are the same.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local lists = require 'dpt.comm.lists'
local random = require 'dpt.parallel.dispatch.random'
local errors = require 'dpt.parallel.dispatch.errors'
local buckets = require 'dpt.parallel.params.buckets'
local owners = require 'dpt.parallel.params.owners'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail

local Overlap = {}
Overlap.__index = Overlap

-- Whether there is something to add up, in tensors that can be cut.
local function isFlat(plan, flat)
   local some = false
   for h = 2, #plan, 2 do
      local gradient = flat[1][h]
      if plan[h].total > 0 then
         if not gradient or gradient:dim() ~= 1 or not gradient:isContiguous() then return false end
         some = true
      end
   end
   return some and #flat > 1
end

--- The reducer of all replicas' flat gradients.
-- @param plan what layout.flattenReplica takes
-- @param flat flat[i][h] is replica i's flat tensor for plan[h]
-- @param count how many parameters there are
-- @param dispatcher what runs the replicas
-- @return nil if there is nothing to add up, or replica 1's gradients are not flat
function Overlap.new(plan, flat, count, dispatcher)
   if not isFlat(plan, flat) then return nil end
   local list, bucketOf = buckets.cut(plan, flat[1], count)
   if #list == 1 then return nil end -- it would begin when all is over
   local counts, tensors = ffi.new('int64_t[?]', #list), {}
   for b, bucket in ipairs(list) do
      counts[b - 1] = #bucket
      for i = 1, #flat do
         for _, run in ipairs(bucket) do
            tensors[#tensors + 1] = flat[i][run.half]:narrow(1, run.first, run.last - run.first + 1)
         end
      end
   end
   local out = ffi.new('dpt_reducer *[1]')
   lib.reducer_new(out, #list, counts, #flat, lists.pointers(tensors, #tensors))
   core.hold(tensors)
   local reducer = ffi.gc(out[0], C.dpt_reducer_free)
   local address = tonumber(ffi.cast('uintptr_t', reducer))
   dispatcher:run(Overlap.track, address, bucketOf, #list)
   return setmetatable({reducer = reducer}, Overlap)
end

--- Begins a backward pass of the first `used` replicas.
function Overlap:begin(used)
   lib.reducer_begin(self.reducer, used)
end

--- Queues what is left to sum and lets the devices wait for it.
function Overlap:finish()
   lib.reducer_finish(self.reducer)
end

--- Ends a backward pass that failed.
function Overlap:cancel()
   lib.reducer_cancel(self.reducer)
end

-- What follows runs where a replica lives. A tracker knows the modules of a replica that own
-- gradients (`modules`, weak: it shall not keep them), how many calls of each fill its gradients
-- (`expected`, by method), and what has happened in the pass that runs. A container that is
-- not known to leave the gradients of the modules in it alone owns those as well
-- (dpt.parallel.params.owners): their buckets wait until it returns.
local trackers = setmetatable({}, {__mode = 'k'}) -- by replica

local HOOKED = {'backward', 'accGradParameters'}

-- How often something has written to the gradients; the running sums do not count before their end.
local function writes(tracker)
   local sum = 0
   for _, t in ipairs(tracker.gradients) do
      sum = sum + tonumber(C.dpt_storage_writes(t.storage_))
   end
   return sum
end

-- Finds writes outside of the calls of those that own the gradients.
local function verify(tracker)
   if writes(tracker) == tracker.last then return end
   tracker.loose = true
   tracker.late = tracker.late or tracker.marked
end

-- A module is called from outside, perhaps more often than ever before.
local function enter(tracker, k)
   if tracker.inside == 0 then verify(tracker) end
   tracker.inside = tracker.inside + 1
   local depth = tracker.depth[k]
   tracker.depth[k] = depth + 1
   if depth > 0 or tracker.calls[k] < tracker.wanted[k] then return end
   for _, b in ipairs(tracker.buckets[k]) do
      if tracker.wanted[k] > 0 then
         lib.reducer_invalidate(tracker.reducer, tracker.replica, b - 1)
         -- it may do anything to gradients whose sum may have begun
         tracker.late = tracker.late or tracker.holds[k] and tracker.missing[b] == 0
      end
      tracker.missing[b] = math.huge
   end
end

-- It returns: with its last call its buckets may be full.
local function leave(tracker, k, ...)
   tracker.inside = tracker.inside - 1
   if tracker.inside == 0 then tracker.last = writes(tracker) end
   local depth = tracker.depth[k] - 1
   tracker.depth[k] = depth
   if depth > 0 then return ... end
   local calls = tracker.calls[k] + 1
   tracker.calls[k] = calls
   if calls == tracker.wanted[k] then
      for _, b in ipairs(tracker.buckets[k]) do
         local missing = tracker.missing[b] - 1
         tracker.missing[b] = missing
         if missing == 0 then
            tracker.marked = true
            lib.reducer_bucket_ready(tracker.reducer, tracker.replica, b - 1)
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
   local list, had = {}, {}
   for key in pairs(owners.gradientsOf(module)) do
      local b = byKey[key]
      if not b then tracker.unfit = true end
      if b and not had[b] then
         had[b] = true
         list[#list + 1] = b
      end
   end
   if #list == 0 then return end
   local k = #tracker.buckets + 1
   tracker.buckets[k], tracker.modules[k] = list, module
   tracker.holds[k] = #(module.modules or {}) > 0
   for _, b in ipairs(list) do tracker.owners[b] = tracker.owners[b] + 1 end
   for _, name in ipairs(HOOKED) do tracker.hooks[name][k] = hook(tracker, k, name) end
end

--- Lets a replica mark the buckets of a reducer (run by a dispatcher).
-- @param address of the reducer, which its owner keeps
-- @param bucketOf in which bucket each parameter is; 0: in none
-- @param count how many buckets there are
function Overlap.track(replica, i, address, bucketOf, count)
   local tracker = {
      reducer = ffi.cast('dpt_reducer *', ffi.cast('uintptr_t', address)), replica = i - 1,
      modules = setmetatable({}, {__mode = 'v'}), buckets = {}, owners = {}, expected = {},
      holds = {}, leaving = setmetatable({}, {__mode = 'v'}), address = address,
      bucketOf = bucketOf, hooks = {}, original = {}, kept = {}, gradients = {},
   }
   for b = 1, count do tracker.owners[b] = 0 end
   for _, name in ipairs(HOOKED) do
      tracker.hooks[name], tracker.original[name], tracker.kept[name] = {}, {}, {}
   end
   local byKey, stores, seen = {}, {}, {}
   local tensors, gradients = replica:parameters()
   for k = 1, #tensors do
      local t = gradients[k]
      if not t then
         tracker.unfit = true
         break
      end
      if bucketOf[k] > 0 then byKey[owners.keyOf(t)] = bucketOf[k] end
      if t:nElement() > 0 and not stores[comm.address(t)] then
         stores[comm.address(t)] = true
         table.insert(tracker.gradients, t)
      elseif t:nElement() == 0 then
         byKey[owners.keyOf(t)] = byKey[owners.keyOf(t)] or 1 -- nothing to wait for
      end
   end
   for _, module in ipairs(replica:listModules()) do
      if not seen[module] then
         seen[module] = true
         observe(tracker, module, byKey)
         if #(module.modules or {}) > 0 and owners.leavesInner(module) then
            table.insert(tracker.leaving, module)
         end
      end
   end
   tracker.containers = #tracker.leaving
   trackers[replica] = not tracker.unfit and tracker or nil
end

-- The tracker of a replica, made anew if a container that left gradients alone may write to them
-- from now on.
local function trackerOf(replica, i)
   local tracker = trackers[replica]
   for k = 1, tracker and tracker.containers or 0 do
      local module = tracker.leaving[k]
      if module and not owners.leavesInner(module) then
         Overlap.track(replica, i, tracker.address, tracker.bucketOf, #tracker.owners)
         return trackers[replica]
      end
   end
   return tracker
end

local function start(tracker, method)
   local expected = tracker.expected[method] or {}
   tracker.expected[method], tracker.wanted = expected, expected
   tracker.calls, tracker.depth, tracker.missing, tracker.inside = {}, {}, {}, 0
   tracker.marked, tracker.late, tracker.loose = false, false, false
   for b, count in ipairs(tracker.owners) do tracker.missing[b] = count end
   tracker.last = writes(tracker)
   for k in ipairs(tracker.buckets) do
      tracker.calls[k], tracker.depth[k], expected[k] = 0, 0, expected[k] or 0
      local module = tracker.modules[k]
      for _, name in ipairs(HOOKED) do
         tracker.kept[name][k], tracker.original[name][k] = rawget(module, name), module[name]
         rawset(module, name, tracker.hooks[name][k])
      end
   end
end

-- Takes the hooks away and learns from a pass that went well.
local function stop(tracker, ok)
   local expected = tracker.wanted
   for k in ipairs(tracker.buckets) do
      local module = tracker.modules[k]
      for _, name in ipairs(HOOKED) do
         rawset(module, name, tracker.kept[name][k])
         tracker.kept[name][k], tracker.original[name][k] = nil, nil
      end
      if ok then expected[k] = math.max(expected[k], tracker.calls[k]) end
   end
   verify(tracker)
end

--- Calls a method of a replica that adds to its gradients (run by a dispatcher). Raises if
-- something has written to gradients whose sum may have begun: it may have been too late.
-- @param pass of dpt.parallel.dispatch.random
function Overlap.call(replica, i, pass, method, input, other, scale)
   local tracker = trackerOf(replica, i)
   if not tracker then
      return random.within(pass, replica[method], replica, input, other, scale)
   end
   start(tracker, method)
   local ok, result = xpcall(random.within, errors.handler, pass, replica[method], replica, input,
      other, scale)
   stop(tracker, ok)
   if tracker.loose or tracker.late then trackers[replica] = nil end
   if not ok then error(result, 0) end
   if tracker.late then
      fail('overlap: gradients were written to after their sum over the devices had begun, by'
         .. ' something outside of their module and its containers: zeroGradParameters() and do'
         .. ' this step again; sums wait for the end from now on (net.overlap = false: always)')
   end
   return result
end

return Overlap
