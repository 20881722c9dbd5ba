--- dpt.parallel.params.buckets: divides gradients into buckets of whole parameters.
--
-- Invariant: every element of a parameter's gradient is in exactly one bucket. Buckets are filled
-- in reverse order of the parameters, which is about the order in which a backward pass computes
-- gradients, or in the order recorded in a pass. Tied parameters have the position of the first of
-- them, which is the last to be complete. The first bucket is small, so that its sum begins early.
-- No bucket has more than a share of all bytes, so that little is left to sum at the end of a pass;
-- but buckets below `least` cost more than they hide. Only a bucket with a single large parameter
-- exceeds its limit.
local buckets = {first = 2 ^ 20, rest = 25 * 2 ^ 20, least = 2 ^ 18, share = 1 / 8} -- bytes

-- Returns the last element of a flat tensor that a parameter covers.
local function lastOf(item)
   local last = item.first
   for d = 1, #item.size do last = last + (item.size[d] - 1) * item.stride[d] end
   return last
end

-- Appends the runs of elements that parameters cover in a flat tensor, each with the number of its
-- first parameter. Parameters that share elements are in one run.
local function addRuns(runs, group, h, elementSize)
   local items = {}
   for k, item in ipairs(group) do items[k] = item end
   table.sort(items, function(a, b)
      return a.first < b.first or a.first == b.first and a.index < b.index
   end)
   local run
   for _, item in ipairs(items) do
      if not run or item.first > run.last then
         run = {group = h, first = item.first, last = 0, order = item.index, ready = 0, items = {},
            elementSize = elementSize}
         runs[#runs + 1] = run
      end
      run.last = math.max(run.last, lastOf(item))
      run.order = math.min(run.order, item.index)
      table.insert(run.items, item)
   end
end

-- Returns the positions at which segments of a group begin, as a set.
local function beginnings(segments)
   local set, first = {}, 1
   for _, segment in ipairs(segments) do
      set[first], first = true, first + segment:nElement()
   end
   return set
end

-- Adds a run to a bucket; merges it with the previous run if they are adjacent in one segment.
local function put(bucket, run, begins)
   local last = bucket[#bucket]
   if last and last.group == run.group and last.first == run.last + 1
      and not begins[run.group][last.first] then
      last.first = run.first
   else
      bucket[#bucket + 1] = {group = run.group, first = run.first, last = run.last}
   end
end

-- Sets the time at which each run was complete; runs that the pass did not reach are last.
local function readiness(runs, order, count)
   for _, run in ipairs(runs) do
      run.ready = 0
      for _, item in ipairs(run.items) do
         local time = order[item.index - count]
         run.ready = math.max(run.ready, time > 0 and time or math.huge)
      end
   end
end

--- Divides the gradients of replica 1.
-- @param plan list of groups, parameters and gradients in turn, as for layout.flattenReplica
-- @param segments of each group, as layout.plan returns them
-- @param count number of parameters
-- @param order nil, or for every parameter the time at which its gradient was complete; 0: never
-- @return list of buckets, each a list of runs {group, first, last}, each within one segment; for
-- every parameter the number of its bucket, 0: none
function buckets.cut(plan, segments, count, order)
   local runs, list, bucketOf, begins = {}, {}, {}, {}
   for i = 1, count do bucketOf[i] = 0 end
   for h = 2, #plan, 2 do
      begins[h] = beginnings(segments[h])
      addRuns(runs, plan[h], h, segments[h][1] and segments[h][1]:elementSize())
   end
   if order then readiness(runs, order, count) end
   table.sort(runs, function(a, b)
      if a.ready ~= b.ready then return a.ready < b.ready end
      return a.order > b.order
   end)
   local all = 0
   for _, run in ipairs(runs) do all = all + (run.last - run.first + 1) * run.elementSize end
   local most = math.max(all * buckets.share, buckets.least)
   local bytes, limit = 0, math.min(buckets.first, most)
   for _, run in ipairs(runs) do
      local more = (run.last - run.first + 1) * run.elementSize
      if #list == 0 or bytes + more > limit then
         if #list > 0 then limit = math.min(buckets.rest, most) end
         list[#list + 1], bytes = {}, 0
      end
      bytes = bytes + more
      put(list[#list], run, begins)
      for _, item in ipairs(run.items) do bucketOf[item.index - count] = #list end
   end
   return list, bucketOf
end

return buckets
