--- dpt.parallel.ranks.generators: generators of random numbers that all ranks have in common.
--
-- Invariant: rank 0's state becomes that of all ranks where nobody asked for another one: a rank
-- whose script chose another seed raises, on all ranks alike. Ranks whose seeds are the same, or
-- chance's, may have drawn more or fewer numbers.
local torch = require 'dpt.tensor'
local cutorch = require 'dpt.device'
local distributed = require 'dpt.distributed'
local seeding = require 'dpt.tensor.seeding'
local fail = require('dpt.ffi').fail

local generators = {}

-- Calls a function of generator i: torch's of the default one (0), or cutorch's of a device.
local function of(i, name, ...)
   if i == 0 then return torch[name](...) end
   if ... then return cutorch[name](..., i) end
   return cutorch[name](i)
end

-- Raises if a rank's script has chosen another seed than rank 0 has.
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

--- Rank 0's state of the default generator and of the first devices becomes that of all ranks. All
-- ranks call it.
-- @param owner the class's name
-- @param devices how many; a rank may have fewer
-- @param group of the ranks
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
