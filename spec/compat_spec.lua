-- dpt.compat: Torch7's names.
local dpt = require 'dpt'
local compat = require 'dpt.compat'
local run = require 'spec.support.run'

describe('compat', function()
   it('makes the rooms globals and lets require find them', function()
      for _, name in ipairs{'torch', 'nn', 'optim', 'cutorch', 'xlua', 'paths', 'sys'} do
         assert.equal('table', type(dpt[name]), name)
         assert.equal(dpt[name], rawget(_G, name), name)
         assert.equal(dpt[name], package.preload[name](), name)
      end
      assert.equal(dpt.nn, package.preload.cunn())
   end)

   it('tells why a package of Torch7 is not there', function()
      local _, text = pcall(require, 'nngraph')
      assert.truthy(text:find("\n\tdpt: 'nngraph' is a package of Torch7 that dpt does not bring\n",
         1, true))
      local ok, why = pcall(require, 'nothing.of.the.kind')
      assert.is_false(ok)
      assert.is_nil(why:find('Torch7', 1, true))
      local out = run.lua("require 'dpt' print(select(2, pcall(require, 'cunn')))",
         {DPT_DEVICES = 'none'})
      assert.truthy(out:find("no device (DPT_DEVICES=none), so there is no 'cunn'", 1, true))
   end)

   it('refuses names that are taken', function()
      -- in this process dpt itself has taken them
      assert.error_matches(compat.refuse, "'torch' is loaded from elsewhere already")
   end)
end)
