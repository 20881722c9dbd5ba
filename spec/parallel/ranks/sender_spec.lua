-- dpt.parallel.ranks.sender in a world of one; spec/distributed/training_spec.lua has several.
local torch = require('dpt').torch
local Sender = require 'dpt.parallel.ranks.sender'

describe('dpt.parallel.ranks.sender', function()
   it('adds up in place and counts bytes', function()
      local bytes = {gradients = 0}
      local sender, t = Sender.new(bytes), torch.FloatTensor{1, 2, 3}
      sender:send({t:narrow(1, 1, 2), t:narrow(1, 3, 1)}, 1)
      assert.same({1, 2, 3}, t:totable())
      assert.equal(12, bytes.gradients)
   end)
end)
