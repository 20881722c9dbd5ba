--- dpt.parallel.ranks.host_random: what host tensors draw in a pass of one rank.
--
-- Invariant: the default generator is the same on all ranks before and after a pass, and draws for
-- this rank's rows what it would have drawn for them in one process: the numbers of the other rows
-- are drawn and dropped (dpt_rows_set). So its state is all that must be kept to draw the same
-- again, with any number of ranks.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local C = dptffi.C

local hostRandom = {}

local own = torch.Generator()

local running = false

local function leave(ok, ...)
   C.dpt_rows_set(0, 0, 0)
   running = false
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...), a pass of some rows of a batch.
-- @param first how many rows before them
-- @param rows how many they are
-- @param total of the batch
-- @return what f returns
function hostRandom.within(first, rows, total, f, ...)
   C.dpt_rows_set(first, rows, total)
   running = true
   return leave(pcall(f, ...))
end

--- Calls f(...), a pass of all rows of a batch, whatever they are.
-- @return what f returns
function hostRandom.whole(f, ...) return hostRandom.within(0, 0, 0, f, ...) end

--- Whether such a pass runs: how many numbers are drawn goes by sizes alone, so that ranks can know
-- how many those of other rows are.
function hostRandom.isBySize() return running end

-- Calls f(...) with the numbers of a seed.
local function seeded(seed, f, ...)
   local before = torch.getRNGState()
   torch.manualSeed(own, seed)
   torch.setRNGState(torch.getRNGState(own))
   local results = {pcall(f, ...)}
   torch.setRNGState(before)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

--- The same if it is unknown how many rows other ranks have: as if all had as many.
-- @param rank, ranks this one's number, and how many there are
function hostRandom.apart(rank, ranks, rows, f, ...)
   local seed = torch.random() * 2 ^ 20 + torch.random() % 2 ^ 20
   return seeded(seed, hostRandom.within, rank * rows, rows, ranks * rows, f, ...)
end

--- Returns a number with which ranks detect that their generators differ: a module may have drawn
-- any number of values.
function hostRandom.hash() return C.dpt_generator_hash(core.generator()) end

return hostRandom
