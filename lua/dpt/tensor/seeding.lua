--- dpt.tensor.seeding: tracks which generators have a seed that the script chose.
--
-- Invariant: generator 0 is the default generator of this Lua state, generator i that of device i.
-- A seed counts as chosen if manualSeed set it, or setRNGState with a state from elsewhere. A state
-- that the script read while the seed was random still counts as random when it is restored.
local seeding = {}

local chosen, others = {}, false -- by generator; for generators not in it
local chance = {} -- random seeds of states that scripts have read

--- Returns true if the script chose the seed of generator i.
function seeding.isChosen(i)
   if chosen[i] == nil then return others end
   return chosen[i]
end

--- Records that the script has seeded generator i.
function seeding.choose(i) chosen[i] = true end

--- Records that the script has seeded all generators.
function seeding.chooseAll() chosen, others = {}, true end

--- Records that generator i has a random seed.
function seeding.forget(i) chosen[i] = false end

--- Records that the script has read the state of generator i.
-- @param seed number: its seed
function seeding.read(i, seed)
   if not seeding.isChosen(i) then chance[seed] = true end
end

--- Records that the script has set the state of generator i.
-- @param seed number: its new seed
function seeding.restore(i, seed) chosen[i] = not chance[seed] end

return seeding
