--- dpt.parallel.split.scatter: splits a tensor, or a tree of tables of tensors, into one part per
-- replica.
--
-- Invariant: parts are in tensors that are reused by the next call, so that a step allocates
-- nothing. A device tensor keeps its element type. A floating-point host tensor is converted to the
-- type of the network, an integer one to the device type with the same integers. Values that are
-- not tensors are passed unchanged to every replica. Host tensors have been read on return.
local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local comm = require 'dpt.comm'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type
local splitSpec = require 'dpt.parallel.split.split_spec'
local balanced = require 'dpt.parallel.split.balanced'

local scatter = {}

local WEAK = {__mode = 'v'} -- does not keep the scattered values alive

local function keptOf(fields)
   fields.source = setmetatable({}, WEAK)
   return fields
end

local function typeFor(tensor, plan)
   local isHost = tensor.kind_ < core.ON_DEVICE
   if isHost and core.realNames[tensor.kind_] then return plan.type end
   return comm.deviceType(tensor:type())
end

-- Records the number of rows of each part; the tensor with the most rows determines where in the
-- batch a part begins.
local function note(plan, counts, rows)
   plan.isCut = true
   local most = rows > plan.rows
   for i, count in ipairs(counts) do
      if count > 0 and i > plan.used then plan.used = i end
      if most then plan.counts[i] = count end
   end
   if most then plan.rows = rows end
end

-- Fills counts with the number of rows of each part of a tensor.
-- @param like list of outputs whose gradients the parts are, or anything else
local function count(counts, rows, parts, like, plan, dimension, path)
   local sum = 0
   for i = 1, parts do
      local t = like and like[i]
      if torch.isTensor(like and like[1]) then
         counts[i] = torch.isTensor(t) and t:dim() >= dimension and t:size(dimension) or 0
      else
         counts[i] = plan.cut and plan.cut(rows, i) or select(2, balanced(rows, i, parts))
      end
      sum = sum + counts[i]
   end
   if sum ~= rows then
      if rows > 0 then
         fail('%s has %d rows along dimension %d, %s has %d', path, rows, dimension,
            plan.likeName or 'the output', sum)
      end
      for i = 1, parts do counts[i] = 0 end
   end
end

-- Scatters one tensor into a list of parts, which is reallocated only when the type or the number
-- of parts changes.
local function scatterTensor(kept, tensor, plan, dimension, path, like)
   local parts, typename = #plan.devices, typeFor(tensor, plan)
   if type(kept) ~= 'table' or kept.typename ~= typename or #kept ~= parts then
      kept = keptOf{typename = typename, rows = {}}
      local new = torch.getmetatable(typename).new
      for i = 1, parts do kept[i] = new() end
   end
   local rows = 0
   if tensor:dim() > 0 then
      if tensor:dim() < dimension then
         fail('%s is a %s of %d dimension(s), it cannot be split along dimension %d', path,
            tensor:type(), tensor:dim(), dimension)
      end
      rows = tensor:size(dimension)
   end
   count(kept.rows, rows, parts, like, plan, dimension, path)
   note(plan, kept.rows, rows)
   comm.scatterInto(kept, tensor, dimension, kept.rows, plan.devices)
   if rows == 0 and tensor:dim() > 0 then
      for i = 1, parts do kept[i]:resize(tensor:size()) end
   end
   kept.source[1] = tensor
   return kept
end

-- Copies a tensor or tree to the current device, into `kept`.
local function copyTo(kept, value, plan)
   if torch.isTensor(value) then
      local typename = typeFor(value, plan)
      if torch.type(kept) ~= typename then kept = torch.getmetatable(typename).new() end
      if value:dim() == 0 then return kept:resize(0) end
      return kept:resize(value:size()):copy(value)
   elseif torch.type(value) ~= 'table' then
      return value
   end
   if torch.type(kept) ~= 'table' then kept = {} end
   for k in pairs(kept) do
      if value[k] == nil then kept[k] = nil end
   end
   for k, v in pairs(value) do kept[k] = copyTo(kept[k], v, plan) end
   return kept
end

-- Returns the number of rows of the first tensor found in a tree.
local function rowsOf(value, dimension)
   if torch.isTensor(value) then
      return value:dim() >= dimension and value:size(dimension) or 0
   elseif torch.type(value) == 'table' then
      for _, v in pairs(value) do
         local rows = rowsOf(v, dimension)
         if rows then return rows end
      end
   end
end

-- Copies values[i] to the device of replica i.
local function spread(kept, value, values, plan, results, key)
   if type(kept) ~= 'table' or not kept.spread then kept = keptOf{spread = true} end
   kept.source[1] = value
   for i, result in ipairs(results) do
      kept[i] = cutorch.withDevice(plan.devices[i], copyTo, kept[i], values[i], plan)
      result[key] = kept[i]
   end
   return kept
end

local function replicate(kept, value, plan, results, key)
   local values = {}
   for i = 1, #results do values[i] = value end
   plan.replicated = true
   return spread(kept, value, values, plan, results, key)
end

-- Splits a value with a user's function.
local function divide(kept, value, plan, path, results, key, f)
   local values, counts, rows = splitSpec.parts(f, value, plan.devices, path), {}, 0
   for i = 1, #results do
      counts[i] = rowsOf(values[i], plan.dimension) or 0
      rows = rows + counts[i]
   end
   note(plan, counts, rows)
   return spread(kept, value, values, plan, results, key)
end

-- Splits a list with one entry per row.
local function cutList(kept, value, plan, path, results, key)
   local list, counts, first = value, {}, 0
   if torch.isTensor(value) then list = value:long():view(-1):totable() end
   count(counts, #list, #results, nil, plan, 1, path)
   note(plan, counts, #list)
   for i, result in ipairs(results) do
      local part = {}
      for k = 1, counts[i] do part[k] = list[first + k] end
      result[key] = part
      first = first + counts[i]
   end
   if type(kept) ~= 'table' or not kept.list then kept = keptOf{list = true} end
   kept.source[1] = value
   return kept
end

local walk

-- Scatters the entries of a table. Replicas get the same tables in every call, since a module may
-- keep its input.
local function walkTable(kept, value, plan, path, results, key, how, like)
   if type(kept) ~= 'table' or not kept.parts then kept = {parts = {}} end
   local tables = {}
   for i, result in ipairs(results) do
      kept[i] = kept[i] or {}
      tables[i] = kept[i]
      result[key] = kept[i]
   end
   for _, list in ipairs{kept.parts, unpack(tables)} do
      for k in pairs(list) do
         if value[k] == nil then list[k] = nil end
      end
   end
   for k, v in pairs(value) do
      local inner
      if like then
         inner = {}
         for i, t in pairs(like) do inner[i] = torch.type(t) == 'table' and t[k] or nil end
      end
      kept.parts[k] = walk(kept.parts[k], v, plan, ('%s[%s]'):format(path, tostring(k)), tables, k,
         splitSpec.at(how, k), inner)
   end
   return kept
end

-- Scatters a tree. kept mirrors the tree of value: for a tensor of value, kept has the list of its
-- parts.
function walk(kept, value, plan, path, results, key, how, like)
   if how == nil then how = plan.dimension end
   splitSpec.check(how, value, path)
   local isTensor, isTable = torch.isTensor(value), torch.type(value) == 'table'
   if type(how) == 'function' then
      return divide(kept, value, plan, path, results, key, how)
   elseif how == 'list' and (isTensor or isTable) then
      return cutList(kept, value, plan, path, results, key)
   elseif how == 'replicate' and (isTensor or isTable) then
      return replicate(kept, value, plan, results, key)
   elseif isTable then
      return walkTable(kept, value, plan, path, results, key, how, like)
   elseif isTensor then
      kept = scatterTensor(kept, value, plan, how, path, like)
      for i, result in ipairs(results) do result[key] = kept[i] end
      return kept
   end
   for _, result in ipairs(results) do result[key] = value end
   return nil
end

--- Splits value into one part per replica.
-- @param state table of the caller that keeps the parts between calls
-- @param parts list that receives the part of every replica
-- @param value a tensor, or tables of tensors in any nesting
-- @param plan {devices = list, dimension = along which, type = the network's tensor type, spec =
-- split spec of value (see dpt.parallel.split.split_spec) or nil, like = list of trees of tensors
-- with as many rows as value's parts must have, or nil; likeName = name of these trees in errors
-- ('the output'); cut = nil for balanced parts, or function(rows, part) that returns the number of
-- rows of a part}
-- @param name name of the value in errors
-- @return the number of replicas, from the first, that got rows (all if nothing is split); the list
-- of the numbers of rows before each replica's part
function scatter.into(state, parts, value, plan, name)
   plan.used, plan.rows, plan.counts = 0, 0, {}
   local results, before = {}, {[1] = 0}
   for i = 1, #plan.devices do results[i] = {} end
   state.kept = walk(state.kept, value, plan, name, results, 1, plan.spec, plan.like)
   for i = 1, #plan.devices do
      parts[i] = results[i][1]
      before[i + 1] = before[i] + (plan.counts[i] or 0)
   end
   if plan.rows == 0 and (plan.replicated or not plan.isCut) then plan.used = #plan.devices end
   return plan.used, before
end

-- Returns true if kept, and the first replica's part, were made from value: from the same tensors
-- or views of the same elements, and from equal other values.
local function mirrors(kept, part, value)
   local isTensor, isTable = torch.isTensor(value), torch.type(value) == 'table'
   if not kept then return not isTensor and not isTable and rawequal(part, value) end
   if kept.parts then
      for k in pairs(kept.parts) do
         if not isTable or value[k] == nil then return false end
      end
      for k, v in pairs(isTable and value or {}) do
         if not mirrors(kept.parts[k], part[k], v) then return false end
      end
      return isTable
   end
   local source = kept.source[1]
   return rawequal(source, value) or isTensor and torch.isTensor(source)
      and source:type() == value:type() and source:isSetTo(value)
end

--- Returns true if the last scatter split value: the same tensors, or views of the same elements.
function scatter.wasOf(state, parts, value)
   return mirrors(state.kept, parts[1], value)
end

--- Returns a number that increases with every write to a tensor of a tree.
function scatter.version(tree)
   if torch.isTensor(tree) then return comm.version{tree} end
   local sum = 0
   for _, inner in pairs(torch.type(tree) == 'table' and tree or {}) do
      sum = sum + scatter.version(inner)
   end
   return sum
end

return scatter
