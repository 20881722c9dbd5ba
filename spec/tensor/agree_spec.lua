-- Two ways to compute the same numbers: random indexing against plain Lua tables, random views and
-- operations on the host against a device and against loops over elements.
local torch = require 'dpt.tensor'
local types = require 'spec.support.elements'

local seed = tonumber(os.getenv 'DPT_SEED') or os.time()

--- Returns a source of numbers independent of the generator under test.
local function generator(state)
   return function(low, high)
      state = (state * 1103515245 + 12345) % 2147483648
      return low + math.floor(state / 65536) % (high - low + 1)
   end
end

--- Returns a tensor of 1 to 4 dimensions with the elements 1, 2, 3 ...
local function counted(draw, name)
   local sizes = {}
   for d = 1, draw(1, 4) do sizes[d] = draw(1, 4) end
   local x = torch[name](torch.LongStorage(sizes))
   return x:copy(torch.range(1, x:nElement())), sizes
end

--- Returns a random view of x.
local function view(draw, x)
   for _ = 1, draw(0, 4) do
      local d = draw(1, x:dim())
      local n = x:size(d)
      local kind = draw(1, 5)
      if kind == 1 then
         local first = draw(1, n)
         x = x:narrow(d, first, draw(1, n - first + 1))
      elseif kind == 2 and x:dim() > 1 then
         x = x:select(d, draw(1, n))
      elseif kind == 3 then
         x = x:transpose(d, draw(1, x:dim()))
      elseif kind == 4 and x:dim() < 6 then
         local window = draw(1, n)
         x = x:unfold(d, window, draw(1, 2))
      elseif kind == 5 and n == 1 then
         local sizes = x:size()
         sizes[d] = draw(1, 3)
         x = x:expand(sizes)
      end
   end
   return x
end

--- Returns the elements in row-major order, read one by one.
local function elements(x)
   local list = {}
   local function walk(t)
      if type(t) == 'number' then
         list[#list + 1] = t
      else
         for i = 1, t:size(1) do walk(t[i]) end
      end
   end
   walk(x)
   return list
end

describe('Agreement, seed ' .. seed, function()
   it('holds between indexing and nested tables', function()
      local draw = generator(seed)
      for _ = 1, 300 do
         local x, sizes = counted(draw, 'DoubleTensor')
         local model, index = x:totable(), {}
         for d = 1, draw(1, #sizes) do
            local n = sizes[d]
            local from = draw(1, n)
            local sign = draw(0, 1) == 1 and n + 1 or 0 -- negative: count from the end
            local kind = draw(1, 4)
            index[d] = kind == 1 and from - sign or kind == 2 and {} or kind == 3 and {from - sign}
               or {from - sign, draw(from, n) - sign}
         end
         local function pick(t, d)
            if d > #index then return t end
            local n, entry = sizes[d], index[d]
            local function place(i) return i < 0 and n + 1 + i or i end
            if type(entry) == 'number' then return pick(t[place(entry)], d + 1) end
            local list = {}
            local first = place(entry[1] or 1)
            for i = first, place(entry[2] or entry[1] or n) do
               list[#list + 1] = pick(t[i], d + 1)
            end
            return list
         end
         local got, want = x[index], pick(model, 1)
         assert.same(want, type(got) == 'number' and got or got:totable())
      end
   end)

   it('holds between views and reading by elements, on the host and on a device', function()
      for k = 1, 300 do
         local x = view(generator(seed + k), (counted(generator(seed + k), 'FloatTensor')))
         local y = view(generator(seed + k), (counted(generator(seed + k), 'CudaTensor')))
         local list = elements(x)
         assert.same(list, x:clone():view(-1):totable())
         assert.same(list, y:clone():view(-1):float():totable())
         assert.equal(#list, x:nElement())
         assert.same(x:totable(), y:totable())
         local flat = torch.FloatTensor(#list):copy(x)
         assert.same(list, flat:totable())
      end
   end)

   it('holds between operations on views and loops', function()
      for k = 1, 300 do
         local draw = generator(seed + k)
         local names = {'Float', 'Double', 'Int', 'Long', 'Cuda', 'CudaLong'}
         local name = names[draw(1, 6)] .. 'Tensor'
         local x = view(draw, (counted(draw, name)))
         local n = x:nElement()
         local y = torch[name](n):copy(torch.range(n, 1, -1))
         local a, b = elements(x), y:totable()
         local sum, product, larger, total = {}, {}, {}, 0
         for i = 1, n do
            sum[i], product[i] = a[i] + 3 * b[i], a[i] * b[i]
            larger[i] = a[i] > b[i] and 1 or 0
            total = total + a[i]
         end
         local function flat(t) return t:clone():view(-1):double():totable() end
         assert.same(sum, flat(torch.add(x, 3, y)))
         assert.same(product, flat(torch.cmul(x, y)))
         assert.same(larger, flat(x:gt(y)))
         assert.equal(total, x:sum())
         -- in place, into a result with strides: only its own elements change
         local whole = torch[name](2, n):zero()
         whole:t():select(2, 2):add(x)
         assert.same(a, flat(whole[2]))
         assert.equal(0, whole[1]:sum())
      end
   end)

   it('holds between clone, contiguous and copies of all types', function()
      local draw = generator(seed)
      local names = types.everywhere
      for _ = 1, 100 do
         local from, to = names[draw(1, #names)], names[draw(1, #names)]
         local x = view(draw, (counted(draw, 'FloatTensor')))
         local want = x:double():clone():view(-1):totable()
         local y = x:type('torch.' .. from .. 'Tensor')
         local z = torch[to .. 'Tensor'](x:nElement()):copy(y)
         for i, v in ipairs(want) do
            -- v is 256 at most; Char wraps at 128, Byte at 256
            local wraps = (from .. to):find 'Char' and 128 or 256
            if v < wraps then assert.equal(v, z:double()[i]) end
         end
      end
   end)
end)
