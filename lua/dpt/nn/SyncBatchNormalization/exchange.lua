--- dpt.nn.SyncBatchNormalization.exchange: combines statistics and their gradients over replicas
-- and ranks.
--
-- Invariant: parts are combined in the memory that they are in, host or device, in the order of
-- ranks and devices. Each element is one sum that is rounded once, so the bits do not depend on how
-- devices are distributed over processes. A part without rows has no effect. With several ranks, a
-- call is one collective: all ranks have the same number of devices, or nn.DistributedDataParallel
-- passes the largest number (dpt.parallel.dispatch.batch_part).
local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local groups = require 'dpt.distributed.group'

local exchange = {}

--- Returns the group of the ranks that take part.
-- @param value table with a field group; without it, the group is all ranks
function exchange.ranks(value) return value.group or groups.world end

-- Returns the parts of this process's replicas as rows; with several ranks, those of all ranks.
-- @param value value of the first replica
local function gather(values, devices, value)
   local first, group = values[1], exchange.ranks(value)
   local size, parts = group:size(), math.max(devices, value.part and value.part.devices or 1)
   local own = first.new(parts, first:nElement())
   if #values < parts then own:zero() end
   for i, t in ipairs(values) do own[i]:copy(t:view(-1)) end
   if size == 1 then return own end
   local all = first.new(size * parts, first:nElement())
   distributed.allGather(all, own, group)
   return all
end

-- Returns the sum of rows, in their order.
local function sumOf(rows)
   if comm.device(rows) == 0 then
      local sum = rows[1]:double():clone()
      for i = 2, rows:size(1) do sum:add(rows[i]:double()) end
      return sum:type(rows:type())
   end
   local sum, rest = rows[1]:clone(), {}
   for i = 2, rows:size(1) do rest[i - 1] = rows[i] end
   if #rest > 0 then comm.reduceInto({sum}, rest) end
   return sum
end

-- Returns a copy for each value, on its device.
local function spread(t, values)
   local list = {}
   for i, value in ipairs(values) do
      local device = comm.device(value)
      list[i] = t
      if device ~= comm.device(t) then
         list[i] = cutorch.withDevice(device, function() return value.new(t:size()):copy(t) end)
      end
   end
   return list
end

local function on(device, f, ...)
   if device == 0 then return f(...) end
   return cutorch.withDevice(device, f, ...)
end

local function rowsOf(values)
   local list = {}
   for i, value in ipairs(values) do list[i] = value.own end
   return list
end

-- Combines the parts' counts, means and sums of squared differences into those of all rows.
local function statistics(values, devices)
   local own = rowsOf(values)
   local parts = gather(own, devices, values[1])
   local onDevice = comm.device(parts) > 0
   local all = parts:type(onDevice and 'torch.CudaDoubleTensor' or 'torch.DoubleTensor')
   local n = (all:size(2) - 1) / 2
   local counts = all:narrow(2, 1, 1):contiguous()
   local total = sumOf(counts)
   local divisor = total:clone():cmax(1)
   local shares = torch.cdiv(counts, divisor:view(1, 1):expandAs(counts))
   local means = all:narrow(2, 2, n)
   local mean = sumOf(torch.cmul(means, shares:expandAs(means)))
   local off = means - mean:view(1, n):expandAs(means)
   local squares = all:narrow(2, n + 2, n) + off:cmul(off):cmul(counts:expandAs(off))
   local result = parts.new(2 * n + 1) -- rounded once
   result:narrow(1, 1, 1):copy(total)
   result:narrow(1, 2, n):copy(mean)
   result:narrow(1, n + 2, n):copy(sumOf(squares))
   return spread(result, own)
end

--- @param values list with each replica's {own = its count, means and sums of squared differences,
-- one after the other; part = of the batch; group = of ranks, in replica 1's}
-- @param device device on which they are combined
-- @param devices number of devices of this process that have replicas, including those without rows
-- @return list, one per replica, of the statistics of all rows
function exchange.statistics(values, device, devices)
   return on(device, statistics, values, devices)
end

local function totals(values, devices)
   local rows, list, first = 0, rowsOf(values), values[1]
   for _, value in ipairs(values) do rows = rows + value.rows end
   local isShared = first.part and first.part.devices
   local weight = not isShared and exchange.ranks(first):size() > 1 and rows or 1
   local scaled = {}
   for i, one in ipairs(list) do scaled[i] = one * weight end
   local sum = sumOf(gather(scaled, devices, first)):viewAs(list[1])
   if weight ~= 0 then sum:div(weight) end
   return spread(sum, list)
end

--- @param values list with each replica's {own = sums of gradients, as (2, features); rows; part;
-- group}. By default gradients of ranks are weighted by their rows; gradOutput from
-- nn.DistributedDataParallel has already been multiplied by the rank's share
-- @return list, one per replica, of the sums over all, in the units of this rank's gradient
function exchange.sums(values, device, devices) return on(device, totals, values, devices) end

return exchange
