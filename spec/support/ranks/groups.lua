-- Tests many groups of ranks, and processes started by ranks: runs each of `checks` on all ranks.
local distributed = require 'dpt.distributed'
local expect = require 'spec.support.ranks.expect'
local script = require 'spec.support.ranks.script'

local checks = {}

local function child()
   local pipe = io.popen 'scripts/dpt spec/support/ranks/child.lua 2>&1'
   local text = pipe:read '*a'
   pipe:close()
   assert(text == 'child: rank 0 of 1\n', text)
end
child() -- before this process is connected to the others

local rank, size = distributed.rank(), distributed.size()
local all = torch.range(0, size - 1):totable()

local function sum(kind, group, members)
   local t = torch.ones(3):type(kind):fill(rank + 1)
   distributed.allReduce(t, 'sum', group)
   local wanted = 0
   for _, r in ipairs(members) do wanted = wanted + r + 1 end
   assert(t:min() == wanted and t:max() == wanted, 'a sum of a group')
end

-- Creates and uses once a group of two ranks, or of one if there is only one.
local pair = size > 1 and {0, 1} or {0}
local function useOne(kind)
   local group = distributed.group(pair)
   if group:rank() then sum(kind, group, pair) end
   return group
end

function checks.child()
   child()
   local records = {}
   local pipe = io.popen 'ls $TMPDIR'
   for name in pipe:lines() do
      local r = tonumber(name:match '^dpt%-flight%-.*%-(%d+)$')
      if r then records[r] = true end
   end
   pipe:close()
   for _, r in ipairs(all) do assert(records[r], ('rank %d has no record'):format(r)) end
   distributed.barrier() -- none ends before all have checked
end

function checks.freed()
   for i = 1, 1000 do
      local group = useOne(i % 10 == 0 and 'torch.CudaTensor' or 'torch.FloatTensor')
      group:free()
   end
end

function checks.dropped()
   for i = 1, 1000 do
      useOne(i % 10 == 0 and 'torch.CudaTensor' or 'torch.FloatTensor')
      if i % (100 + 50 * rank) == 0 then collectgarbage() end -- not at the same time on all ranks
   end
end

function checks.after()
   local group, kept = useOne 'torch.FloatTensor', useOne 'torch.FloatTensor'
   group:free()
   local t = torch.FloatTensor(1)
   for name, words in pairs{allReduce = {t, 'sum', group}, barrier = {group},
      allGatherValue = {1, group}, send = {t, 0, 0, group}} do
      expect.raises('group was freed', distributed[name], unpack(words))
   end
   expect.raises('group was freed', group.size, group)
   if kept:rank() then sum('torch.FloatTensor', kept, pair) end
   sum('torch.FloatTensor', nil, all)
end

-- Queued operations of a group run after it has been freed or dropped.
function checks.queued()
   local list = {}
   for i = 1, 2 do
      local group, t = distributed.group(all), torch.CudaTensor(5):fill(1)
      if rank == 0 then script.busy(0.1) end
      distributed.allReduce(t, 'sum', group)
      if i == 1 then group:free() end
      list[i] = t
   end
   collectgarbage()
   collectgarbage()
   for _, t in ipairs(list) do assert(t:min() == size and t:max() == size) end
end

function checks.alive()
   local groups = {}
   for i = 1, 100 do
      local members = {i % size}
      if size > 1 and i % 3 > 0 then members[2] = (i + 1) % size end
      groups[i] = {distributed.group(members), members}
   end
   for round = 1, 2 do
      local step = 3 - 2 * round -- 1, then -1
      for i = round == 1 and 1 or 100, round == 1 and 100 or 1, step do
         local group, members = unpack(groups[i])
         assert(group:size() == #members)
         if group:rank() then
            assert(members[group:rank() + 1] == rank)
            sum(i % 10 == 0 and 'torch.CudaTensor' or 'torch.FloatTensor', group, members)
         end
      end
   end
end

-- Groups of one rank each, created one after the other, run different operations: at the end of the
-- job they are not mistaken for one group.
function checks.apart()
   for _ = 1, 8 do
      local own
      for _, r in ipairs(all) do
         local group = distributed.group{r}
         if r == rank then own = group end
      end
      distributed.allReduce(torch.FloatTensor(1 + rank):fill(1), 'sum', own)
   end
end

function checks.memory()
   local function many(n)
      for i = 1, n do
         local group = useOne 'torch.FloatTensor'
         if i % 2 == 0 then group:free() end
      end
      collectgarbage()
      collectgarbage()
      return script.resident()
   end
   many(500)
   local before = many(500)
   local after = many(2000)
   assert(after - before < 2000, ('%d KB more after 2000 groups'):format(after - before))
end

script.run(arg[1] and {arg[1]} or {'child', 'freed', 'dropped', 'after', 'queued', 'alive',
   'apart'}, checks)
