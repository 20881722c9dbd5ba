local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local replica = require 'dpt.parallel.dispatch.replica'
local modules = require 'spec.support.modules'
local same = require 'spec.support.parallel'

describe('dpt.parallel.dispatch.basic', function()
   local n = same.most(4)
   local net, many, input

   -- Makes the fuses of all replicas blow as the table specifies.
   local function arm(blows)
      many.impl:exec(function(module) module:get(2).blows = blows end)
   end

   before_each(function()
      torch.manualSeed(3)
      net = nn.Sequential():add(nn.Linear(5, 5)):add(modules.Fuse()):cuda()
      many = nn.DataParallelTable(1, true):add(net, same.range(n))
      input = torch.randn(2 * n + 1, 5):cuda()
   end)

   local function where(i)
      return ('In replica %d of %d on device %d of nn.DataParallelTable:\n'
         .. 'In 2 module of nn.Sequential:\n'):format(i, n, i)
   end

   it('G14: lists the errors of all replicas and runs the others', function()
      if n < 3 then return pending('needs 3 devices') end
      local one = nn.Sequential():add(net:get(1):clone())
      for _, method in ipairs{'updateOutput', 'updateGradInput'} do
         arm{}
         many:forward(input)
         arm{[method] = {[2] = 'the second is blown', [n] = 'message'}}
         many.impl:exec(function(module) module.output = nil end)
         local pass = method == 'updateOutput' and many.forward or many.backward
         local message = same.raised(pass, many, input, input)
         local second, last = message:find(where(2), 1, true), message:find(where(n), 1, true)
         assert.equal(1, second)
         assert.is_true(last > second)
         assert.is_nil(message:find(where(1), 1, true))
         assert.is_truthy(message:find('the second is blown\nstack traceback:', 1, true))
         assert.matches('addmm: sizes do not fit', message:sub(last))
         assert.equal(2, select(2, message:gsub('\nstack traceback:', '')))
         assert.equal(1, cutorch.getDevice())
         if method == 'updateOutput' and n > 3 then
            assert.not_nil(many:get(3).output, 'replica 3 was not run after 2 had failed')
         end
         arm{}
         same.compare(one, many, input, 1e-5)
         same.checkReplicas(many)
      end
   end)

   it('raises a single error that is not a string unchanged', function()
      local mark = {}
      assert.equal(mark, same.raised(many.impl.exec, many.impl, function(_, i)
         if i == n then error(mark) end
      end))
      local got = same.raised(many.impl.exec, many.impl, function() error(mark) end)
      assert.equal(n > 1 and 'string' or 'table', type(got))
   end)

   it('makes replicas at the first use and after a change', function()
      local impl = nn.DataParallelTable(1):add(nn.Add(1):cuda(), same.range(n)).impl
      assert.is_nil(impl:get(n))
      local first = impl:setup()[1]
      assert.equal('nn.Add', torch.type(impl:get(n)))
      first.bias:fill(3)
      impl:applyChanges()
      assert.equal(3, impl:setup()[n].bias[1])
      impl:collect()
      assert.is_truthy(impl:get(n))
      impl:close()
      assert.is_nil(impl:get(n))
      assert.equal('nn.DataParallelTable.Basic', torch.type(impl:newFor{}))
   end)

   it('inspects once whether modules use a rendezvous or their part of the batch', function()
      for _, case in ipairs{{nn.BatchNormalization(2), false, false},
         {nn.SyncBatchNormalization(2), true, true}, {nn.L1Penalty(1), false, true}} do
         local impl = nn.DataParallelTable(1):add(case[1]:cuda(), same.range(n)).impl
         assert.same({case[2], case[3]}, {impl:usesRendezvous(), impl:isPartWanted()})
      end
   end)

   it('runs functions of dpt on every replica with values', function()
      many.impl:run(replica.callQuietly, 'evaluate')
      for _, train in ipairs(many.impl:exec(function(module) return module.train end)) do
         assert.is_false(train)
      end
      assert.same({}, many.impl:run(replica.callQuietly, 'training'))
   end)
end)
