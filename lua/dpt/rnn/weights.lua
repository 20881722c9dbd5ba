--- dpt.rnn.weights: named parts of a recurrent module's weight, which stay valid if the weight
-- moves.
--
-- Invariant: weight and gradWeight are one contiguous run of elements each, whose layout only the
-- backend knows. A file has the parts in a fixed order without gaps (dpt.rnn.network.layout), which
-- is that of the host and of cudnn.torch's files. Views that were returned stay views: if the
-- module's weight has moved, they are updated. A view that a script has set to other memory is
-- copied back into the weight at the next use, once; the field `compactions` counts such uses.
local torch = require 'dpt.tensor'
local fail = require('dpt.ffi').fail
local network = require 'dpt.rnn.network'

local M = {}

--- Returns true if two layouts are equal.
local function isSameLayout(a, b)
   for i, entry in ipairs(a) do
      if entry.first ~= b[i].first then return false end
   end
   return true
end

local function part(flat, entry) return flat:narrow(1, entry.first, network.count(entry)) end

local function copy(to, toLayout, from, fromLayout)
   for i, entry in ipairs(toLayout) do part(to, entry):copy(part(from, fromLayout[i])) end
end

--- Returns the layout of files for a module, given any layout of it.
-- @return the layout and its number of elements
local function fileLayout(layout)
   local file, first = {}, 1
   for i, entry in ipairs(layout) do
      file[i] = {rows = entry.rows, columns = entry.columns, first = first}
      first = first + network.count(entry)
   end
   return file, first - 1
end

-- Returns the tensor that was made from t before, or makes it: modules that share a weight get the
-- same tensor. t is kept, so that its memory, which is part of the key, is not reused.
local function memoize(cache, t, make)
   local key = ('rnn %s %d'):format(torch.pointer(t:storage()), t:storageOffset())
   local known = cache and cache[key]
   if not known then
      known = {t, make()}
      if cache then cache[key] = known end
   end
   return known[2]
end

--- Returns a weight (or its gradient) in the layout of files: the same tensor if it has that
-- layout.
-- @param cache table for all modules of a file, or nil
function M.toFile(module, weight, cache)
   if weight:nElement() == 0 then return weight end
   local layout = network.layout(module, weight)
   local file, total = fileLayout(layout)
   if total == weight:nElement() and isSameLayout(layout, file) then return weight end
   return memoize(cache, weight, function()
      local flat = weight.new(total)
      copy(flat, file, weight, layout)
      return flat
   end)
end

--- Returns a weight from a file in the layout of the tensor's backend.
function M.fromFile(module, flat, cache)
   if flat:nElement() == 0 then return flat end
   local layout = network.layout(module, flat)
   local file, total = fileLayout(layout)
   if flat:nElement() ~= total then
      fail('%s: a weight of %d elements was read, the network has %d', torch.type(module),
         flat:nElement(), total)
   end
   local size = network.size(module, flat)
   if size == total and isSameLayout(layout, file) then return flat end
   return memoize(cache, flat, function()
      local weight = size == total and flat or flat.new(size):zero()
      copy(weight, layout, size == total and flat:clone() or flat, file)
      return weight
   end)
end

--- Returns the layout of a module's weight before its tensors change type, for M.convertLayout.
function M.layoutBefore(module)
   return module.weight:nElement() > 0 and network.layout(module, module.weight) or nil
end

--- Returns true if two weights of a module, of different types, have the same layout.
function M.hasSameLayout(module, a, b)
   return a:nElement() == b:nElement()
      and (a:nElement() == 0 or isSameLayout(network.layout(module, a), network.layout(module, b)))
end

--- Rearranges the parts of a weight in place if its new type or device has another layout.
-- @param before layout that it has now
-- @param cache as for nn.Module:type; a weight that two modules share is rearranged once
function M.convertLayout(module, weight, before, cache)
   local layout, size = network.layout(module, weight), network.size(module, weight)
   if size == weight:nElement() and isSameLayout(layout, before) then return end
   weight:set(memoize(cache, weight:narrow(1, 1, weight:nElement()), function()
      local fits = size == weight:nElement()
      local new = fits and weight or weight.new(size):zero()
      copy(new, layout, fits and weight:clone() or weight, before)
      return new
   end))
end

-- views ------------------------------------------------------------------------------------------

-- Returns a view of the elements of an entry in flat, as a matrix or a vector.
local function view(flat, entry)
   local t = part(flat, entry)
   return entry.columns and t:view(entry.rows, entry.columns) or t
end

local function sideOf(module, id)
   local gates = network.gates[module.mode]
   if id > 2 * #gates then return 'projection' end
   return id > #gates and 'recurrent' or 'input', gates[(id - 1) % #gates + 1]
end

-- Returns views of the matrices or the biases of a flat tensor, and appends their positions to
-- slots, a list of {the table, its key, the entry}.
local function nameViews(module, layout, flat, matrices, slots)
   local lists = {}
   for layer = 1, module.numLayers * module.numDirections do
      lists[layer] = {input = {}, recurrent = {},
         layer = math.floor((layer - 1) / module.numDirections) + 1,
         direction = (layer - 1) % module.numDirections == 0 and 'forward' or 'backward'}
   end
   local function put(list, key, entry)
      list[key] = view(flat, entry)
      slots[#slots + 1] = {list, key, entry}
   end
   for _, entry in ipairs(layout) do
      if (entry.columns ~= nil) == matrices then
         local list, side, gate = lists[entry.layer], sideOf(module, entry.id)
         put(list, entry.id, {first = entry.first, rows = network.count(entry)})
         put(gate and list[side] or list, gate or side, entry)
      end
   end
   return lists
end

local function startOf(t) return t:storage(), t:storageOffset() end

-- Returns true if a slot's tensor is not where its entry is in flat.
local function hasMoved(slot, flat)
   local t = slot[1][slot[2]]
   if not torch.isTensor(t) then return t ~= nil end
   local storage, first = startOf(flat)
   return t:nElement() == 0 or t:storage() ~= storage
      or t:storageOffset() ~= first + slot[3].first - 1 or not t:isContiguous()
end

local function copyIntoWeight(module, slot, flat)
   local t, entry = slot[1][slot[2]], slot[3]
   if not torch.isTensor(t) or t:nElement() ~= network.count(entry) then
      fail('%s: weight %s was replaced by a %s of %s elements, wanted %d', torch.type(module),
         tostring(slot[2]), torch.type(t), torch.isTensor(t) and t:nElement() or 'no',
         network.count(entry))
   end
   part(flat, entry):copy(t)
end

-- Updates the views of one flat tensor; a view of other memory is first copied into it.
local function updateViews(module, views, field)
   local kept, flat, found = views[field], module[field], false
   for _, slot in ipairs(kept.slots) do
      if hasMoved(slot, kept.flat) then
         copyIntoWeight(module, slot, flat)
         found = true
      end
   end
   if not found and flat:storage() == kept.flat:storage()
      and flat:storageOffset() == kept.flat:storageOffset() then
      return false
   end
   for _, slot in ipairs(kept.slots) do
      local t, new = slot[1][slot[2]], view(flat, slot[3])
      if torch.type(t) == torch.type(new) then t:set(new) else slot[1][slot[2]] = new end
   end
   kept.flat = flat.new():set(flat)
   return found
end

--- Makes weight and gradWeight contiguous again if a script has set parts of them to other memory.
function M.gather(module)
   local moved, views = false, module.views_
   for _, field in ipairs{'weight', 'gradWeight'} do
      local flat = module[field]
      if flat and (flat:dim() ~= 1 or not flat:isContiguous()) and flat:nElement() > 0 then
         moved = moved or not flat:isContiguous()
         module[field] = flat:contiguous():view(-1)
      end
      if views and flat then moved = updateViews(module, views, field) or moved end
   end
   if moved then module.compactions = module.compactions + 1 end
end

--- Returns the named views of a module: tables for weight and gradWeight, with their matrices and
-- biases.
function M.views(module)
   M.gather(module)
   if not module.views_ then
      local views = {}
      for _, field in ipairs{'weight', 'gradWeight'} do
         local flat, slots = module[field], {}
         local layout = network.layout(module, flat)
         views[field] = {flat = flat.new():set(flat), slots = slots,
            matrices = nameViews(module, layout, flat, true, slots),
            biases = nameViews(module, layout, flat, false, slots)}
      end
      module.views_ = views
   end
   return module.views_
end

return M
