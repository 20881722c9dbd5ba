-- dpt.updates: state of networks that optimizers need. Stale tensors: spec/flatten_spec.lua.
local updates = require 'dpt.updates'

describe('dpt.updates', function()
   it('calls holders of pending gradients in their order, until they are removed', function()
      local x, dx, calls, holders = torch.Tensor(1), torch.Tensor(1), {}, {}
      for i = 1, 20 do
         holders[i] = {flush = function(self, p, g)
            assert.is_true(rawequal(x, p) and rawequal(dx, g))
            calls[#calls + 1] = i
            updates.removePending(self)
         end}
         updates.addPending(holders[i])
      end
      updates.removePending(holders[3])
      updates.addPending(holders[7]) -- now the last one
      updates.flush(x, dx)
      assert.same({1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 7}, calls)
      updates.flush(x, dx)
      assert.equal(19, #calls)
   end)

   it('records the networks that several ranks train, without keeping them alive', function()
      local x, y = torch.Tensor(2), torch.Tensor(2)
      local function add()
         local network = {_trains = function(_, t) return updates.sharesStorage({x}, t) end}
         updates.addDistributed(network)
         updates.addPending(network)
         assert.same({true, true, false, false}, {updates.isDistributed(x),
            updates.isDistributed(x:narrow(1, 2, 1)), updates.isDistributed(y),
            updates.isDistributed(torch.Tensor())})
         return setmetatable({network, updates.registerFlat(torch.Tensor(1))}, {__mode = 'v'})
      end
      local weak = add()
      collectgarbage()
      collectgarbage()
      assert.same({}, weak)
      assert.is_false(updates.isDistributed(x))
   end)

   it('marks a flat tensor stale if a tensor moves out of it, not next to it', function()
      local storage = torch.Tensor(6)
      local first, second = storage:narrow(1, 1, 3), storage:narrow(1, 4, 3)
      for _, flat in ipairs{first, second} do updates.registerFlat(flat) end
      updates.markMoved{torch.Tensor(3), storage:narrow(1, 5, 1), torch.Tensor()}
      assert.same({false, true, false}, {updates.isStale(first), updates.isStale(second),
         updates.isStale(storage)})
      updates.registerFlat(second) -- does not make it current
      assert.is_true(updates.isStale(second))
   end)
end)
