--- dpt.tensor.seeding: which generators have a seed that the script chose.
--
-- Invariant: generator 0 is the default one of this Lua state, i that of device i. A seed is the
-- script's if it came by manualSeed, or by setRNGState from elsewhere; a state that the script read
-- while chance had chosen the seed stays chance's when it is set again.
local seeding = {}

local chosen, others = {}, false -- by generator; of those that are not in it
local chance = {} -- seeds by chance, of states that scripts have read

--- Returns true if the script chose the seed of generator i.
function seeding.isChosen(i)
   if chosen[i] == nil then return others end
   return chosen[i]
end

--- Notes that the script has seeded generator i.
function seeding.choose(i) chosen[i] = true end

--- Notes that the script has seeded all generators.
function seeding.chooseAll() chosen, others = {}, true end

--- Notes that generator i has a seed by chance.
function seeding.forget(i) chosen[i] = false end

--- Notes that the script has read the state of generator i.
-- @param seed number: its seed
function seeding.read(i, seed)
   if not seeding.isChosen(i) then chance[seed] = true end
end

--- Notes that the script has set the state of generator i.
-- @param seed number: its seed now
function seeding.restore(i, seed) chosen[i] = not chance[seed] end

return seeding
