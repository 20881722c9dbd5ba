--- dpt.parallel.split.gather: joins the replicas' results into one tensor, or a tree of tensors.
--
-- Invariant: the result is on one device, in tensors that are reused by the next call. All replicas
-- return the same tree (otherwise an error names the path), and values that are not tensors are
-- equal on all. If a split spec made the parts, it also defines how they are joined: split tensors
-- are concatenated along their dimension, replicated ones are summed, and parts that a user's
-- function made stay a list.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type
local cutorch = require 'dpt.device'
local splitSpec = require 'dpt.parallel.split.split_spec'

local function wrongForm(path, i, first, other)
   fail('%s: replica 1 returned a %s, replica %d a %s', path, torch.type(first), i,
      torch.type(other))
end

-- Sums tensors of several devices in order.
local function sum(kept, values, count, device)
   kept = cutorch.withDevice(device, function()
      return kept:resize(values[1]:size()):copy(values[1])
   end)
   local others = {}
   for i = 2, count do others[#others + 1] = values[i]:contiguous() end
   comm.reduceInto({kept}, others)
   return kept
end

-- Raises if values that are not tensors differ: returning one replica's loss would be wrong.
local function gatherOther(values, count, path)
   local first, kind = values[1], type(values[1])
   for i = 2, count do
      local value = values[i]
      if type(value) ~= kind then wrongForm(path, i, first, value) end
      local plain = kind == 'number' or kind == 'string' or kind == 'boolean'
      if plain and value ~= first and (value == value or first == first) then
         fail('%s: replica 1 returned %s, replica %d returned %s: values other than tensors must be'
            .. ' equal in all replicas; for losses use nn.DataParallelCriterion', path,
            tostring(first), i, tostring(value))
      end
   end
   return first
end

local gather

local function gatherTensors(kept, values, count, dimension, device, path, how)
   local first = values[1]
   local typename = first:type()
   for i = 2, count do
      if torch.type(values[i]) ~= typename then wrongForm(path, i, first, values[i]) end
   end
   if torch.type(kept) ~= typename or comm.device(kept) ~= device then kept = first.new() end
   if how == 'replicate' and first:nElement() > 0 then return sum(kept, values, count, device) end
   comm.gatherInto(kept, values, type(how) == 'number' and how or dimension, device)
   if kept:nElement() == 0 and first:dim() > 0 then kept:resize(first:size()) end
   return kept
end

local function gatherTables(kept, values, count, dimension, device, path, how)
   local first = values[1]
   if torch.type(kept) ~= 'table' then kept = {} end
   for k in pairs(kept) do
      if first[k] == nil then kept[k] = nil end
   end
   for i = 2, count do
      if torch.type(values[i]) ~= 'table' then wrongForm(path, i, first, values[i]) end
      for k in pairs(values[i]) do
         if first[k] == nil then
            wrongForm(('%s[%s]'):format(path, tostring(k)), i, nil, values[i][k])
         end
      end
   end
   for k in pairs(first) do
      local inner, inside = {}, ('%s[%s]'):format(path, tostring(k))
      for i = 1, count do
         inner[i] = values[i][k]
         if inner[i] == nil then wrongForm(inside, i, first[k], nil) end
      end
      kept[k] = gather(kept[k], inner, count, dimension, device, inside, splitSpec.at(how, k))
   end
   return kept
end

function gather(kept, values, count, dimension, device, path, how)
   if how == nil then how = dimension end
   if type(how) == 'function' then return {unpack(values, 1, count)} end
   if torch.isTensor(values[1]) then
      return gatherTensors(kept, values, count, dimension, device, path, how)
   elseif torch.type(values[1]) == 'table' then
      return gatherTables(kept, values, count, dimension, device, path, how)
   end
   return gatherOther(values, count, path)
end

--- Empties the tensors of a tree; other values stay.
local function empty(kept)
   if torch.isTensor(kept) then
      kept:resize(0)
   elseif torch.type(kept) == 'table' then
      for _, value in pairs(kept) do empty(value) end
   end
   return kept
end

--- Joins values, the replicas' results in order, along a dimension.
-- @param kept result of the previous call, or anything else
-- @param values one tensor or tree for each replica that got rows
-- @param count number of values; 0 empties the result
-- @param dimension along which values are joined
-- @param device of the result
-- @param name name of the value in errors
-- @param how split spec that made the parts; nil: all were split along the dimension
-- @return the joined tensor or tree
return function(kept, values, count, dimension, device, name, how)
   if count == 0 then return empty(kept) end
   return gather(kept, values, count, dimension, device, name, how)
end
