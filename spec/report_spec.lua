-- dpt.report: what is reported on stderr.
local run = require 'spec.support.run'

describe('dpt.report', function()
   it('writes each text once', function()
      assert.equal('dpt: one\ndpt: two\n', run.lua [[
         require 'dpt'
         local report = require 'dpt.report'
         for _ = 1, 2 do
            report 'one'
            report 'two'
         end
      ]])
   end)
end)
