-- dpt.parallel.ranks.sender in a world of one; spec/distributed/training_spec.lua has several.
local torch = require('dpt').torch
local world = require('dpt.distributed.group').world
local Sender = require 'dpt.parallel.ranks.sender'

describe('dpt.parallel.ranks.sender', function()
   it('sums in place and counts bytes', function()
      local bytes = {gradients = 0}
      local sender, t = Sender.new(bytes, nil, world), torch.FloatTensor{1, 2, 3}
      sender:send({t:narrow(1, 1, 2), t:narrow(1, 3, 1)}, 1)
      assert.same({1, 2, 3}, t:totable())
      assert.equal(12, bytes.gradients)
   end)

   it("sends halves, or calls a script's hook", function()
      local bytes, seen = {gradients = 0}, {}
      local t = torch.FloatTensor{1, 1 / 3, 70000}
      Sender.new(bytes, 'half', world):send({t}, 1)
      assert.equal(1, t[1])
      assert.near(1 / 3, t[2], 2 ^ -12)
      assert.equal(1 / 0, t[3])
      assert.equal(6, bytes.gradients)
      Sender.new(bytes, function(part, b)
         seen[#seen + 1] = b
         part:mul(2)
      end, world):send({t:narrow(1, 1, 1)}, 7)
      assert.same({7}, seen)
      assert.equal(2, t[1])
   end)
end)
