--- dpt.tensor.print: the text of tensors and storages, character for character as Torch7's.
--
-- Invariant: the number format comes from the elements that are printed. Values are read as doubles
-- on the host, so device tensors print too.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local C = dptffi.C

local LINE = 80

--- Least and greatest magnitude of n numbers, whether all are whole, whether one is NaN.
local function survey(data, n)
   local least, most, whole, nan = math.huge, 0, true, false
   for i = 0, n - 1 do
      local v = data[i]
      if v ~= v then nan = true end
      if v ~= math.ceil(v) then whole = false end
      v = math.abs(v)
      if v < least then least = v end
      if v > most then most = v end
   end
   return least, most, whole, nan
end

local function exponent(v) return v == 0 and 1 or math.floor(math.log10(v)) + 1 end

--- The format of a number, the scale that all are divided by, and the width.
local function formatOf(data, n)
   local least, most, whole, nan = survey(data, n)
   if nan then return '%f', 1, 10 end
   local low, high = exponent(least), exponent(most)
   if whole then
      if high > 9 then return '%11.4e', 1, 11 end
      return ('%%%dd'):format(high + 1), 1, high + 1
   end
   if high - low > 4 then
      local width = (math.abs(high) > 99 or math.abs(low) > 99) and 12 or 11
      return ('%%%d.4e'):format(width), 1, width
   end
   if high > 5 or high < 0 then return '%7.4f', 10 ^ (high - 1), 7 end
   local width = high == 0 and 7 or high + 6
   return ('%%%d.4f'):format(width), 1, width
end

local function add(out, ...) out[#out + 1] = string.format(...) end

local function vector(out, data, n, format, scale)
   if scale ~= 1 then add(out, '%g *\n', scale) end
   for i = 0, n - 1 do add(out, format .. '\n', data[i] / scale) end
end

--- Rows of a matrix, in groups of columns that fit a line.
local function matrix(out, data, rows, columns, indent, format, scale, width)
   local perLine = math.max(1, math.floor((LINE - #indent) / (width + 1)))
   local margin = scale ~= 1 and indent .. ' ' or indent
   for first = 0, columns - 1, perLine do
      local last = math.min(first + perLine, columns) - 1
      if perLine < columns then
         if first > 0 then add(out, '\n') end
         add(out, 'Columns %d to %d\n', first + 1, last + 1)
      end
      if scale ~= 1 then add(out, '%s%g *\n', indent, scale) end
      for r = 0, rows - 1 do
         local line = {}
         for c = first, last do
            line[#line + 1] = format:format(data[r * columns + c] / scale)
         end
         add(out, '%s%s\n', margin, table.concat(line, ' '))
      end
   end
end

--- Matrices with a heading each, the first index running fastest.
local function matrices(out, host, data, format, scale, width)
   local sizes, index = {}, {}
   local n = host.ndim_
   for d = 1, n do sizes[d] = tonumber(host.size_[d - 1]) end
   local rows, columns, outer = sizes[n - 1], sizes[n], n - 2
   local count = 1
   for d = 1, outer do
      index[d] = 1
      count = count * sizes[d]
   end
   for k = 1, count do
      local offset = 0
      for d = 1, outer do offset = offset + (index[d] - 1) * tonumber(host.stride_[d - 1]) end
      if k > 1 then add(out, '\n') end
      add(out, '(%s,.,.) = \n', table.concat(index, ','))
      matrix(out, data + offset, rows, columns, ' ', format, scale, width)
      for d = 1, outer do
         index[d] = index[d] + 1
         if index[d] <= sizes[d] then break end
         index[d] = 1
      end
   end
end

--- What tostring returns for a tensor.
function core.tensorText(t)
   local out = {}
   if t.ndim_ > 0 and C.dpt_count(t) > 0 then
      local host, data = core.doubles(t)
      local format, scale, width = formatOf(data, tonumber(C.dpt_count(t)))
      if t.ndim_ == 1 then
         vector(out, data, tonumber(t.size_[0]), format, scale)
      elseif t.ndim_ == 2 then
         matrix(out, data, tonumber(t.size_[0]), tonumber(t.size_[1]), '', format, scale, width)
      else
         matrices(out, host, data, format, scale, width)
      end
      core.hold(host)
   end
   add(out, '[%s]\n', core.describeSize(t))
   return table.concat(out)
end

--- What tostring returns for a storage.
function core.storageText(s)
   local out, n = {}, core.storageLength(s)
   if n > 0 then
      local host, data = core.doubles(core.storageTensor(s))
      local format, scale = formatOf(data, n)
      vector(out, data, n, format, scale)
      core.hold(host)
   end
   add(out, '[%s of size %d]\n', core.storageNames[s.kind_], n)
   return table.concat(out)
end
