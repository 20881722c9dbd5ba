local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local Buffers = require 'dpt.parallel.params.buffers'
local same = require 'spec.support.parallel'
local RowCounter = require('spec.support.modules').RowCounter

same.dispatched('A9, G12: Running statistics on replicas', function()
   local most = same.most(3)
   same.seeded(5)

   local function make(policy)
      local net = nn.Sequential():add(nn.BatchNormalization(4)):add(nn.Linear(4, 2)):cuda()
      return nn.DataParallelTable(1, true, false, {buffers = policy}):add(net, same.range(most))
   end

   -- Returns rows with different statistics for each replica.
   local function input()
      local rows = torch.randn(4 * most, 4)
      for i = 1, 4 * most do rows[i]:mul(i):add(i) end
      return rows:cuda()
   end

   -- Returns the running_mean of every replica, copied to device 1.
   local function means(many)
      local list = {}
      for i, statistics in ipairs(many.impl:run(Buffers.collect)) do
         list[i] = torch.CudaTensor(statistics[1]:size()):copy(statistics[1])
      end
      return list
   end

   local function average(list, count)
      local sum = list[1]:clone()
      for i = 2, count or most do sum:add(list[i]) end
      return sum:div(count or most)
   end

   local function expected(many, policy)
      local list = means(many)
      return policy == 'first' and list[1] or average(list)
   end

   for _, policy in ipairs{'first', 'average'} do
      describe('by the rule ' .. policy, function()
         local ways = {
            evaluate = function(many) many:evaluate() return many end,
            clone = function(many) return many:clone() end,
            ['torch.save'] = function(many)
               return torch.deserialize(torch.serialize(many))
            end,
            get = function(many) many:get(1) return many end,
         }
         for name, way in pairs(ways) do
            it('are the same on all after ' .. name, function()
               local many = make(policy)
               for _ = 1, 2 do
                  local before = many.copiedBytes.buffers
                  for _ = 1, 3 do many:forward(input()) end
                  local wanted = expected(many, policy)
                  assert.equal(before, many.copiedBytes.buffers)
                  local result = way(many)
                  for _, mean in ipairs(means(many)) do same.close(wanted, mean, 1e-6) end
                  same.bits(means(many)[1], means(many)[most])
                  assert.is_true(most == 1 or many.copiedBytes.buffers > before)
                  result:evaluate()
                  local given = input()
                  same.bits(result:get(1):clone():forward(given), result:forward(given))
                  local mean = result:get(1):get(1).running_mean
                  same.close(wanted, mean, 1e-6)
                  mean:add(1) -- get would copy it to the others
                  local output = result:forward(given)
                  same.bits(result:get(1):clone():forward(given), output)
                  many:training()
               end
            end)
         end

         it('are copied only if they have changed, and counted separately', function()
            local many = make(policy)
            local given = input()
            many:get(1)
            many:evaluate()
            many:forward(given)
            assert.equal(0, many.copiedBytes.buffers)
            many:training()
            local before = same.copied()
            many:syncParameters()
            assert.equal(before, same.copied())
            many:forward(given)
            before = same.copied()
            local parameters = many.copiedBytes.parameters
            many:evaluate()
            -- mean and variance are copied to the others; for an average they are first collected
            local bytes = (most - 1) * 2 * 4 * 4 * (policy == 'average' and 2 or 1)
            assert.equal(bytes, same.copied() - before)
            assert.equal(bytes, many.copiedBytes.buffers)
            assert.equal(parameters, many.copiedBytes.parameters)
            many:evaluate()
            many:syncParameters()
            assert.equal(bytes, same.copied() - before)
            many:get(1)
            many:clone()
            assert.equal(bytes, many.copiedBytes.buffers)
         end)
      end)
   end

   it('do not count in an average if their replica has no rows', function()
      if most < 3 then return pending('needs 3 devices') end
      local many = make('average')
      many:forward(input())
      many:evaluate()
      many:training()
      many:forward(input():narrow(1, 1, 4)) -- rows for all
      many:evaluate()
      many:training()
      many:forward(input():narrow(1, 5, 2)) -- rows for 2 of 3
      local list = means(many)
      many:evaluate()
      same.close(average(list, 2), means(many)[3], 1e-6)
   end)

   it('are the same bits after making replicas, saving and asking', function()
      local many = make('average')
      many:forward(input())
      many:evaluate()
      local mean = means(many)[1]
      local copy = many:clone()
      copy:training()
      copy:get(1)
      copy:evaluate()
      same.bits(mean, means(copy)[1])
      same.bits(mean, copy:get(1):get(1).running_mean)
   end)

   it('are the tensors that runningStatistics returns', function()
      local net = nn.Sequential():add(RowCounter()):cuda()
      net:get(1).calls = torch.CudaLongTensor{0}
      local many = nn.DataParallelTable(1, true, false, {buffers = 'average'})
         :add(net, same.range(most))
      many:training()
      many:forward(torch.CudaTensor(2 * most + 1, 2):zero())
      many:evaluate()
      for _, statistics in ipairs(many.impl:run(Buffers.collect)) do
         assert.is_near((2 * most + 1) / most, statistics[1][1], 1e-5)
         assert.equal(1, statistics[2][1]) -- integers come from replica 1
      end
   end)

   it('raise for a rule that does not exist', function()
      local many = make('first')
      many:forward(input())
      many.buffers = 'last'
      assert.error_matches(function() many:evaluate() end, "buffers wants 'first' or 'average'")
      many.buffers = 'average'
      many:evaluate()
   end)
end)
