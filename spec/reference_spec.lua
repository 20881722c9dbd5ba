-- The reference: every entry is whole, and its examples are right.
require 'dpt'
local reference = require 'dpt.launcher.reference'
local help = require 'dpt.launcher.help'
local usage = require 'spec.support.usage'
local run = require 'spec.support.run'

describe('The reference', function()
   local entries = reference.entries()

   it('has examples that return what they say #devices2', function()
      local wrong = {}
      for _, entry in ipairs(entries) do
         for _, example in ipairs(entry.usage) do
            torch.manualSeed(1)
            wrong[#wrong + 1] = usage.wrong(example)
         end
      end
      assert.same({}, wrong)
   end)

   it('would see an example that is wrong', function()
      assert.equal('1 + 1 --> 3: got 2', usage.wrong '1 + 1 --> 3')
      assert.matches('nosuch', usage.wrong 'nosuch.field')
      assert.is_nil(usage.wrong '1 + 1 --> 2')
   end)

   it('is whole, and docs/reference is what the comments say #hostonly', function()
      local pipe = io.popen 'DPT_DEVICES=host:2 scripts/docs --check 2>&1'
      local text = pipe:read '*a'
      pipe:close()
      assert.matches('^docs: %d+ entries, 0 faults\n$', text)
   end)

   it('is not loaded with dpt', function()
      assert.equal('nil\n',
         run.lua "require 'dpt' print(package.loaded['dpt.launcher.reference'])")
   end)
end)

describe('The help', function()
   it('prints the reference of a name, of its last part and in any case', function()
      local text, found = help.text 'nn.Linear'
      assert.is_true(found)
      assert.matches('^nn%.Linear%(inputSize, outputSize, %[bias%]%)\n', text)
      assert.matches('inputSize number: features of an input', text)
      assert.matches('e%.g%. nn%.Linear%(3, 2%)', text)
      assert.equal(text, (help.text 'nn.linear'))
      assert.equal(text, (help.text 'Linear'))
   end)

   it('lists what resembles a name that is not there', function()
      local text, found = help.text 'MaxPool'
      assert.is_false(found)
      assert.matches('nn%.SpatialMaxPooling', text)
      assert.equal("the reference has no 'zzz'", (help.text 'zzz'))
   end)
end)
