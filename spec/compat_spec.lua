-- dpt.compat: Torch7's names.
local dpt = require 'dpt'
local compat = require 'dpt.compat'

describe('compat', function()
   it('makes the rooms globals and lets require find them', function()
      for _, name in ipairs{'torch', 'nn', 'optim', 'cutorch', 'xlua', 'paths', 'sys'} do
         assert.equal('table', type(dpt[name]), name)
         assert.equal(dpt[name], rawget(_G, name), name)
         assert.equal(dpt[name], package.preload[name](), name)
      end
      assert.equal(dpt.nn, package.preload.cunn())
   end)

   it('refuses names that are taken', function()
      -- in this process dpt itself has taken them
      assert.error_matches(compat.refuse, "'torch' is loaded from elsewhere already")
   end)
end)
