-- dpt.rnn.remembering: when a sequence module continues from its state.
local dpt = require 'dpt'
local nn = dpt.nn
local remembering = require 'dpt.rnn.remembering'

describe('dpt.rnn.remembering', function()
   it('goes on in training, in evaluation, in both or in neither', function()
      local goesOn = {both = {true, true}, train = {true, false}, eval = {false, true},
         neither = {false, false}}
      for mode, wanted in pairs(goesOn) do
         local module = nn.Identity()
         assert.equal(module, remembering.set(module, mode))
         module:training()
         assert.equal(wanted[1], remembering.now(module), mode)
         module:evaluate()
         assert.equal(wanted[2], remembering.now(module), mode)
      end
   end)

   it('begins anew unless remember was called, and means both without a mode', function()
      local module = nn.Identity()
      assert.is_false(remembering.now(module))
      assert.is_true(remembering.now(remembering.set(module)))
   end)

   it('rejects a mode that it does not know', function()
      assert.error_matches(function() remembering.set(nn.Identity(), 'always') end,
         "nn.Identity: remember wants 'both', 'train', 'eval' or 'neither', got always")
   end)
end)
