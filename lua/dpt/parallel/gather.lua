--- dpt.parallel.gather: joins what the replicas gave into one tensor, or a tree of them.
--
-- What must stay true: the result lies on one device in tensors that are kept from one call to the
-- next; all replicas gave the same tree (else an error names the place); what is no tensor is the
-- first replica's.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local fail = require('dpt.ffi').fail

local function wrongForm(path, i, first, other)
   fail('%s: replica 1 gave a %s, replica %d a %s', path, torch.type(first), i, torch.type(other))
end

local function gather(kept, values, count, dimension, device, path)
   local first = values[1]
   if torch.isTensor(first) then
      local typename = first:type()
      for i = 2, count do
         if torch.type(values[i]) ~= typename then wrongForm(path, i, first, values[i]) end
      end
      if torch.type(kept) ~= typename then kept = first.new() end
      comm.gatherInto(kept, values, dimension, device)
      return kept
   elseif torch.type(first) == 'table' then
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
         local inner, place = {}, ('%s[%s]'):format(path, tostring(k))
         for i = 1, count do
            inner[i] = values[i][k]
            if inner[i] == nil then wrongForm(place, i, first[k], nil) end
         end
         kept[k] = gather(kept[k], inner, count, dimension, device, place)
      end
      return kept
   end
   return first
end

--- Empties the tensors of a tree; what is no tensor stays.
local function empty(kept)
   if torch.isTensor(kept) then
      kept:resize(0)
   elseif torch.type(kept) == 'table' then
      for _, value in pairs(kept) do empty(value) end
   end
   return kept
end

--- Joins values, the replicas' results in order, along a dimension.
-- @param kept the result of last time, or anything else
-- @param values one tensor or tree for each replica that got rows
-- @param count how many those are; 0 empties the result
-- @param dimension along which
-- @param device where the result is to be
-- @param name what to call the value in an error
-- @return the joined tensor or tree
return function(kept, values, count, dimension, device, name)
   if count == 0 then return empty(kept) end
   return gather(kept, values, count, dimension, device, name)
end
