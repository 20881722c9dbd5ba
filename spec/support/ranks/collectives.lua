-- Compares every operation of dpt.distributed with results computed on this rank alone. Each rank
-- runs it; the last line of rank 0 is the number of results compared.
local distributed = require 'dpt.distributed'
local script = require 'spec.support.ranks.script'
local rank, size = distributed.rank(), distributed.size()
local most = tonumber(arg[1])
if arg[2] then -- the required transport
   local name, why = distributed.transport()
   assert(name == (size > 1 and arg[2] or 'none'), name .. ': ' .. why)
end
local compared = 0

-- Returns the elements of rank r: small integers, so that sums are exact in every type.
local function given(r, kind, count)
   if count == 0 then return torch.DoubleTensor():type(kind) end
   local i = torch.range(1, count)
   return (i * 3 + r * 7):remainder(11):remainder(5):add((i + r):remainder(2)):type(kind)
end

local function all(count, kind, group)
   local list = {}
   for i = 1, group and #group or size do
      list[i] = given(group and group[i] or i - 1, kind, count)
   end
   return list
end

local function check(what, got, wanted)
   compared = compared + 1
   got, wanted = got:double():view(-1), wanted:type(got:type()):double():view(-1)
   local worst = got:nElement() > 0 and (got - wanted):abs():max() or 0
   if got:nElement() ~= wanted:nElement() or worst >= 1e-3 or worst ~= worst then
      error(('%s on rank %d of %d: off by %g'):format(what, rank, size, worst))
   end
end

local function sum(list)
   local s = list[1]:double()
   for i = 2, #list do s = s + list[i]:double() end
   return s
end

local function reduced(list, op)
   if op == 'sum' then return sum(list) end
   if op == 'mean' then return sum(list) / #list end
   local s = list[1]:double()
   for i = 2, #list do s = op == 'min' and torch.cmin(s, list[i]:double())
      or torch.cmax(s, list[i]:double()) end
   return s
end

local function joined(list)
   local s = torch.DoubleTensor(#list, list[1]:nElement())
   for i, t in ipairs(list) do if t:nElement() > 0 then s[i]:copy(t:double()) end end
   return s
end

-- Returns the same elements with gaps between them.
local function strided(t)
   if t:nElement() == 0 then return t end
   return t.new(t:nElement(), 2):select(2, 1):copy(t)
end

local function try(kind, count, form, group, handle)
   local n, place = size, rank
   if group then
      n, place = #group, handle:rank()
      if not place then return end
   end
   local list = all(count, kind, group)
   local function own() return form(list[place + 1]:clone()) end
   for _, op in ipairs{'sum', 'min', 'max', script.reals[kind] and 'mean' or nil} do
      local what = ('%s of %d %s'):format(op, count, kind)
      local t = own()
      distributed.allReduce(t, op, handle)
      check('allReduce ' .. what, t:contiguous(), reduced(list, op))
      local root = (count + #op) % n
      t = own()
      distributed.reduce(t, root, op, handle)
      if place == root then check('reduce ' .. what, t:contiguous(), reduced(list, op)) end
      if count > 0 then
         local whole = torch.DoubleTensor(n, count)
         for i = 1, n do whole[i]:fill(i):add(place) end
         local part = form(list[1].new(count))
         distributed.reduceScatter(part, whole:type(kind), op, handle)
         local parts = {}
         for i = 1, n do parts[i] = torch.DoubleTensor(count):fill(place + 1):add(i - 1) end
         check('reduceScatter ' .. what, part:contiguous(), reduced(parts, op))
      end
   end
   for root = 0, n - 1 do
      local what = ('of %d %s, root %d'):format(count, kind, root)
      local t = own()
      distributed.broadcast(t, root, handle)
      check('broadcast ' .. what, t:contiguous(), list[root + 1])
      local out = place == root and form(list[1].new(n * count)) or nil
      distributed.gather(out, own(), root, handle)
      if out then check('gather ' .. what, out:contiguous(), joined(list)) end
      local part = own():zero()
      distributed.scatter(part, place == root and joined(list):type(kind):view(-1) or nil, root,
         handle)
      check('scatter ' .. what, part:contiguous(), list[place + 1])
   end
   local out = form(list[1].new(n * count))
   distributed.allGather(out, own(), handle)
   check('allGather of ' .. count .. ' ' .. kind, out:contiguous(), joined(list))
   if n > 1 and place < 2 then
      local t = own()
      if place == 0 then
         distributed.send(t, 1, 3, handle)
      else
         distributed.receive(t, 0, 3, handle)
         check('receive of ' .. count .. ' ' .. kind, t:contiguous(), list[1])
      end
   end
end

local function same(t) return t end
for _, kind in ipairs(script.kinds) do
   for _, count in ipairs{0, 1, 7, 1000} do try(kind, count, same) end
   if kind == 'torch.FloatTensor' or kind == 'torch.CudaTensor' then try(kind, most, same) end
   try(kind, 33, strided)
end
if size > 2 then
   local list = {size - 1, 0}
   try('torch.FloatTensor', 50, same, list, distributed.group(list))
end

-- Lists are sent together; Lua values.
local list = {strided(given(rank, 'torch.FloatTensor', 4))}
for i, kind in ipairs(script.kinds) do list[1 + i] = given(rank, kind, i) end
distributed.allReduce(list)
check('a list', list[1]:contiguous(), sum(all(4, 'torch.FloatTensor')))
for i, kind in ipairs(script.kinds) do check('a list', list[1 + i], sum(all(i, kind))) end
local values = distributed.allGatherValue{rank = rank, text = ('x'):rep(rank)}
for i = 1, size do assert(values[i].rank == i - 1 and #values[i].text == i - 1) end
assert(distributed.broadcastValue({7 + rank}, size - 1)[1] == 6 + size)

-- Operations are ordered with the current stream: they see earlier work, and later work sees them.
if cutorch.getDeviceCount() > 0 then
   local t = torch.CudaTensor(1000):fill(0)
   for _ = 1, 20 do
      t:add(1)
      distributed.allReduce(t, 'mean')
      t:add(1)
   end
   check('in order', t, torch.FloatTensor(1000):fill(40))
end

-- In deterministic mode, ranks sum in the order of ranks, as one process does.
require('dpt').setDeterministic(true)
local odd = torch.FloatTensor(100)
local parts = {}
for r = 0, size - 1 do
   torch.manualSeed(r)
   parts[r + 1] = torch.randn(100):float()
end
odd:copy(parts[rank + 1])
distributed.allReduce(odd)
local exact = parts[1]:double()
for r = 2, size do exact:add(parts[r]:double()) end
assert((odd - exact:float()):abs():max() == 0, 'a sum in the order of ranks')
distributed.barrier()
if rank == 0 then print(('compared %d results'):format(compared)) end
