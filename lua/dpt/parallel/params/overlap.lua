--- dpt.parallel.params.overlap: reduces gradients in buckets during the backward pass.
--
-- Invariant: the gradients are divided into buckets of whole parameters, the last parameters first.
-- A bucket's sum begins when all modules that may write to it have returned, on every replica, as
-- learned from earlier backward passes; the remaining buckets are summed at the end.
-- Each replica learns separately which modules fill a bucket, and in how many calls
-- (dpt.parallel.params.tracker). A container owns the gradients of its inner modules unless it is
-- known not to write to them, so clipping, scaling or freezing them there happens before the sum.
-- Every pass is verified by the write counters of the gradients. After a write from elsewhere, the
-- replica's buckets are summed at the end in all later passes, and this pass raises if a sum may
-- have begun. Every element is summed in the order of comm.reduceInto: the bits are the same.
--
-- With a sender (dpt.parallel.ranks.sender) the sums are sent to other processes: each bucket as
-- soon as it and all before it are summed. So the order is the same in every process, whatever
-- modules a pass used.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local comm = require 'dpt.comm'
local lists = require 'dpt.comm.lists'
local buckets = require 'dpt.parallel.params.buckets'
local tracker = require 'dpt.parallel.params.tracker'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib

local Overlap = {}
Overlap.__index = Overlap

-- Returns true if there is something to sum, in contiguous vectors on devices.
local function canCut(plan, segments, sender)
   local some = false
   for h = 2, #plan, 2 do
      for _, segment in ipairs(segments[1][h]) do
         if segment:dim() ~= 1 or not segment:isContiguous() or comm.device(segment) == 0 then
            return false
         end
         some = true
      end
   end
   return some and (#segments > 1 or sender ~= nil)
end

-- Returns a view of the elements of a run, which is within one segment.
local function viewOf(segments, run)
   local before = 0
   for _, segment in ipairs(segments) do
      if run.first <= before + segment:nElement() then
         return segment:narrow(1, run.first - before, run.last - run.first + 1)
      end
      before = before + segment:nElement()
   end
end

--- Creates the reducer of all replicas' gradients.
-- @param plan as for layout.flattenReplica
-- @param segments segments[i][h] is the list of replica i's segments for plan[h]
-- @param count number of parameters
-- @param dispatcher of the replicas
-- @param sender sends the sums to other processes; or nil
-- @param order times at which the parameters' gradients are complete, or nil (see
-- dpt.parallel.params.buckets)
-- @return nil if there is nothing to sum, there is only one bucket, or replica 1 has gradients with
-- gaps
function Overlap.new(plan, segments, count, dispatcher, sender, order)
   if not canCut(plan, segments, sender) then return nil end
   local list, bucketOf = buckets.cut(plan, segments[1], count, order)
   if #list == 1 then return nil end -- its sum would begin when the pass is over
   local counts, tensors, sums = ffi.new('int64_t[?]', #list), {}, {}
   for b, bucket in ipairs(list) do
      counts[b - 1] = #bucket
      sums[b] = {}
      for i = 1, #segments do
         for k, run in ipairs(bucket) do
            local t = viewOf(segments[i][run.group], run)
            tensors[#tensors + 1] = t
            if i == 1 then sums[b][k] = t end
         end
      end
   end
   local out = ffi.new('dpt_reducer *[1]')
   lib.reducer_new(out, #list, counts, #segments, lists.pointers(tensors, #tensors))
   core.keepAlive(tensors)
   local reducer = ffi.gc(out[0], C.dpt_reducer_free)
   local address = tonumber(ffi.cast('uintptr_t', reducer))
   dispatcher:run(tracker.track, address, bucketOf, #list)
   return setmetatable({reducer = reducer, address = address, sender = sender, sums = sums},
      Overlap)
end

-- Sends the summed buckets, in order.
local function send(self)
   local reducer, sender = self.reducer, self.sender
   while self.next <= #self.sums and C.dpt_reducer_state(reducer, self.next - 1)
      == C.DPT_BUCKET_SUMMED do
      local b = self.next
      self.next = b + 1
      lib.reducer_send(reducer, b - 1, 1)
      local ok, message = pcall(sender.send, sender, self.sums[b], b)
      lib.reducer_send(reducer, b - 1, 0)
      if not ok then error(message, 0) end
   end
end

--- Begins a backward pass of the first `used` replicas.
-- @return the function with which the dispatcher must call them
function Overlap:begin(used)
   lib.reducer_begin(self.reducer, used)
   if self.sender then
      self.next = 1
      tracker.listeners[self.address] = function() send(self) end
   end
   return tracker.call
end

--- Queues the remaining sums and makes the devices wait for them.
function Overlap:finish()
   if self.sender then
      tracker.listeners[self.address] = nil
      lib.reducer_flush(self.reducer)
      send(self)
   end
   lib.reducer_finish(self.reducer)
end

--- Ends a backward pass that failed. The number of buckets sent so far depends on timing and on the
-- rows of this rank, so the remaining ones are sent now: all ranks send the same number.
function Overlap:cancel()
   tracker.listeners[self.address] = nil
   if self.sender then
      lib.reducer_flush(self.reducer)
      local before
      repeat -- a hook may raise again
         before = self.next
         pcall(send, self)
      until self.next == before or self.next > #self.sums
   end
   lib.reducer_cancel(self.reducer)
end

return Overlap
