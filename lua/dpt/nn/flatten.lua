--- Flat parameters: one tensor of which many are views.
-- What must stay true: afterwards every given tensor has the sizes and values that it had and is a
-- view of the flat one; two tensors that shared elements before share the same ones after; elements
-- of the old storages that no tensor reaches are left out; the order is that of first appearance.
-- Nothing waits for a device. Tensors that are views of one storage without holes stay there.

local torch = require 'dpt.tensor'

local M = {}

-- Dimensions with more than one element, the largest step first.
local function dimensions(t)
   local list = {}
   for d = 1, t:dim() do
      if t:size(d) > 1 then list[#list + 1] = {size = t:size(d), step = t:stride(d)} end
   end
   table.sort(list, function(a, b) return a.step > b.step end)
   return list
end

-- Adds the runs of storage elements {first, last} that a tensor reaches.
local function addRuns(runs, t)
   local dims = dimensions(t)
   local run = 1
   while #dims > 0 and dims[#dims].step <= run do -- inner dimensions without a gap
      local inner = table.remove(dims)
      run = run + (inner.size - 1) * inner.step
   end
   local function walk(d, first)
      if d > #dims then
         runs[#runs + 1] = {first = first, last = first + run - 1}
      else
         for i = 0, dims[d].size - 1 do walk(d + 1, first + i * dims[d].step) end
      end
   end
   walk(1, t:storageOffset())
end

-- Overlapping or touching runs become one; the result is ordered.
local function merge(runs)
   table.sort(runs, function(a, b) return a.first < b.first end)
   local merged = {}
   for _, run in ipairs(runs) do
      local last = merged[#merged]
      if last and run.first <= last.last + 1 then
         last.last = math.max(last.last, run.last)
      else
         merged[#merged + 1] = {first = run.first, last = run.last}
      end
   end
   return merged
end

-- The place in the flat tensor of an element of an old storage.
local function place(runs, offset)
   local low, high = 1, #runs
   while low < high do
      local middle = math.floor((low + high + 1) / 2)
      if runs[middle].first <= offset then low = middle else high = middle - 1 end
   end
   return runs[low].start + offset - runs[low].first
end

-- The storages of a list of tensors in order of appearance, each with its runs.
local function storagesOf(tensors)
   local list, known = {}, {}
   for _, t in ipairs(tensors) do
      if t:nElement() > 0 then
         local storage = t:storage()
         local key = torch.pointer(storage)
         if not known[key] then
            known[key] = {storage = storage, runs = {}, sample = t}
            list[#list + 1] = known[key]
         end
         addRuns(known[key].runs, t)
      end
   end
   local start = 1
   for _, entry in ipairs(list) do
      entry.runs = merge(entry.runs)
      for _, run in ipairs(entry.runs) do
         run.start = start
         start = start + run.last - run.first + 1
      end
   end
   return list, known
end

local function checkTypes(tensors, what)
   for i = 2, #tensors do
      if torch.type(tensors[i]) ~= torch.type(tensors[1]) then
         error(('%s: getParameters wants parameters of one type, parameter 1 is a %s and %d a %s')
            :format(what, torch.type(tensors[1]), i, torch.type(tensors[i])), 0)
      end
   end
end

--- Makes the given tensors views of one flat tensor.
-- @return the flat tensor, the list of places (from 1) at which the tensors begin in it
function M.one(tensors, what)
   if #tensors == 0 then return torch.Tensor(), {} end
   checkTypes(tensors, what)
   local list, known = storagesOf(tensors)
   local flat = tensors[1].new()
   if #list == 1 and #list[1].runs == 1 then -- flat already
      local run = list[1].runs[1]
      flat:set(list[1].storage, run.first, run.last - run.first + 1, 1)
      local places = {}
      for i, t in ipairs(tensors) do
         places[i] = t:nElement() > 0 and t:storageOffset() - run.first + 1 or 1
      end
      return flat, places
   end
   local pieces = {}
   for _, entry in ipairs(list) do
      for _, run in ipairs(entry.runs) do
         pieces[#pieces + 1] =
            flat.new():set(entry.storage, run.first, run.last - run.first + 1, 1)
      end
   end
   if #pieces > 0 then torch.cat(flat, pieces, 1) end
   local places = {}
   for i, t in ipairs(tensors) do
      places[i] = 1
      if t:nElement() > 0 then
         places[i] = place(known[torch.pointer(t:storage())].runs, t:storageOffset())
         t:set(flat:storage(), places[i], t:size(), t:stride())
      end
   end
   return flat, places
end

--- Flattens parameters and gradients alike.
function M.pair(parameters, gradients, what)
   if #parameters ~= #gradients then
      error(('%s: getParameters found %d parameters but %d gradients')
         :format(what, #parameters, #gradients), 0)
   end
   local p, places = M.one(parameters, what)
   local g, gradPlaces = M.one(gradients, what)
   local same = p:nElement() == g:nElement()
   for i = 1, #places do same = same and places[i] == gradPlaces[i] end
   if not same then
      error(what .. ': getParameters wants gradients shared exactly as the parameters are: share '
         .. 'gradWeight and gradBias along with weight and bias', 0)
   end
   return p, g
end

return M
