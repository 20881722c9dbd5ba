--- dpt.flatten: makes many tensors, such as parameters, views of one flat tensor.
-- Invariant: after flattening, every given tensor has its previous sizes and values and is a view
-- of the flat one; two tensors that shared elements before still share them; elements of the old
-- storages that no tensor reaches are dropped, except gaps inside a tensor that overlaps another;
-- the order is that of first appearance. Nothing waits for a device. Tensors that are already views
-- of one storage without holes stay there.

local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local fail = require('dpt.ffi').fail
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local updates = require 'dpt.updates'

local M = {}

-- Returns the strides of a contiguous tensor of t's sizes.
local function contiguousStride(t)
   local strides, stride = {}, 1
   for d = t:dim(), 1, -1 do strides[d], stride = stride, stride * t:size(d) end
   return torch.LongStorage(strides)
end

local function sameView(a, b)
   return a.first == b.first and a.t:isSameSizeAs(b.t)
      and table.concat(a.t:stride():totable(), ' ') == table.concat(b.t:stride():totable(), ' ')
end

-- Returns true if a tensor with gaps shares elements only with equal views of it.
local function isIsolated(item, items)
   for _, other in ipairs(items) do
      if other.last >= item.first and other.first <= item.last and not sameView(item, other) then
         return false
      end
   end
   return true
end

-- Merges overlapping or adjacent runs of elements; the result is sorted.
local function merge(runs)
   local ordered, merged = {}, {}
   for i, run in ipairs(runs) do ordered[i] = run end
   table.sort(ordered, function(a, b) return a.first < b.first end)
   for _, run in ipairs(ordered) do
      local last = merged[#merged]
      if last and run.first <= last.last + 1 then
         last.last = math.max(last.last, run.last)
      else
         merged[#merged + 1] = {first = run.first, last = run.last}
      end
   end
   return merged
end

-- Returns the tensors by storage, in order of appearance.
local function storagesOf(tensors)
   local storages, known = {}, {}
   for i, t in ipairs(tensors) do
      if t:nElement() > 0 then
         local storage = t:storage()
         local key = torch.pointer(storage)
         if not known[key] then
            known[key] = {storage = storage, items = {}}
            storages[#storages + 1] = known[key]
         end
         local first, last, dense = core.extent(t)
         table.insert(known[key].items, {t = t, i = i, first = first, last = last, dense = dense})
      end
   end
   return storages
end

-- By tensor: the address of its storage when it became a view of a flat tensor.
local flatAddresses = setmetatable({}, {__mode = 'k'})

--- Finds tensors that are views of a flat tensor of which they reach only a part: the rest belongs
-- to another network.
-- @return set of tensors
function M.findShared(tensors)
   local common = {}
   for _, entry in ipairs(storagesOf(tensors)) do
      local reached = 0
      for _, run in ipairs(merge(entry.items)) do reached = reached + run.last - run.first + 1 end
      for _, item in ipairs(reached < #entry.storage and entry.items or {}) do
         common[item.t] = flatAddresses[item.t] == comm.address(item.t)
      end
   end
   return common
end

-- Returns the blocks that make up the flat tensor, in order: runs of a storage, or a single tensor
-- with gaps, each with its tensors.
local function blocksOf(tensors)
   local blocks = {}
   for _, entry in ipairs(storagesOf(tensors)) do
      local runs, alone = {storage = entry.storage, items = {}}, {}
      for _, item in ipairs(entry.items) do
         if item.dense or not isIsolated(item, entry.items) then
            table.insert(runs.items, item)
         else
            local home
            for _, block in ipairs(alone) do
               if sameView(block.items[1], item) then home = block end
            end
            if home then
               table.insert(home.items, item)
            else
               alone[#alone + 1] = {alone = true, items = {item}}
            end
         end
      end
      if #runs.items > 0 then
         runs.runs = merge(runs.items)
         blocks[#blocks + 1] = runs
      end
      for _, block in ipairs(alone) do blocks[#blocks + 1] = block end
   end
   return blocks
end

-- Returns the offset in the flat tensor of an element of an old storage.
local function offsetIn(runs, offset)
   local low, high = 1, #runs
   while low < high do
      local middle = math.floor((low + high + 1) / 2)
      if runs[middle].first <= offset then low = middle else high = middle - 1 end
   end
   return runs[low].start + offset - runs[low].first
end

-- Raises unless the tensors have one type and, except for empty ones, are on one device.
local function checkSameType(tensors, what, name)
   local known
   for i, t in ipairs(tensors) do
      local device = t:nElement() > 0 and comm.device(t)
      if device and known and comm.device(tensors[known]) ~= device then
         fail('%s: getParameters: wanted one device, parameter %d is on device %d and %d on device'
            .. ' %d; flatten the modules of each device separately', what, known,
            comm.device(tensors[known]), i, device)
      end
      known = known or device and i
   end
   for i = 2, #tensors do
      if torch.type(tensors[i]) ~= torch.type(tensors[1]) then
         local which = name and (': %s and %s'):format(name(tensors[1]), name(tensors[i])) or ''
         fail('%s: getParameters: wanted one type, parameter 1 is a %s and %d a %s%s',
            what, torch.type(tensors[1]), i, torch.type(tensors[i]), which)
      end
   end
end

--- Computes the layout of a flat tensor with the elements that tensors of one type reach.
-- @return {segments = list of views that cover those elements, each once, one-dimensional except
--    for tensors with gaps; offsets = position of each tensor's first element in the concatenated
--    segments (from 1); strides = each tensor's strides there; total = number of elements}
function M.layout(tensors)
   local blocks = blocksOf(tensors)
   local layout = {segments = {}, offsets = {}, strides = {}, total = 0}
   local function add(segment)
      table.insert(layout.segments, segment)
      layout.total = layout.total + segment:nElement()
   end
   for i, t in ipairs(tensors) do layout.offsets[i], layout.strides[i] = 1, t:stride() end
   for _, block in ipairs(blocks) do
      local sample = block.items[1].t
      if block.alone then
         for _, item in ipairs(block.items) do
            layout.offsets[item.i] = layout.total + 1
            layout.strides[item.i] = contiguousStride(sample)
         end
         add(sample)
      else
         for _, run in ipairs(block.runs) do
            run.start = layout.total + 1
            add(sample.new():set(block.storage, run.first, run.last - run.first + 1, 1))
         end
         for _, item in ipairs(block.items) do
            layout.offsets[item.i] = offsetIn(block.runs, item.first)
         end
      end
   end
   return layout
end

local function recordAddresses(tensors)
   for _, t in ipairs(tensors) do flatAddresses[t] = comm.address(t) end
end

-- Concatenates segments on the current device.
local function join(segments)
   for i, segment in ipairs(segments) do
      if not segment:isContiguous() then segments[i] = segment:clone():view(-1) end
   end
   return torch.cat(segments[1].new(), segments, 1)
end

-- Makes tensors views of a flat tensor, in place.
local function place(tensors, flat, offsets, strides)
   updates.markMoved(tensors)
   for i, t in ipairs(tensors) do
      if t:nElement() > 0 then t:set(flat:storage(), offsets[i], t:size(), strides[i]) end
   end
   recordAddresses(tensors)
   return flat
end

--- Makes the given tensors, in place, views of one flat tensor on their device.
-- @param what owner of the tensors, for an error message
-- @param name nil, or function(tensor) that returns a tensor's place in the network
-- @return the flat tensor, the list of offsets (from 1) at which the tensors begin in it
function M.flatten(tensors, what, name)
   if #tensors == 0 then return torch.Tensor(), {} end
   checkSameType(tensors, what, name)
   local layout = M.layout(tensors)
   local segments = layout.segments
   if #segments == 1 and segments[1]:dim() == 1 and segments[1]:stride(1) == 1 then -- flat already
      recordAddresses(tensors)
      return segments[1], layout.offsets
   end
   if #segments == 0 then return tensors[1].new(), layout.offsets end
   local flat = cutorch.withDeviceOf(segments[1], join, segments)
   return place(tensors, flat, layout.offsets, layout.strides), layout.offsets
end

-- Moves gradients from a flat tensor to a new one, at the offsets of their parameters.
-- @return the new flat tensor; nil unless the gradients have the sizes of the parameters and are
--    shared exactly as the parameters are
local function arrange(parameters, offsets, gradients, gradOffsets, flat)
   local found, count, strides = {}, 0, {}
   for i, t in ipairs(parameters) do
      local offset = offsets[i]
      if not gradients[i]:isSameSizeAs(t) then return nil end
      if t:nElement() > 0 and not found[offset] then
         found[offset], count = gradOffsets[i], count + t:nElement()
      end
      if t:nElement() > 0 and found[offset] ~= gradOffsets[i] then return nil end
      strides[i] = t:stride()
   end
   if count ~= flat:nElement() then return nil end
   local new = cutorch.withDeviceOf(flat, flat.new, count)
   for i, g in ipairs(gradients) do
      if g:nElement() > 0 then
         new.new():set(new:storage(), offsets[i], g:size(), strides[i]):copy(g)
      end
   end
   return place(gradients, new, offsets, strides)
end

-- Returns true if elements of gradients are at other places than those of the parameters.
local function areMisplaced(parameters, offsets, gradients, gradOffsets)
   for i, t in ipairs(parameters) do
      local g = gradients[i]
      if offsets[i] ~= gradOffsets[i] or t:nElement() > 0 and t:isSameSizeAs(g)
         and not sameView({first = offsets[i], t = t}, {first = gradOffsets[i], t = g}) then
         return true
      end
   end
   return false
end

--- Flattens parameters and gradients with the same layout.
function M.flattenPair(parameters, gradients, what, name)
   if #parameters ~= #gradients then
      fail('%s: getParameters found %d parameters but %d gradients', what, #parameters, #gradients)
   end
   local p, offsets = M.flatten(parameters, what, name)
   local g, gradOffsets = M.flatten(gradients, what, name)
   if p:nElement() ~= g:nElement() then
      g = nil
   elseif areMisplaced(parameters, offsets, gradients, gradOffsets) then
      g = arrange(parameters, offsets, gradients, gradOffsets, g)
   end
   if not g then
      fail('%s: getParameters wants gradients shared exactly as the parameters are: share '
         .. 'gradWeight and gradBias along with weight and bias', what)
   end
   return p, g
end

return M
