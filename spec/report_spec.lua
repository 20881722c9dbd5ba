-- dpt.report: messages on stderr that are not errors.
local run = require 'spec.support.run'

describe('dpt.report', function()
   it('writes one text of each kind, and none of workers', function()
      assert.equal('dpt: one\ndpt: two\ndpt: three\n', run.lua [[
         require 'dpt'
         local report = require 'dpt.report'
         for _ = 1, 2 do
            report 'one'
            report 'two'
         end
         report('three', 'kind')
         report('four', 'kind')
         local pool = require('threads').Threads(1)
         pool:addjob(function() require 'dpt.report' 'five' end)
         pool:terminate()
      ]])
   end)
end)
