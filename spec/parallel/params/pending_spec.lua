-- dpt.parallel.params.pending: gradients that are not yet summed.
local dpt = require 'dpt'
local torch = dpt.torch
local updates = require 'dpt.updates'
local Pending = require 'dpt.parallel.params.pending'

describe('dpt.parallel.params.pending', function()
   local pending, parameters, gradients, flushed

   before_each(function()
      pending = Pending.new(function(...) flushed = {...} end, 'ranks', 'net: ')
      parameters, gradients = {torch.ones(2)}, {torch.ones(2), torch.ones(1)}
   end)
   after_each(function() pending:clear() end)

   it('is pending until it is cleared', function()
      assert.is_false(pending:check())
      pending:checkUpdate()
      pending:rejectChange()
      assert.is_falsy(pending:discard())
      pending:record(parameters, gradients)
      assert.is_true(pending:isPending())
      assert.is_true(pending:check())
      pending:clear()
      assert.is_false(pending:check())
      pending:record(parameters, gradients)
      assert.is_falsy(pending:discard())
      assert.is_false(pending:isPending())
   end)

   it('rejects writes to gradients except those of passes', function()
      pending:record(parameters, gradients)
      gradients[2]:fill(3)
      assert.error_matches(function() pending:check() end,
         'net: gradients were written to while ranks hold parts of them', 1, true)
      pending:record(parameters, gradients)
      assert.is_true(pending:check())
   end)

   it('rejects updates, and reports them when gradients are cleared', function()
      pending:record(parameters, gradients)
      parameters[1]:fill(3)
      pending:endPass()
      assert.is_true(pending:check())
      parameters[1]:fill(4)
      assert.error_matches(function() pending:check() end,
         'net: parameters were written to while ranks hold parts of the gradients', 1, true)
      assert.is_true(pending:discard())
      assert.is_false(pending:check())
   end)

   it('is called before an update', function()
      pending:record(parameters, gradients)
      updates.flush(parameters[1], gradients[1])
      assert.same({parameters[1], gradients[1]}, flushed)
      pending:clear()
      flushed = nil
      updates.flush(parameters[1], gradients[1])
      assert.is_nil(flushed)
   end)

   it('accepts invalid gradients that were cleared by hand', function()
      pending:invalidate(parameters, gradients)
      gradients[1]:zero()
      assert.error_matches(function() pending:check() end, 'a backward failed')
      gradients[2]:zero()
      assert.is_false(pending:check())
   end)

   it('rejects gradients of a failed pass, and a changed network', function()
      pending:invalidate(parameters, gradients)
      assert.error_matches(function() pending:check() end,
         'net: a backward failed after it had added to gradients', 1, true)
      assert.is_falsy(pending:discard())
      pending:record(parameters, gradients)
      assert.error_matches(function() pending:rejectChange() end,
         'net: the network was changed while gradients waited', 1, true)
      assert.is_false(pending:isPending())
   end)
end)
