-- Profiles of ranks: one file per rank, merged into one timeline.
local ranks = require 'spec.support.ranks'
local timeline = require 'dpt.profiler.timeline'
local summary = require 'dpt.profiler.summary'

describe('Profiles of ranks', function()
   it('have a file each, with the collectives, and are shown together', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local path = os.tmpname()
      local text, status = ranks.run(2, 'profile', path .. '.json', 'DPT_DEVICES=host:1')
      assert.equal(0, status, text)
      local profiles = {}
      for rank = 0, 1 do
         local name = ('%s.rank%d.json'):format(path, rank)
         local p = timeline.read(name)
         os.remove(name)
         assert.equal(rank, p.about.rank)
         assert.equal(2, p.about.ranks)
         local sums, forwards = 0, 0
         for _, e in ipairs(p.events) do
            assert.equal(rank, math.floor(e.pid / 1000))
            if e.name == 'allReduce' and e.cat == 'reduce' then sums = sums + 1 end
            if e.cat == 'forward' and e.args.module == '1' and e.pid % 1000 == 1 then
               forwards = forwards + 1
            end
         end
         assert.is_true(sums > 0)
         assert.is_true(forwards > 0)
         profiles[rank + 1] = p
      end
      os.remove(path)
      local svg = timeline.picture(profiles)
      assert.matches('>rank 0: device 1, stream 0<', svg, 1, true)
      assert.matches('>rank 1: threads, collectives<', svg, 1, true)
      local both = {}
      for _, p in ipairs(profiles) do
         for _, e in ipairs(p.events) do both[#both + 1] = e end
      end
      assert.equal(2, #summary(both).devices)
   end)
end)
