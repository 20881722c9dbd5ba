-- dpt.parallel.params: parameters and gradients of all replicas, without the network's class.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local Params = require 'dpt.parallel.params'
local same = require 'spec.support.parallel'

describe('dpt.parallel.params', function()
   local n = same.most(3)
   local list, bytes, params, dispatcher

   before_each(function()
      cutorch.setDevice(1)
      list, bytes = {nn.Linear(3, 2):cuda()}, {parameters = 0, gradients = 0}
      for i = 2, n do list[i] = cutorch.withDevice(i, list[1].clone, list[1]) end
      dispatcher = {run = function(_, f, ...)
         local results = {}
         for i, replica in ipairs(list) do
            results[i] = cutorch.withDevice(i, f, replica, i, ...)
         end
         return results
      end}
      params = Params.new(bytes)
      params:build(list[1], 1, dispatcher)
   end)

   it('copies parameters only if they have changed #devices2', function()
      params:broadcast()
      local once = (n - 1) * 8 * 4
      assert.equal(once, bytes.parameters)
      params:broadcast()
      assert.equal(once, bytes.parameters)
      list[1].weight:fill(3)
      params:broadcast()
      assert.equal(2 * once, bytes.parameters)
      same.bits(list[1].weight, list[n].weight)
   end)

   it('adds gradients to those of replica 1 and clears the others #devices2', function()
      for i = 1, n do list[i].gradBias:fill(i) end
      list[1].gradWeight:zero()
      params:reduce()
      assert.equal(2 * n * (n + 1) / 2, list[1].gradBias:sum())
      for i = 2, n do assert.equal(0, list[i].gradBias:abs():max()) end
      params:zero()
      assert.equal(0, list[1].gradBias:sum())
   end)

   it('detects tensors of replica 1 that have moved or were replaced', function()
      assert.is_nil(params:changed(list[1]))
      list[1].bias:set(list[1].bias:clone())
      assert.equal('moved', params:changed(list[1]))
      assert.is_true(params:hasMoved())
      list[1].bias = list[1].bias:clone()
      assert.equal('other', params:changed(list[1]))
      assert.equal('moved', Params.new(bytes):changed(list[1]))
   end)

   it('keeps pending gradients on their replicas, and raises for writes to them', function()
      params:zero()
      params:holdPending()
      assert.is_true(params.pending:check())
      list[1].gradBias:fill(1)
      assert.error_matches(function() params.pending:check() end, 'gradients were written to')
      params:dropPending()
      assert.is_false(params.pending:check())
      params:holdPending()
      list[1].weight:fill(1)
      assert.error_matches(function() params:broadcast() end, 'parameters were written to')
      params:dropPending()
      params:broadcast()
   end)

   it('detects replicas whose layout a script has changed #devices2', function()
      params:markModified()
      assert.is_false(params:needsRebuild(dispatcher))
      list[2].weight:set(list[2].weight:clone())
      assert.is_false(params:needsRebuild(dispatcher)) -- nothing has reported the change
      params:markModified()
      assert.is_true(params:needsRebuild(dispatcher))
   end)

   it('lists the parameters and gradients of a replica', function()
      assert.same({{}, {}}, Params.list(nn.Tanh()))
      local tensors = Params.list(list[1])
      assert.is_true(rawequal(list[1].weight, tensors[1][1]))
      assert.is_true(torch.isTensor(tensors[2][2]))
   end)
end)
