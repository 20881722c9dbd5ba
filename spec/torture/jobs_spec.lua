-- Random jobs (spec/support/ranks/job.lua): correct ones succeed; if one rank makes a mistake, the
-- message names it. DPT_JOB=SEED repeats a job.
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'
local torture = require 'spec.support.torture'

-- Messages that name the rank %d, or the operations that differ.
local different = {
   'is not the same on all ranks: .- on rank %%d+',
   'have called different operations',
   'rank %%d+ waits for rank %%d+ in ',
   'calls %%a+ of .- which calls ',
   'rank %d[^,\n]- has ended its script',
}
local says = {missing = different, other = different, swapped = different,
   exit = {'rank %d[^,\n]- has ended its script'},
   kill = {'rank %d [w(][ith process PID]+%%d+'},
   stop = {'has taken longer than 3 s.*rank %d[^;\n]-[: ]is stopped',
      'rank %d on %%S+: last heard of', 'not answered for 3 s.*rank %d'}}
local names = {'missing', 'other', 'swapped', 'exit', 'kill', 'stop'}

-- Returns a job, which depends only on its seed.
local function describeJob(seed)
   local random = torch.Generator()
   torch.manualSeed(random, seed)
   local function draw(n) return torch.random(random, 1, n) end
   local job = {seed = seed, n = draw(5), hosts = draw(3), mistake = 'none'}
   local which, nccl, ordered = draw(2 * #names), draw(2) == 1, draw(5) == 1
   if which <= #names then
      job.n, job.mistake = math.max(2, job.n), names[which]
   end
   job.culprit = draw(job.n) - 1
   job.hosts = math.min(job.hosts, job.n)
   if job.hosts == 1 or ranks.hostsMissing() then job.hosts = nil end
   job.environment = ('DPT_TIMEOUT=100%s DPT_DEVICES=%s'):format(
      ordered and ' DPT_DETERMINISTIC=1' or '',
      nccl and 'emulated:2 DPT_NCCL=' .. standIn.library or 'host:2')
   job.row = ('%-8s %s'):format(job.mistake, job.hosts and job.hosts .. ' hosts' or 'one host')
   return job
end

-- Returns nil, or the fault of a job's end.
local function wrong(job, output, status)
   if status == 124 or output:find 'longer than 100 s' then return 'hangs' end
   if job.mistake == 'none' then
      return (status ~= 0 or not output:find 'saved\n' or not output:find 'the file is there'
         or output:find 'dpt: rank') and 'does not end well'
   end
   if status == 0 then return 'ends well' end
   for _, said in ipairs(says[job.mistake]) do
      if output:find(said:format(job.culprit)) then return end
   end
   return 'does not name the mistake'
end

describe('random jobs #hostonly', function()
   it('end well, or with the mistake', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local again = tonumber(os.getenv 'DPT_JOB')
      -- fixed jobs for every change; the full count draws others
      local drawn = os.getenv 'DPT_TORTURE' == 'full'
         and (tonumber(os.getenv 'DPT_SEED') or os.time()) % 100000 or 32901
      local first = again or drawn * 1000
      local counts, bad, count = {}, {}, again and 1 or torture(300)
      for seed = first, first + count - 1 do
         local job = describeJob(seed)
         local words = ('%d $TMPDIR/saved.t7 %s %d'):format(seed, job.mistake, job.culprit)
         local output, status = ranks.run(job.n, 'job', words, job.environment,
            '[ -s $TMPDIR/saved.t7 ] && echo the file is there', job.hosts)
         local why = wrong(job, output, status)
         if why then
            bad[#bad + 1] = ('DPT_JOB=%d %s (%s, %d ranks, %s; status %d):\n%s'):format(seed, why,
               job.row, job.n, job.environment, status, output)
         end
         counts[job.row] = (counts[job.row] or 0) + 1
      end
      local rows = {}
      for row, n in pairs(counts) do rows[#rows + 1] = ('%-18s %4d'):format(row, n) end
      table.sort(rows)
      print(('DPT_JOB=%d and %d more\n%s'):format(first, count - 1, table.concat(rows, '\n')))
      assert.equal(0, #bad, table.concat(bad, '\n'))
   end)
end)
