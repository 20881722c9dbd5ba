--- Checks that operations on device tensors return the host's results.
--
-- both(names, f) calls f(make) twice for every element type: make(x, type) converts a table or a
-- tensor to the element type under test (or the named one) on the host, or on a device. f returns
-- tensors; those of the device must have the sizes and values of the host's: the same bits if
-- `within` is nil, otherwise up to that fraction of the host's value.
local torch = require 'dpt.tensor'
local elements = require 'spec.support.elements'

local both = {
   reals = elements.reals, reduced = elements.reduced, types = elements.all,
}

--- Returns the bits of a real type's significand.
function both.bits(name)
   local n, one = 1, torch[name .. 'Tensor'](1)
   while one:fill(1 + 2 ^ -n)[1] > 1 do n = n + 1 end
   return n
end

--- Returns the tolerance of a reduced type for that of half: the same in units of the last place.
function both.tolerance(name, half) return half * 2 ^ (both.bits 'Half' - both.bits(name)) end

--- Returns a list of names with those of the reduced types after them.
function both.andReduced(...)
   local list = {...}
   for _, name in ipairs(both.reduced) do list[#list + 1] = name end
   return list
end

local function maker(name, device)
   return function(x, kind)
      local wanted = kind or name
      if device then wanted = elements.onDevice(wanted) end
      local t = type(x) == 'table' and torch.DoubleTensor(x) or x
      return t:type('torch.' .. wanted .. 'Tensor')
   end
end

--- Returns the first difference between two tensors, or nil.
local function difference(want, got, within)
   if want:dim() == 0 or got:dim() == 0 then
      return want:dim() ~= got:dim() and ('%d dimensions, wanted %d'):format(got:dim(), want:dim())
   end
   if not want:isSameSizeAs(got) then
      return ('size %s, wanted %s'):format(table.concat(got:size():totable(), 'x'),
         table.concat(want:size():totable(), 'x'))
   end
   -- 64-bit integers are compared as integers
   local kind = want:type() == 'torch.LongTensor' and 'torch.LongTensor' or 'torch.DoubleTensor'
   local a, b = want:type(kind):contiguous():view(-1), got:type(kind):contiguous():view(-1)
   local apart = a:ne(b)
   if kind == 'torch.DoubleTensor' then
      apart[torch.cmul(a:ne(a), b:ne(b))] = 0 -- both are NaN
      if within then apart[torch.le(torch.abs(a - b), torch.abs(a) * within)] = 0 end
   end
   if apart:sum() == 0 then return nil end
   local _, at = apart:max(1)
   return ('%.17g at %d, wanted %.17g'):format(b[at[1]], at[1], a[at[1]])
end

function both.agree(names, f, within)
   for _, name in ipairs(names) do
      local want, got = {f(maker(name, false))}, {f(maker(name, true))}
      for i, t in ipairs(want) do
         assert(type(got[i]) ~= 'number' and got[i]:type():find 'Cuda', 'not on a device')
         local text = difference(t, got[i], within)
         if text then error(('%s, result %d: %s'):format(name, i, text), 2) end
      end
      assert(#want == #got)
   end
end

--- Returns integers from low to high, the same in every run; sizes as in torch.DoubleTensor.
function both.numbers(low, high, ...)
   local x, state = torch.DoubleTensor(...), 12345
   local n = x:nElement()
   local list = {}
   for i = 1, n do
      state = (state * 1103515245 + 12345) % 2147483648
      list[i] = low + math.floor(state / 65536) % (high - low + 1)
   end
   return x:copy(torch.DoubleTensor(list):viewAs(x))
end

return both
