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

   it("sends halves or bfloat16, or calls a script's hook", function()
      local bytes, seen = {gradients = 0}, {}
      local t
      for hook, wanted in pairs{half = {1, 1365 / 4096, 1 / 0}, bfloat16 = {1, 171 / 512, 70144}} do
         bytes.gradients, t = 0, torch.FloatTensor{1, 1 / 3, 70000}
         Sender.new(bytes, hook, world):send({t}, 1)
         assert.same(wanted, t:totable())
         assert.equal(6, bytes.gradients)
      end
      Sender.new(bytes, function(part, b)
         seen[#seen + 1] = b
         part:mul(2)
      end, world):send({t:narrow(1, 1, 1)}, 7)
      assert.same({7}, seen)
      assert.equal(2, t[1])
   end)
end)
