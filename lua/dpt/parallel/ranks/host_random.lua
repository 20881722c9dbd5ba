--- dpt.parallel.ranks.host_random: random numbers of host tensors in a pass of one rank.
--
-- Invariant: the default generator has the same state on all ranks before and after a pass. For
-- this rank's rows it draws the numbers that one process would draw for them: the numbers of the
-- other rows are drawn and discarded (dpt_rows_set). So its state is enough to repeat a pass, with
-- any number of ranks.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local C = dptffi.C

local hostRandom = {}

local own = torch.Generator()

local running = nil -- {first, rows, total} of the running pass

local function enter(pass)
   running = pass
   if pass then C.dpt_rows_set(pass[1], pass[2], pass[3]) else C.dpt_rows_set(0, 0, 0) end
end

local function leave(outer, ok, ...)
   enter(outer)
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...) in a pass that running() returned; nil: outside of any pass.
-- @return the results of f
function hostRandom.withinPass(pass, f, ...)
   local outer = running
   enter(pass)
   return leave(outer, pcall(f, ...))
end

--- Returns the running pass, or nil.
function hostRandom.running() return running end

--- Calls f(...), which runs a pass over some rows of a batch.
-- @param first number of rows before them
-- @param rows number of rows
-- @param total number of rows of the batch
-- @return the results of f
function hostRandom.within(first, rows, total, f, ...)
   return hostRandom.withinPass({first, rows, total}, f, ...)
end

--- Calls f(...), which runs a pass over all rows of a batch, whatever their number.
-- @return the results of f
function hostRandom.withinAllRows(f, ...) return hostRandom.within(0, 0, 0, f, ...) end

--- Returns true inside such a pass. The number of values drawn must then depend on sizes alone, so
-- that ranks know how many values other ranks' rows use.
function hostRandom.mustDrawBySize() return running ~= nil end

-- Calls f(...) with the default generator seeded by `seed`; restores its state afterwards.
local function seeded(seed, f, ...)
   local before = torch.getRNGState()
   torch.manualSeed(own, seed)
   torch.setRNGState(torch.getRNGState(own))
   local results = {pcall(f, ...)}
   torch.setRNGState(before)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2, table.maxn(results))
end

--- Calls f(...), which runs a pass; the numbers of rows of other ranks are unknown. Assumes that
-- each has as many as this one, and uses a seed drawn from the default generator.
-- @param rank, ranks this rank's number and the number of ranks
function hostRandom.assumeEqualRows(rank, ranks, rows, f, ...)
   local seed = torch.random() * 2 ^ 20 + torch.random() % 2 ^ 20
   return seeded(seed, hostRandom.within, rank * rows, rows, ranks * rows, f, ...)
end

--- Returns a hash of the generator's state, by which ranks detect that their generators differ: a
-- module may have drawn any number of values.
function hostRandom.hash() return C.dpt_generator_hash(core.generator()) end

return hostRandom
