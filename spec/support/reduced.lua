--- Compares every value of a reduced type (elements.reduced) with floats, through pointwise
-- operations, conversions and orders, on the host and on devices.
--
-- Invariant: two results are equal if their numbers and the signs of their zeros are, and if both
-- are NaN. Each check raises at the first difference.
local core = require 'dpt.tensor.core'
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local elements = require 'spec.support.elements'
local both = require 'spec.support.both'
local torch = dpt.torch
local ffi, C, lib = dptffi.ffi, dptffi.C, dptffi.lib

local M = {}
local COUNT = 65536
local pairsOfNumbers = {{1, 2}, {0.75, 1.5}}
if os.getenv 'DPT_TORTURE' == 'full' then pairsOfNumbers[3] = {-3, 2} end

local function typeOf(name, device)
   return 'torch.' .. (device and elements.onDevice(name) or name) .. 'Tensor'
end

--- Returns all values of a type on the host; step: in another order, if odd.
function M.values(name, step)
   local x = torch[name .. 'Tensor'](COUNT)
   local bits = ffi.cast('uint16_t *', x:data())
   for i = 0, COUNT - 1 do bits[i] = i * (step or 1) end
   return x
end

local function numbers(t)
   t = t:double():clone()
   return t:maskedFill(t:ne(t), 0 / 0)
end

-- Returns the bits of a tensor in memory, as a string.
local function bitsOf(t)
   t = t:type(core.tensorNames[t.kind_ % core.ON_DEVICE]):contiguous()
   return ffi.string(t:data(), t:nElement() * t:elementSize())
end

local function same(wanted, got, what)
   if wanted.kind_ == got.kind_ and bitsOf(wanted) == bitsOf(got) then return end
   local a, b = numbers(wanted), numbers(got)
   local size = 8 * a:nElement()
   assert(a:nElement() == b:nElement(), what)
   if ffi.string(a:data(), size) == ffi.string(b:data(), size) then return end
   for i = 1, a:nElement() do
      if ffi.string(a:data() + i - 1, 8) ~= ffi.string(b:data() + i - 1, 8) then
         error(('%s: element %d is %.17g, wanted %.17g'):format(what, i, b[i], a[i]), 0)
      end
   end
end
M.same = same

--- Operations on reals of csrc/ops/map.def: name, operands, whether they call functions, and the
-- numbers that they are tested with: one pair if the formula has none.
local operations = {}
local file = assert(io.open 'csrc/ops/map.def')
for sort, line in file:read('*a'):gmatch '\nDPT_(%u+)(%b())' do
   local name, operands, trait, formula = line:match '^%(([%w_]+), [%w_]+, (%d), ([%w_]+),%s(.*)%)$'
   if sort ~= 'INTEGER' then
      table.insert(operations, {name = name, number = C.dpt_op(name), operands = tonumber(operands),
         calls = trait:find 'calls' ~= nil,
         pairs = formula:find '%f[%w_][pq]%f[^%w_]' and pairsOfNumbers or {pairsOfNumbers[1]}})
   end
end
file:close()

-- operands: three tensors of each type, by its name
local function apply(operation, typename, operands, p, q)
   local list = {unpack(operands[typename], 1, operation.operands)}
   local r = list[1].new(COUNT)
   list[#list + 1] = p
   list[#list + 1] = q
   lib['map' .. operation.operands](operation.number, r, unpack(list))
   return r
end

-- Operations with one rounding; through float, they round as if to the reduced type directly.
local exact = {}
for name in ('add sub mul div cmul cdiv sqrt cinv square cadd csub'):gmatch '%S+' do
   exact[name] = true
end

--- Compares pointwise operations with those on floats, rounded once; on the host also with those on
-- doubles. Devices agree with the host, except for functions, which may round floats differently.
function M.pointwise(name)
   local values = {M.values(name), M.values(name, 40503), M.values(name, 25717)}
   local operands = setmetatable({}, {__index = function(operands, typename)
      operands[typename] = {}
      for i, x in ipairs(values) do operands[typename][i] = x:type(typename) end
      return operands[typename]
   end})
   assert(#operations > 80)
   for _, operation in ipairs(operations) do
      for _, pair in ipairs(operation.pairs) do
         local p, q = unpack(pair)
         local what = ('%s of %s, %g, %g'):format(operation.name, name, p, q)
         local results = {}
         for _, device in ipairs{false, true} do
            local typename = typeOf(name, device)
            local floats = apply(operation, typeOf('Float', device), operands, p, q)
            results[device] = apply(operation, typename, operands, p, q)
            same(floats:type(typename), results[device], what .. (device and ' on a device' or ''))
         end
         if not operation.calls then same(results[false], results[true], what .. ': the device') end
         if exact[operation.name] and (p == 1 or not operation.name:find '^c[as][du]') then
            local doubles = apply(operation, 'torch.DoubleTensor', operands, p, q)
            same(doubles:type(typeOf(name)), results[false], what .. ', from doubles')
         end
      end
   end
end

--- Compares conversions to every type, on the host, on devices and between them, with those of
-- floats; and conversions of floats and doubles near midpoints on devices with the host's.
function M.conversions(name)
   local x = M.values(name)
   local there, floats = x:type(typeOf(name, true)), x:float()
   for _, to in ipairs(elements.everywhere) do
      local typename = 'torch.' .. to .. 'Tensor'
      local wanted, what = floats:type(typename), name .. ' to ' .. to
      same(wanted, x:type(typename), what)
      same(wanted, there:type(typename), what .. ', from a device')
      same(wanted, torch.getmetatable(typename).new(COUNT):copy(there), what .. ', a copy')
   end
   local ordered = numbers(x)
   local midpoints = torch.add(ordered:narrow(1, 1, COUNT - 1), ordered:narrow(1, 2, COUNT - 1))
      :div(2)
   for _, factor in ipairs{1, 1 + 2 ^ -40, 1 - 2 ^ -40, 1 + 2 ^ -23, 1 - 2 ^ -23} do
      for _, from in ipairs{'torch.DoubleTensor', 'torch.FloatTensor'} do
         local y = torch.mul(midpoints, factor):type(from)
         local wanted = y:type(typeOf(name))
         same(wanted, y:type(typeOf(name, true)), name .. ' to a device')
         same(wanted, y:type(dpt.comm.deviceType(from)):type(typeOf(name, true)),
            name .. ' on a device')
      end
   end
end

-- Returns the integer rounded to a number of bits, ties to even, as a number.
local function rounded(whole, bits)
   local size, shift = whole < 0 and -whole or whole, 0
   while size / 2LL ^ shift >= 2LL ^ bits do shift = shift + 1 end
   local unit = 2LL ^ shift
   local kept, rest = size / unit, size % unit * 2
   if rest > unit or rest == unit and kept % 2 == 1 then kept = kept + 1 end
   return tonumber(kept) * 2 ^ shift * (whole < 0 and -1 or 1)
end

--- Integers near the midpoints of numbers of a type, whose conversion to double or float would
-- round first, are rounded once by copies, on the host and on devices.
function M.wholes(name)
   local bits, x = both.bits(name), numbers(M.values(name))
   local largest = x[x:lt(math.huge)]:max()
   for _, from in ipairs{'Int', 'Long'} do
      local list = {}
      for shift = 1, (from == 'Int' and 30 or 62) - bits + 1 do
         for _, odd in ipairs{1, 3} do
            local middle = (2LL ^ bits + odd) * 2LL ^ (shift - 1)
            for delta = -1, 1 do
               list[#list + 1] = middle + delta
               list[#list + 1] = -middle + delta
            end
         end
      end
      local source = torch[from .. 'Tensor'](#list)
      local wanted = torch.DoubleTensor(#list)
      for i, whole in ipairs(list) do
         source:data()[i - 1] = whole
         local number = rounded(whole, bits)
         wanted[i] = math.abs(number) > largest and number * math.huge or number
      end
      local there = source:type(typeOf(from, true))
      for _, to in ipairs{typeOf(name), typeOf(name, true)} do
         local what = from .. ' to ' .. to
         same(wanted, source:type(to), what)
         same(wanted, there:type(to), what .. ', from a device')
         local wide = torch.getmetatable(to).new(#list, 2):zero()
         wide[{{}, 2}] = source
         same(wanted, wide:select(2, 2):contiguous(), what .. ', assigned')
         for i, whole in ipairs(list) do
            if whole < 2LL ^ 53 and -whole < 2LL ^ 53 and i % 7 == 0 then
               wide:fill(tonumber(whole))
               assert(wide[1][1] == wanted[i], what .. ', filled')
               wide[2][1] = tonumber(whole)
               assert(wide[2][1] == wanted[i], what .. ', an element')
            end
         end
      end
   end
end

--- Orders all values as floats are ordered; a NaN stays one.
function M.orders(name)
   local x = M.values(name)
   for _, device in ipairs{false, true} do
      local y = x:type(typeOf(name, device))
      local floats = y:type(typeOf('Float', device))
      for _, down in ipairs{false, true} do
         local sorted, places = y:sort(1, down)
         local wanted, order = floats:sort(1, down)
         same(wanted, sorted, name .. ' sorted')
         same(order, places, name .. ' sorted, places')
      end
      for _, f in ipairs{'max', 'min', 'median', 'mode', 'kthvalue', 'topk', 'cumsum', 'sum',
         'prod', 'cumprod'} do
         local k = f == 'kthvalue' and 9 or f == 'topk' and 300 or nil
         local function call(t)
            if k then return t[f](t, k, 1) end
            return t[f](t, 1)
         end
         local part = {y:narrow(1, 1, 0x7000), y:narrow(1, 0x7000, 0x1000)} -- without NaN, with
         for i, t in ipairs(part) do
            if f == 'max' or f == 'min' or f == 'kthvalue' or f == 'topk' then
               same(call(t:type(typeOf('Float', device))), call(t), name .. ' ' .. f .. i)
            elseif i == 2 and (f == 'cumsum' or f == 'sum' or f == 'prod' or f == 'cumprod') then
               local last = call(t):view(-1)
               assert(last[last:size(1)] ~= last[last:size(1)], name .. ' ' .. f)
            end
         end
      end
      local odd = torch.DoubleTensor{1, 0 / 0, -1 / 0, 2}:type(y:type())
      assert(odd:max() ~= odd:max() and odd:min() ~= odd:min() and odd:sum() ~= odd:sum())
      local up, down = odd:sort(), odd:sort(1, true)
      same(torch.DoubleTensor{-1 / 0, 1, 2, 0 / 0}, up, name .. ' with NaN')
      same(torch.DoubleTensor{0 / 0, 2, 1, -1 / 0}, down, name .. ' with NaN')
   end
end

--- Runs all checks of all reduced types.
function M.all()
   for _, name in ipairs(elements.reduced) do
      for _, check in ipairs{'pointwise', 'conversions', 'wholes', 'orders'} do M[check](name) end
   end
   return 'passed'
end

return M
