-- dpt.parallel.dispatch.batch_part: tells modules which part of a batch their pass processes.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local batchPart = require 'dpt.parallel.dispatch.batch_part'
local same = require 'spec.support.parallel'

describe('dpt.parallel.dispatch.batch_part', function()
   it('sets the field batchPart of the modules that have it while a pass runs', function()
      local penalty, plain = nn.L1Penalty(1), nn.Linear(2, 2)
      local net = nn.Sequential():add(plain):add(penalty)
      local modules = batchPart.modulesOf(net)
      assert.is_true(#modules == 1 and modules[1] == penalty)
      assert.same({}, batchPart.modulesOf(plain))
      assert.same({}, batchPart.modulesOf(nn.MSECriterion()))
      local own = {share = 0.5}
      assert.equal(7, batchPart.within(modules, own, function(x)
         assert.equal(own, penalty.batchPart)
         assert.is_nil(plain.batchPart)
         return x
      end, 7))
      assert.is_nil(rawget(penalty, 'batchPart'))
      assert.error_matches(function() batchPart.within(modules, own, error, 'oh', 0) end, 'oh')
      assert.is_nil(rawget(penalty, 'batchPart'))
      batchPart.setReplica(net, 2, {own, {share = 1}})
      assert.same({share = 1}, penalty.batchPart)
      batchPart.setReplica(net, 2, nil)
      assert.is_false(penalty.batchPart)
   end)

   for form, dispatch in pairs(same.dispatchers) do
      it('makes the penalties of parts sum to that of the batch, ' .. form .. ' #devices2',
         function()
         for _, isMean in ipairs{true, false} do
            local one = nn.Sequential():add(nn.Linear(3, 2)):add(nn.L1Penalty(0.3, isMean)):cuda()
            local many = dispatch(nn.DataParallelTable(1)):add(one:clone(), {1, 2})
            same.compare(one, many, torch.CudaTensor(5, 3):normal(), 1e-6)
            assert.is_nil(rawget(many:get(1):get(2), 'batchPart'))
            many.impl:close()
         end
      end)
   end
end)
