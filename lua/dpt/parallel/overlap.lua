--- dpt.parallel.overlap: reduces gradients in buckets while the backward pass goes on.
--
-- What must stay true: the flat gradients are cut into buckets of whole parameters, the last
-- parameters first. A bucket's sum begins when all replicas have computed what is in it, as known
-- from the backward passes before; what is not done early is done at the end, so that no way of
-- writing a module gives another result. Which modules fill a bucket, and in how many calls, each
-- replica learns for itself; one whose gradients are written to outside of its modules' backward
-- and accGradParameters is left alone. Hooks stand on modules only while a backward pass runs, so
-- nobody meets them in a file or a clone. Every element is summed in the order of
-- comm.reduceInto: the bits are the same.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local lists = require 'dpt.comm.lists'
local errors = require 'dpt.parallel.errors'
local buckets = require 'dpt.parallel.buckets'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib

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
-- @param plan what params.lay took
-- @param flat flat[i][h] is replica i's flat tensor for plan[h]
-- @param count how many parameters there are
-- @param dispatcher what runs the replicas
-- @return nil where there is nothing to add up, or replica 1's gradients are not flat
function Overlap.new(plan, flat, count, dispatcher)
   if not isFlat(plan, flat) then return nil end
   local list, place = buckets.cut(plan, flat[1], count)
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
   dispatcher:run(Overlap.watch, address, place, #list)
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

-- What follows runs where a replica lives. A watch knows the modules of a replica that own
-- parameters (`modules`, weak: it shall not keep them), how many calls of each fill its gradients
-- (`expected`, by method), and what has happened in the pass that runs.
local watches = setmetatable({}, {__mode = 'k'}) -- by replica

local HOOKED = {'backward', 'accGradParameters'}

local function keyOf(t) return comm.address(t) .. ':' .. t:storageOffset() end

-- The gradients of a module by key, but for those that the modules in it have.
local function gradientsOf(module)
   local _, gradients = module:parameters()
   local keys, own = {}, false
   for _, t in ipairs(gradients or {}) do keys[keyOf(t)] = true end
   local inner = {}
   for _, child in ipairs(module.modules or {}) do
      local _, theirs = child:parameters()
      for _, t in ipairs(theirs or {}) do inner[keyOf(t)] = true end
   end
   for key in pairs(keys) do own = own or not inner[key] end
   return own and keys or {}
end

-- How often something has written to the gradients.
local function writes(watch)
   local sum = 0
   for _, t in ipairs(watch.gradients) do
      sum = sum + tonumber(C.dpt_storage_writes(t.store_))
   end
   return sum
end

-- A module is called from outside, perhaps more often than it ever was.
local function enter(watch, k)
   watch.inside = watch.inside + 1
   if watch.inside == 1 and not watch.proved then watch.before = writes(watch) end
   local depth = watch.depth[k]
   watch.depth[k] = depth + 1
   if depth > 0 or watch.calls[k] < watch.wanted[k] then return end
   for _, b in ipairs(watch.buckets[k]) do
      if watch.wanted[k] > 0 then lib.reducer_unmark(watch.reducer, watch.replica, b - 1) end
      watch.missing[b] = math.huge
   end
end

-- It returns: with its last call its buckets may be full.
local function leave(watch, k, ...)
   watch.inside = watch.inside - 1
   if watch.inside == 0 and not watch.proved then
      watch.seen = watch.seen + writes(watch) - watch.before
   end
   local depth = watch.depth[k] - 1
   watch.depth[k] = depth
   if depth > 0 then return ... end
   local calls = watch.calls[k] + 1
   watch.calls[k] = calls
   if calls == watch.wanted[k] then
      for _, b in ipairs(watch.buckets[k]) do
         local missing = watch.missing[b] - 1
         watch.missing[b] = missing
         if missing == 0 then lib.reducer_mark(watch.reducer, watch.replica, b - 1) end
      end
   end
   return ...
end

local function hook(watch, k, name)
   return function(module, ...)
      enter(watch, k)
      return leave(watch, k, watch.original[name][k](module, ...))
   end
end

-- Adds a module that owns gradients to a watch.
local function observe(watch, module, places)
   local list, had = {}, {}
   for key in pairs(gradientsOf(module)) do
      local b = places[key]
      if not b then watch.unfit = true end
      if b and not had[b] then
         had[b] = true
         list[#list + 1] = b
      end
   end
   if #list == 0 then return end
   local k = #watch.buckets + 1
   watch.buckets[k], watch.modules[k] = list, module
   for _, b in ipairs(list) do watch.owners[b] = watch.owners[b] + 1 end
   for _, name in ipairs(HOOKED) do watch.hooks[name][k] = hook(watch, k, name) end
end

--- Lets a replica mark the buckets of a reducer (run by a dispatcher).
-- @param address of the reducer, which its owner keeps
-- @param place in which bucket each parameter is; 0: in none
-- @param count how many buckets there are
function Overlap.watch(replica, i, address, place, count)
   local watch = {
      reducer = ffi.cast('dpt_reducer *', ffi.cast('uintptr_t', address)), replica = i - 1,
      modules = setmetatable({}, {__mode = 'v'}), buckets = {}, owners = {}, expected = {},
      hooks = {}, original = {}, kept = {}, gradients = {},
   }
   for b = 1, count do watch.owners[b] = 0 end
   for _, name in ipairs(HOOKED) do
      watch.hooks[name], watch.original[name], watch.kept[name] = {}, {}, {}
   end
   local places, stores, seen = {}, {}, {}
   local _, gradients = replica:parameters()
   for k, t in ipairs(gradients) do
      if place[k] > 0 then places[keyOf(t)] = place[k] end
      if t:nElement() > 0 and not stores[comm.address(t)] then
         stores[comm.address(t)] = true
         table.insert(watch.gradients, t)
      elseif t:nElement() == 0 then
         places[keyOf(t)] = places[keyOf(t)] or 1 -- nothing to wait for
      end
   end
   for _, module in ipairs(replica:listModules()) do
      if not seen[module] then
         seen[module] = true
         observe(watch, module, places)
      end
   end
   watches[replica] = not watch.unfit and watch or nil
end

local function start(watch, method)
   local expected = watch.expected[method] or {}
   watch.expected[method] = expected
   watch.wanted, watch.proved = expected, expected.proved
   watch.calls, watch.depth, watch.missing, watch.inside, watch.seen = {}, {}, {}, 0, 0
   for b, owners in ipairs(watch.owners) do watch.missing[b] = owners end
   watch.total = not watch.proved and writes(watch)
   for k in ipairs(watch.buckets) do
      watch.calls[k], watch.depth[k], expected[k] = 0, 0, expected[k] or 0
      local module = watch.modules[k]
      for _, name in ipairs(HOOKED) do
         watch.kept[name][k], watch.original[name][k] = rawget(module, name), module[name]
         rawset(module, name, watch.hooks[name][k])
      end
   end
end

-- Takes the hooks away and learns from a pass that went well.
local function stop(replica, watch, ok)
   local expected = watch.wanted
   for k in ipairs(watch.buckets) do
      local module = watch.modules[k]
      for _, name in ipairs(HOOKED) do
         rawset(module, name, watch.kept[name][k])
         watch.kept[name][k], watch.original[name][k] = nil, nil
      end
      if ok then expected[k] = math.max(expected[k], watch.calls[k]) end
   end
   if not ok or watch.proved then return end
   expected.proved = true
   if writes(watch) - watch.total ~= watch.seen then watches[replica] = nil end
end

--- Calls a method of a replica that adds to its gradients (run by a dispatcher).
function Overlap.call(replica, _, method, input, other, scale)
   local watch = watches[replica]
   if not watch then return replica[method](replica, input, other, scale) end
   start(watch, method)
   local ok, result = xpcall(replica[method], errors.handler, replica, input, other, scale)
   stop(replica, watch, ok)
   if not ok then error(result, 0) end
   return result
end

return Overlap
