--- dpt.tensor.print: formats tensors and storages, character for character as Torch7 does.
--
-- Invariant: the number format depends on the printed elements. Values are read as doubles on the
-- host, so device tensors print, too. A summary, which Torch7 does not have, reads only the
-- corners.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib

local LINE = 80
local MANY, EDGE = 10000, 3 -- as NumPy: elements printed in full, indices at each end of a summary

--- Returns the smallest and largest magnitude, whether all numbers are integers, and whether any is
-- NaN.
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

--- Returns a number format, the scale that divides all numbers, and the width.
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

-- Formats a vector; a summary has a gap after the first EDGE indices if others are omitted there.
local function vector(out, data, n, gap, format, scale)
   if scale ~= 1 then add(out, '%g *\n', scale) end
   for i = 0, n - 1 do
      if gap and i == EDGE then add(out, ' ...\n') end
      add(out, format .. '\n', data[i] / scale)
   end
end

--- Formats the rows of a matrix, in groups of columns that fit a line.
local function matrix(out, data, rows, columns, rowGap, columnGap, indent, format, scale, width)
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
         if rowGap and r == EDGE then add(out, '%s ...\n', margin) end
         for c = first, last do
            if columnGap and c == EDGE then line[#line + 1] = ' ...' end
            line[#line + 1] = format:format(data[r * columns + c] / scale)
         end
         add(out, '%s%s\n', margin, table.concat(line, ' '))
      end
   end
end

--- Formats matrices, each with a heading; the first index varies fastest.
-- @param gaps number of indices omitted from each dimension; nil: none
local function matrices(out, host, data, gaps, format, scale, width)
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
      local offset, whole, moved, skipped = 0, {}, true, false
      for d = 1, outer do
         offset = offset + (index[d] - 1) * tonumber(host.stride_[d - 1])
         whole[d] = index[d] + (index[d] > EDGE and gaps[d] or 0)
         skipped = skipped or moved and gaps[d] and index[d] == EDGE + 1
         moved = moved and index[d] == 1 -- the indices before it have wrapped around
      end
      if k > 1 then add(out, '\n') end
      if skipped then add(out, '...\n\n') end
      add(out, '(%s,.,.) = \n', table.concat(whole, ','))
      matrix(out, data + offset, rows, columns, gaps[n - 1], gaps[n], ' ', format, scale, width)
      for d = 1, outer do
         index[d] = index[d] + 1
         if index[d] <= sizes[d] then break end
         index[d] = 1
      end
   end
end

-- Returns the lines of a tensor's elements, and a last line.
local function textOf(t, gaps, last)
   local out = {}
   if t.ndim_ > 0 and C.dpt_count(t) > 0 then
      local host, data = core.doubles(t)
      local format, scale, width = formatOf(data, tonumber(C.dpt_count(t)))
      if t.ndim_ == 1 then
         vector(out, data, tonumber(t.size_[0]), gaps[1], format, scale)
      elseif t.ndim_ == 2 then
         matrix(out, data, tonumber(t.size_[0]), tonumber(t.size_[1]), gaps[1], gaps[2], '',
            format, scale, width)
      else
         matrices(out, host, data, gaps, format, scale, width)
      end
      core.keepAlive(host)
   end
   add(out, '[%s]\n', last)
   return table.concat(out)
end

local function describeStorage(s)
   return ('%s of size %d'):format(core.storageNames[s.kind_], core.storageLength(s))
end

--- Returns the text of a tensor, for tostring.
function core.tensorText(t) return textOf(t, {}, core.describeSize(t)) end

--- Returns the text of a storage, for tostring.
function core.storageText(s) return textOf(core.storageTensor(s), {}, describeStorage(s)) end

-- Copies the elements that the summary shows: both ends of each dimension up to d that has a gap.
local function copyCorners(to, from, gaps, d)
   while d > 0 and not gaps[d] do d = d - 1 end
   if d == 0 then return lib.copy(to, from) end
   for first = 0, EDGE, EDGE do
      local part, ends = core.tensor(to.kind_), core.tensor(from.kind_)
      lib.narrow(part, to, d - 1, first, EDGE)
      lib.narrow(ends, from, d - 1, first > 0 and first + gaps[d] or 0, EDGE)
      copyCorners(part, ends, gaps, d - 1)
   end
end

--- Formats a tensor or storage of more than 10,000 elements with up to three indices at each end of
-- a dimension, and a line that says how to print it in full; returns nil if nothing is omitted.
function core.summary(value)
   local t = core.isStorage(value) and core.storageTensor(value) or value
   local n, gaps, sizes = t.ndim_, {}, ffi.new('int64_t[?]', t.ndim_)
   local count = tonumber(C.dpt_count(t))
   for d = 1, n do
      local size = tonumber(t.size_[d - 1])
      if size > 2 * EDGE then gaps[d] = size - 2 * EDGE end
      sizes[d - 1] = size - (gaps[d] or 0)
   end
   if count <= MANY or next(gaps) == nil then return nil end
   local corners = core.fresh(core.DOUBLE)
   lib.resize(corners, n, sizes)
   copyCorners(corners, t, gaps, n)
   return textOf(corners, gaps, core.isStorage(value) and describeStorage(value)
      or core.describeSize(t)) .. ('corners of %.0f elements: io.write(tostring(x)) writes all\n')
      :format(count)
end
