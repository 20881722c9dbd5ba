--- dpt.parallel.ranks.generators: gives all ranks the same random generators.
--
-- Invariant: all ranks copy the state of rank 0's generators. If the script of a rank has set a
-- different seed, all ranks raise. Ranks with equal seeds, or with seeds that no script has set,
-- may have drawn different numbers of values.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local seeding = require 'dpt.tensor.seeding'
local fail = require('dpt.ffi').fail

local generators = {}

-- Calls a function of generator i: torch's for the default generator (0), cutorch's for that of a
-- device.
local function of(i, name, ...)
   if i == 0 then return torch[name](...) end
   if ... then return cutorch[name](..., i) end
   return cutorch[name](i)
end

-- Raises if the script of a rank has set another seed than rank 0's.
local function check(owner, all, group)
   for i, first in ipairs(all[1]) do
      for r = 2, #all do
         local its = all[r][i]
         if its and its.isChosen and its.seed ~= first.seed then
            fail('%s: ranks differ: %s of rank %d has the seed %.0f, that of rank %d has %.0f: seed'
               .. " all ranks alike, and draw a rank's own numbers from a generator of its own,"
               .. ' torch.Generator()', owner,
               i == 1 and 'the default generator' or 'the generator of device ' .. i - 1,
               group:globalRank(r - 1), its.seed, group:globalRank(0), first.seed)
         end
      end
   end
end

--- Copies the states of rank 0's default generator and of its first devices' generators to all
-- ranks. All ranks must call it.
-- @param owner class name of the network
-- @param devices number of devices; a rank may have fewer
-- @param group group of the ranks
function generators.share(owner, devices, group)
   local own = {}
   for i = 0, devices do
      own[i + 1] = {seed = of(i, 'initialSeed'), isChosen = seeding.isChosen(i),
         state = group:rank() == 0 and of(i, 'getRNGState') or nil}
   end
   local all = distributed.allGatherValue(own, group)
   check(owner, all, group)
   for i = 1, math.min(#all[1], #own) do
      of(i - 1, 'setRNGState', all[1][i].state)
      if not all[1][i].isChosen then seeding.forget(i - 1) end
   end
end

return generators
