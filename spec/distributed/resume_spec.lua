-- A killed job resumes from its checkpoint: spec/support/ranks/resume.lua.
local torch = require('dpt').torch
local ranks = require 'spec.support.ranks'

describe('a distributed job', function()
   local STEPS = os.getenv 'DPT_RANKS' and 60 or 14
   local folder = os.tmpname()
   os.remove(folder)

   -- Returns the parameters after STEPS steps on n ranks, resumed from the named checkpoint.
   local function train(n, name, fatal)
      local path, result = folder .. name, folder .. name .. '.result'
      local output, status = ranks.run(n, 'resume',
         ('%s %d %d %s'):format(path, STEPS, fatal or 0, result), 'DPT_DEVICES=host:1')
      if fatal then
         assert.not_equal(0, status, output)
         assert.is_nil(io.open(result))
         return
      end
      assert.equal(0, status, output)
      local x = torch.load(result)
      os.remove(result)
      os.remove(path)
      return x
   end

   local function copy(from, to)
      os.execute(("cp '%s%s' '%s%s'"):format(folder, from, folder, to))
   end

   it('that is killed resumes with the bits of an uninterrupted one, or on other ranks', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local fatal = 2 + os.time() % (STEPS - 4)
      local whole = train(2, 'a')
      train(2, 'b', fatal)
      copy('b', 'c')
      local message = 'killed at step ' .. fatal
      assert.equal(0, (train(2, 'b') - whole):abs():max(), message)
      for n in (os.getenv 'DPT_RANKS' and '1 3 5' or '1'):gmatch '%d' do
         copy('c', 'd')
         assert.is_true((train(tonumber(n), 'd') - whole):abs():max() < 1e-5, message)
      end
      os.remove(folder .. 'c')
   end)
end)
