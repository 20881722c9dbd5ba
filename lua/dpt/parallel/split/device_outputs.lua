--- dpt.parallel.split.device_outputs: per-device outputs, which stay on their devices: a list with
-- one tensor or tree of tensors for every replica that got rows.
--
-- Invariant: to users the list is a plain table. Its metatable, which files leave out, holds the
-- devices and the dimension along which the batch was split.
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local deviceOutputs = {}

--- Marks a list as per-device outputs.
-- @param devices devices of all replicas
-- @param dimension along which the batch was split
-- @return the list
function deviceOutputs.mark(list, devices, dimension)
   return setmetatable(list, {deviceOutputs = {devices = devices, dimension = dimension}})
end

--- Returns how the batch of per-device outputs was split: {devices =, dimension =}; nil for any
-- other value.
function deviceOutputs.plan(value)
   local meta = type(value) == 'table' and debug.getmetatable(value)
   return type(meta) == 'table' and rawget(meta, 'deviceOutputs') or nil
end

-- Calls f for every tensor of a tree.
local function each(tree, f)
   if torch.isTensor(tree) then
      f(tree)
   elseif torch.type(tree) == 'table' then
      for _, value in pairs(tree) do each(value, f) end
   end
end

--- Returns the largest number of rows that a tensor of a tree has along a dimension.
function deviceOutputs.rows(tree, dimension)
   local rows = 0
   each(tree, function(t)
      if t:dim() >= dimension then rows = math.max(rows, t:size(dimension)) end
   end)
   return rows
end

--- Returns the largest number of dimensions of the tensors of a tree.
function deviceOutputs.dimensions(tree)
   local dimensions = 0
   each(tree, function(t) dimensions = math.max(dimensions, t:dim()) end)
   return dimensions
end

--- Returns the device of the first device tensor of a tree with memory; 0 if there is none.
function deviceOutputs.device(tree)
   local device = 0
   each(tree, function(t)
      if device == 0 then device = comm.device(t) end
   end)
   return device
end

--- Raises unless value, the gradOutput of a network, is a list with `count` entries, each on its
-- replica's device.
-- @param name class name of the network
-- @return the list
function deviceOutputs.check(value, count, devices, name)
   if torch.type(value) ~= 'table' or #value ~= count then
      fail('%s: gradOutput must be a list with an entry for each of the %d replica(s) that got'
         .. ' rows, got a %s', name, count,
         torch.type(value) == 'table' and 'list of ' .. #value or torch.type(value))
   end
   for i = 1, count do
      each(value[i], function(t)
         if t:nElement() > 0 and comm.device(t) ~= devices[i] then
            fail('%s: gradOutput[%d] has a %s on device %d, wanted on device %d, as replica %d',
               name, i, t:type(), comm.device(t), devices[i], i)
         end
      end)
   end
   return value
end

--- Returns a function that splits a tensor which belongs to per-device outputs. Its parts have as
-- many rows as the outputs, or a proportional number (a target for each word, outputs for each
-- text).
-- @param counts number of rows of each output
-- @param name name of the tensor in errors
-- @return function(rows, part) that returns the number of rows of a part
function deviceOutputs.cutting(counts, name)
   local total = 0
   for _, count in ipairs(counts) do total = total + count end
   return function(rows, part)
      local count = total > 0 and rows * counts[part] / total or 0
      if count % 1 ~= 0 or total == 0 and rows > 0 then
         fail('%s has %d rows, which cannot be cut as the %d of the output are (%s)', name, rows,
            total, table.concat(counts, ', '))
      end
      return count
   end
end

return deviceOutputs
