-- dpt.util.trepl: terminal colours.
require 'dpt'

describe('trepl', function()
   it('colours texts by name', function()
      local c = require 'trepl.colorize'
      assert.equal('\27[0;34m==>\27[0m', c.blue '==>')
      assert.equal('\27[1;31m5\27[0m', c.Red(5))
      assert.equal('\27[4mtext\27[0m', c.underline 'text')
      assert.equal('\27[44m', require('trepl.colors')._blue)
      assert.equal(require 'trepl.colors', require('trepl').colors)
   end)
end)
