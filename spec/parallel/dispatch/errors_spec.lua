-- dpt.parallel.dispatch.errors: joins the errors of replicas in one message.
local errors = require 'dpt.parallel.dispatch.errors'

describe('dpt.parallel.dispatch.errors', function()
   it('adds one traceback to a message, and none to other values', function()
      local bad = {}
      function bad.inner() error 'oops' end
      function bad.outer()
         bad.inner()
         return 1
      end
      local _, message = xpcall(bad.outer, errors.handler)
      assert.matches('oops\nstack traceback:', message)
      assert.matches("in function 'inner'", message)
      assert.equal(message, errors.handler(message))
      local value = {}
      assert.equal(value, errors.handler(value))
   end)

   it('names the replica that raised and its device', function()
      assert.equal('In replica 2 of 3 on device 7 of nn.X:\noops',
         errors.inReplica('oops', 2, {5, 7, 9}, 'nn.X'))
      local value = {}
      assert.equal(value, errors.inReplica(value, 2, {5, 7, 9}, 'nn.X'))
   end)

   it('raises one value as it is and several as one text', function()
      local value = {}
      local _, got = pcall(errors.raise, {value})
      assert.equal(value, got)
      assert.equal('one', select(2, pcall(errors.raise, {'one'})))
      assert.equal('one\n\n7', select(2, pcall(errors.raise, {'one', 7})))
   end)
end)
