-- Runs a random job that succeeds, or has one mistake. arg: seed, file, mistake ('none' or one of
-- `mistakes`), the rank that makes it.
--
-- Invariant: every rank draws the same plan of all ranks from the seed, in which no ranks can
-- deadlock; then each runs its part. The mistake changes the plan of one rank.
local distributed = require 'dpt.distributed'
local script = require 'spec.support.ranks.script'
local given = script.given
local rank, size = distributed.rank(), distributed.size()
local seed, path, mistake, culprit = tonumber(arg[1]), arg[2], arg[3], tonumber(arg[4])

local random = torch.Generator()
torch.manualSeed(random, seed)
local function draw(n) return torch.random(random, 1, n) end
local function one(list) return list[draw(#list)] end

local kinds = {'torch.FloatTensor', 'torch.DoubleTensor', 'torch.LongTensor', 'torch.CudaTensor',
   'torch.CudaDoubleTensor', unpack(script.reduced)}
local counts = {0, 1, 7, 500, 500, 20000, 100000}

-- ---- steps ----

-- Returns the tensor of rank r (of the world) for step s.
local function its(s, r, count) return given(seed % 100 + s.number * 3 + r, s.kind, count) end

local function all(s)
   local list = torch.DoubleTensor(#s.members, math.max(1, s.count)):zero()
   for i, r in ipairs(s.members) do
      if s.count > 0 then list[i]:copy(its(s, r, s.count):double()) end
   end
   return s.count > 0 and list or torch.DoubleTensor()
end

local function reduced(s)
   if s.count == 0 then return torch.DoubleTensor() end
   local list, op = all(s), s.op
   if op == 'max' then return (list:max(1)) end
   if op == 'min' then return (list:min(1)) end
   return op == 'mean' and list:mean(1) or list:sum(1)
end

-- A wrong result is an error only in a job without a mistake: otherwise the ranks must detect it. A
-- comparison waits for the device, so some are made at the end, and the last never.
local late = {}
local function check(s, got, wanted)
   if mistake ~= 'none' or s.when == 3 then return end
   if s.when == 2 then
      late[#late + 1] = {got, wanted, s.what .. ' ' .. s.number}
   else
      script.equal(got, wanted, s.what .. ' ' .. s.number)
   end
end

local function ofRoot(s, place, value) return place == s.root and value or nil end

-- Collectives. place: this rank's index in the group.
local steps = {}
function steps.allReduce(s, group, place)
   local t = its(s, rank, s.count)
   distributed.allReduce(t, s.op, group)
   return t, reduced(s), place
end
function steps.reduce(s, group, place)
   local t = its(s, rank, s.count)
   distributed.reduce(t, s.root, s.op, group)
   return ofRoot(s, place, t), reduced(s)
end
function steps.broadcast(s, group)
   local t = its(s, rank, s.count)
   distributed.broadcast(t, s.root, group)
   return t, its(s, s.members[s.root + 1], s.count)
end
function steps.allGather(s, group)
   local t = its(s, rank, s.count)
   local out = t.new(#s.members * s.count)
   distributed.allGather(out, t, group)
   return out, all(s)
end
function steps.gather(s, group, place)
   local t = its(s, rank, s.count)
   local out = ofRoot(s, place, t.new(#s.members * s.count))
   distributed.gather(out, t, s.root, group)
   return out, all(s)
end
function steps.scatter(s, group, place)
   local t = its(s, rank, s.count):zero()
   distributed.scatter(t, ofRoot(s, place, all(s):type(s.kind)), s.root, group)
   return t, its(s, rank, s.count)
end
function steps.reduceScatter(s, group, place)
   local n, t = #s.members, its(s, rank, s.count)
   local whole = t.new(n * s.count)
   for i = 0, n - 1 do
      if s.count > 0 then
         whole:narrow(1, i * s.count + 1, s.count):copy(its(s, rank, s.count)):add(i)
      end
   end
   distributed.reduceScatter(t, whole, s.op, group)
   local factor = s.op == 'sum' and n or 1
   return t, s.count > 0 and reduced(s) + factor * place or reduced(s)
end
function steps.allToAll(s, group, place)
   local n, t = #s.members, its(s, rank, s.count)
   local input, out = t.new(n * s.count), t.new(n * s.count)
   local wanted = all(s)
   for i = 0, n - 1 do
      if s.count > 0 then
         input:narrow(1, i * s.count + 1, s.count):copy(t):add(i)
         wanted[i + 1]:add(place)
      end
   end
   distributed.allToAll(out, input, group)
   return out, wanted
end
function steps.barrier(_, group) distributed.barrier(group) end
function steps.values(s, group)
   local list = distributed.allGatherValue({rank, s.number}, group)
   for i, r in ipairs(s.members) do
      assert(mistake ~= 'none' or list[i][1] == r and list[i][2] == s.number, 'a wrong value')
   end
end

-- Messages between ranks of the group: s.messages, {from, to, tag, count}, with their indices.
function steps.exchange(s, group, place)
   local list, got = {}, {}
   for i, m in ipairs(s.messages) do
      local t = its(s, 10 * m.from + i, m.count)
      if m.from == place then
         list[#list + 1] = {send = t, to = m.to, tag = m.tag}
      elseif m.to == place then
         got[i] = t.new(m.count)
         list[#list + 1] = {receive = got[i], from = m.from, tag = m.tag}
      end
   end
   distributed.exchange(list, group)
   for i, t in pairs(got) do
      check(s, t, its(s, 10 * s.messages[i].from + i, s.messages[i].count))
   end
end
function steps.send(s, group, place)
   for i, m in ipairs(s.messages) do
      local t = its(s, 10 * m.from + i, m.count)
      if m.from == place then
         distributed.send(t, m.to, m.tag, group)
      elseif m.to == place then
         local out = t.new(m.count)
         distributed.receive(out, m.from, m.tag, group)
         check(s, out, t)
      end
   end
end

local groups = {[0] = {}} -- 0: all ranks

-- Steps of all ranks of the world, and of a single rank.
function steps.group(s) groups[s.index] = distributed.group(s.list) end
function steps.free(s) groups[s.index]:free() end
function steps.look()
   for _, result in ipairs(late) do script.equal(unpack(result)) end
end
function steps.compute(s)
   if rank ~= s.who then return end
   if s.way == 1 then script.sleep(s.seconds) else script.busy(s.seconds) end
end

-- ---- the plan ----

local world = {}
for r = 0, size - 1 do world[#world + 1] = r end

-- Returns some ranks in random order.
local function some()
   local list, left = {}, {unpack(world)}
   for _ = 1, draw(size) do list[#list + 1] = table.remove(left, draw(#left)) end
   return list
end

local names = {'allReduce', 'allReduce', 'reduce', 'broadcast', 'allGather', 'gather', 'scatter',
   'reduceScatter', 'allToAll', 'barrier', 'values', 'exchange', 'exchange', 'send', 'send',
   'group', 'group', 'free', 'compute', 'compute'}

local function messages(what, n)
   local list = {}
   for i = 1, n > 1 and draw(what == 'send' and 2 or 2 * n) or 0 do
      local from = draw(n) - 1
      list[i] = {from = from, to = (from + draw(n - 1)) % n, tag = draw(3) - 1, count = one(counts)}
   end
   return list
end

-- Messages with the same tag are received in the order in which they are sent.
local function plan()
   local list, made, alive = {}, 0, {{index = 0, list = world}}
   for i = 1, 6 + draw(14) do
      local s = {number = i, what = one(names), kind = one(kinds), count = one(counts)}
      s.op = one(s.kind:find 'Long' and {'sum', 'min', 'max'} or {'sum', 'mean', 'min', 'max'})
      local group = one(alive)
      if draw(3) == 1 then group = alive[1] end
      s.members = s.what == 'compute' and {} or group.list
      s.group, s.root = group.index, draw(#group.list) - 1
      s.who, s.way, s.seconds = draw(size) - 1, draw(2), draw(20) / 100
      s.messages, s.when = messages(s.what, #group.list), draw(2)
      local later = some()
      if s.what == 'group' then
         made = made + 1
         s.index, s.list = made, later
         alive[#alive + 1] = {index = made, list = later}
      elseif s.what == 'free' then
         if #alive == 1 then
            s.what, s.members, s.group = 'barrier', world, 0
         else
            s.index = table.remove(alive, 1 + draw(#alive - 1)).index
         end
      end
      list[i] = s
   end
   -- every mistake needs a possible step
   table.insert(list, draw(#list), {number = 90, what = 'broadcast', kind = kinds[1], count = 90,
      members = world, group = 0, root = 0})
   table.insert(list, 1 + draw(#list), {number = 91, what = 'allReduce', kind = kinds[1],
      op = 'sum', count = 91, members = world, group = 0})
   list[#list + 1] = {number = 97, what = 'look'}
   if draw(2) == 1 then -- a rank ends its script before its queued work has run
      list[#list + 1] = {number = 98, what = 'compute', members = {}, who = draw(size) - 1, way = 2,
         seconds = 0.4}
      list[#list + 1] = {number = 99, what = one{'allReduce', 'broadcast', 'allGather'}, op = 'sum',
         kind = kinds[4], count = 7, members = world, group = 0, root = 0, when = 3}
   end
   return list
end

local function place(s)
   for i, r in ipairs(s.members) do
      if r == rank then return i - 1 end
   end
end

-- Returns true if step s of the culprit reaches another rank.
local function reaches(s)
   if not s.members or #s.members < 2 or s.what == 'group' or s.what == 'free' then return false end
   local mine
   for i, r in ipairs(s.members) do if r == culprit then mine = i - 1 end end
   if not mine then return false end
   if s.what ~= 'exchange' and s.what ~= 'send' then return true, true end
   for _, m in ipairs(s.messages) do
      if m.from == mine or m.to == mine then return true, false end
   end
end

local function isCollective(s) return select(2, reaches(s)) end

-- Mistakes: the steps of a plan at which each is possible, and its change of the plan.
local mistakes = {}
local function insert(f)
   return {fits = reaches, make = function(list, i) table.insert(list, i, {what = f}) end}
end
mistakes.missing = {fits = reaches, make = function(list, i) table.remove(list, i) end}
mistakes.other = {fits = function(s) return isCollective(s) and s.op and s.what:find 'educe' end,
   make = function(list, i)
      local changed = {}
      for k, v in pairs(list[i]) do changed[k] = v end
      changed.op = changed.op == 'sum' and 'max' or 'sum'
      list[i] = changed
   end}
local function differ(s, other)
   if s.group ~= other.group then return false end
   if s.what ~= other.what then return true end
   return s.what ~= 'barrier' and s.what ~= 'values'
      and (s.kind ~= other.kind or s.count ~= other.count)
end
mistakes.swapped = {
   fits = function(s, list, i)
      local other = list[i + 1]
      return isCollective(s) and other and isCollective(other) and differ(s, other)
   end,
   make = function(list, i) list[i], list[i + 1] = list[i + 1], list[i] end,
}
mistakes.exit, mistakes.kill, mistakes.stop = insert 'exit', insert 'kill', insert 'stop'

function steps.exit() os.exit(0) end
function steps.kill() script.signal(9) end
function steps.stop() script.signal(19) end

local function spoil(list)
   local fitting = {}
   for i, s in ipairs(list) do
      if mistakes[mistake].fits(s, list, i) then fitting[#fitting + 1] = i end
   end
   if #fitting == 0 then -- two different operations in a row, at the end
      for k = 1, 2 do list[#list + 1] = {number = 92 + k, what = 'allReduce', kind = kinds[k],
         op = 'sum', count = k, members = world, group = 0} end
      fitting[1] = #list - 1
   end
   local i = one(fitting)
   if rank == 0 then
      print(('rank %d: %s at step %d, %s'):format(culprit, mistake, i, list[i].what))
   end
   if rank == culprit then mistakes[mistake].make(list, i) end
end

local list, saver = plan(), draw(size) - 1
if mistake ~= 'none' then spoil(list) end
io.stdout:flush()
distributed.barrier()
if mistake == 'stop' then script.limit(3) end
for _, s in ipairs(list) do
   local mine = s.members and place(s)
   if mine or not s.members or s.what == 'group' or s.what == 'free' or s.what == 'compute' then
      local got, wanted = steps[s.what](s, s.group and s.group > 0 and groups[s.group] or nil, mine)
      if got then check(s, got, wanted) end
   end
end
if rank == saver then
   torch.save(path, {seed = seed, t = torch.CudaTensor(1000):fill(seed)})
   print 'saved'
end
