-- Compares random training runs of 2 and 3 ranks (spec/support/ranks/random_training.lua) with one
-- process. DPT_RUN=SEED repeats one run and prints its steps, on DPT_RANKS ranks (2).
local ranks = require 'spec.support.ranks'

local full = os.getenv 'DPT_TORTURE' == 'full'
-- By the number of ranks: the number of runs, and the first seed. They are fixed for every change,
-- and cover most networks, options and actions; the full count draws others.
local RUNS = {[2] = {20, 244}, [3] = {10, 116}}
if full then
   local seed = (tonumber(os.getenv 'DPT_SEED') or os.time()) % 100000 * 1000
   RUNS = {[2] = {700, seed}, [3] = {300, seed + 700}}
end
local MOST = 10 -- failures: enough to stop

-- Runs those seeds. A run that fails ends its ranks, so others continue after it.
-- @return list of messages
local function train(n, first, count, words)
   local bad, seed = {}, first
   while seed < first + count and #bad < MOST do
      local output, status = ranks.run(n, 'random_training',
         ('%d %d %s'):format(seed, first + count - seed, words or ''),
         'DPT_TIMEOUT=100 DPT_DEVICES=host:4')
      if words then print(output) end
      if status == 0 and output:find 'runs agree' then break end
      local last
      for number in output:gmatch 'DPT_RUN=(%d+)' do last = math.max(last or seed, number) end
      bad[#bad + 1] = ('%d ranks, seed %s (status %d):\n%s'):format(n, last or seed, status, output)
      seed = (last or seed) + 1
   end
   return bad
end

describe('random training runs #hostonly', function()
   local again = tonumber(os.getenv 'DPT_RUN')
   if again then
      it('repeat one', function()
         local bad = train(tonumber(os.getenv 'DPT_RANKS') or 2, again, 1, 'steps')
         assert.equal(0, #bad)
      end)
      return
   end

   for n, runs in pairs(RUNS) do
      local count, first = unpack(runs)
      it(('have the gradients and parameters of one process on %d ranks'):format(n), function()
         if ranks.missing() then return pending(ranks.missing()) end
         print(('DPT_RUN=%d and %d more'):format(first, count - 1))
         assert.equal('', table.concat(train(n, first, count), '\n'))
      end)
   end
end)
