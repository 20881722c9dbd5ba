-- dpt.rnn.remember: when a sequence module continues from its state.
local dpt = require 'dpt'
local nn = dpt.nn
local remember = require 'dpt.rnn.remember'

describe('dpt.rnn.remember', function()
   it('continues in training, in evaluation, in both or in neither', function()
      local goesOn = {both = {true, true}, train = {true, false}, eval = {false, true},
         neither = {false, false}}
      for mode, wanted in pairs(goesOn) do
         local module = nn.Identity()
         assert.equal(module, remember.setMode(module, mode))
         module:training()
         assert.equal(wanted[1], remember.isEnabled(module), mode)
         module:evaluate()
         assert.equal(wanted[2], remember.isEnabled(module), mode)
      end
   end)

   it('starts from the initial state unless remember was called, and defaults to both', function()
      local module = nn.Identity()
      assert.is_false(remember.isEnabled(module))
      assert.is_true(remember.isEnabled(remember.setMode(module)))
   end)

   it('rejects an unknown mode', function()
      assert.error_matches(function() remember.setMode(nn.Identity(), 'always') end,
         "nn.Identity: remember wants 'both', 'train', 'eval' or 'neither', got always")
   end)
end)
