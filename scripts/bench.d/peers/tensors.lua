--- Rows of `scripts/bench peers` about tensors; peer.py has PyTorch's side of each by its name.
--
-- Invariant: a row is {name, title, wanted ratio, threads, start} and the fields that bound.lua
-- reads; start() returns a function that takes one step. Both sides compute the same on the same
-- sizes and layouts, into allocated tensors.
local N = 1e7
local rows = {}

local function add(name, title, asked, threads, start)
   local row = {name = name, title = title, asked = asked, threads = threads, start = start}
   rows[#rows + 1] = row
   return row
end

for _, n in ipairs{512, 1024, 2048} do
   add('gemm_' .. n, ('product of %d x %d'):format(n, n), 1, {1, 2}, function()
      local a, b = torch.randn(n, n), torch.randn(n, n)
      local r = torch.FloatTensor(n, n)
      return function() r:mm(a, b) end
   end).flops = 2 * n ^ 3
end

local layouts = {
   contiguous = function() return torch.FloatTensor(N) end,
   rows = function() return torch.FloatTensor(2500, 8000):narrow(2, 1, 4000) end,
   second = function() return torch.FloatTensor(N, 2):select(2, 1) end,
   transposed = function() return torch.FloatTensor(4000, 2500):t() end,
}
local words = {contiguous = '', rows = ', strided rows', second = ', every 2nd',
   transposed = ', transposed'}

local function operand(kind) return layouts[kind]():uniform(-4, 4) end
local function result(kind)
   if kind == 'transposed' then return torch.FloatTensor(2500, 4000):zero() end
   return operand(kind)
end

local asked = {
   tanh = {contiguous = 1.1, rows = 1.1, second = 1.1},
   exp = {contiguous = 1, rows = 1, transposed = 1},
   add = {contiguous = 1, rows = 1, second = 1, transposed = 1},
   mul = {contiguous = 1, rows = 1, second = 1, transposed = 1},
   copy = {contiguous = 1, transposed = 1},
}
local operands = {tanh = 2, exp = 2, add = 3, mul = 3, copy = 2}
local steps = {
   tanh = function(r, a) r:tanh(a) end,
   exp = function(r, a) r:exp(a) end,
   copy = function(r, a) r:copy(a) end,
   add = function(r, a, b) r:add(a, b) end,
   mul = function(r, a, b) r:cmul(a, b) end,
}
for _, op in ipairs{'tanh', 'exp', 'add', 'mul', 'copy'} do
   for _, kind in ipairs{'contiguous', 'rows', 'second', 'transposed'} do
      if asked[op][kind] then
         add(op .. '_' .. kind, ('%s of 10 M%s'):format(op, words[kind]), asked[op][kind], {1, 2},
            function()
               local r, a, b = result(kind), operand(kind), operand(kind)
               local step = steps[op]
               return function() step(r, a, b) end
            end).moves = 4 * N * operands[op] * (kind == 'second' and 2 or 1)
      end
   end
end

local sums = {
   all = function()
      local a = torch.randn(2500, 4000)
      return function() a:sum() end
   end,
   transposed = function()
      local a = torch.randn(4000, 2500):t()
      return function() a:sum() end
   end,
   rows = function()
      local a, r = torch.randn(2500, 4000), torch.FloatTensor()
      return function() r:sum(a, 2) end
   end,
   columns = function()
      local a, r = torch.randn(2500, 4000), torch.FloatTensor()
      return function() r:sum(a, 1) end
   end,
}
for _, name in ipairs{'all', 'transposed', 'rows', 'columns'} do
   add('sum_' .. name, 'sum of 10 M, ' .. name, 1, {1, 2}, sums[name]).reads = 4 * N
end

add('adamw', 'adamw of 124 M', 1, {1, 2}, function()
   local x, g = torch.randn(124e6), torch.randn(124e6)
   local function f() return 0, g end
   local state = {learningRate = 1e-3}
   return function() optim.adamw(f, x, state) end
end).moves = 7 * 4 * 124e6

local function small(name, title, step)
   add('small_' .. name, '16 floats: ' .. title, 8, {1}, function()
      local a, b = torch.randn(16), torch.randn(16)
      return function() step(a, b) end
   end)
end
small('add_number', 'add a number', function(a) a:add(1) end)
small('add_tensor', 'add a tensor', function(a, b) a:add(b) end)
small('tanh', 'tanh', function(a) a:tanh() end)
small('index', 'x[i]', function(a) return a[6] end)
small('assign', 'x[i] = v', function(a) a[6] = 2 end)

local file = os.getenv 'DPT_BENCH_FOLDER' .. '/tensor.t7'
add('save', 'save 100 MiB', 1.5, {1}, function()
   local t = torch.randn(25 * 2 ^ 20)
   return function() torch.save(file, t) end
end).writes = 100 * 2 ^ 20
add('load', 'load 100 MiB', 1.5, {1}, function()
   torch.save(file, torch.randn(25 * 2 ^ 20))
   return function() torch.load(file) end
end)

return rows
