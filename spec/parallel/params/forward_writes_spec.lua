--- Changes that a forward makes to rows of parameters on some replicas reach all replicas.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local same = require 'spec.support.parallel'

local most = same.most(3)

local networks = {
   ['of its own'] = function()
      return nn.Sequential():add(nn.LookupTable(9, 4, 0, 0.5, 2)):add(nn.Sum(2))
         :add(nn.Linear(4, 3))
   end,
   ['that two layers have'] = function()
      local words = nn.LookupTable(9, 4, 0, 0.5, 1)
      return nn.Sequential():add(nn.ConcatTable():add(words):add(words:clone('weight',
         'gradWeight'))):add(nn.CMulTable()):add(nn.Sum(2))
   end,
   ['at several times'] = function()
      return nn.Sequential():add(nn.SplitTable(2)):add(nn.Sequencer(nn.LookupTable(9, 3, 0, 0.5)))
         :add(nn.CAddTable())
   end,
}

same.dispatched('A weight with a maximal norm', function()
   same.seeded(11)

   local function step(net, words, sync)
      local function pass()
         local output = net:forward(words)
         net:backward(words, torch.add(output, -1))
         return output:clone()
      end
      return sync == false and net.noSync and net:noSync(pass) or pass()
   end

   for name, make in pairs(networks) do
      it('is the same as on one device: ' .. name, function()
         for _, flat in ipairs{false, true} do
            local one = make():cuda()
            local many = nn.DataParallelTable(1, flat):add(one:clone(), same.range(most))
            for _, rows in ipairs{7, 1, 2, 6} do
               for _, sync in ipairs{false, true} do
                  local words = torch.Tensor(rows, 3):random(1, 9):cuda()
                  same.close(step(one, words), step(many, words, sync), 1e-5)
                  same.close(one:parameters(), (many:parameters()), 1e-6)
               end
               for _, net in ipairs{one, many} do
                  net:updateParameters(0.5)
                  net:zeroGradParameters()
               end
            end
            same.checkReplicas(many)
         end
      end)
   end

   it('is left alone by a forward outside, which is not done again', function()
      local many = nn.DataParallelTable(1, true):add(networks['of its own']():cuda(),
         same.range(most))
      many:forward(torch.Tensor(2 * most, 3):fill(1):cuda())
      local weight = many:get(1):get(1).weight
      many:get(1):forward(torch.Tensor(1, 3):fill(2):cuda())
      weight:fill(3)
      many:forward(torch.Tensor(2 * most, 3):fill(1):cuda())
      assert.near(0.5, weight[1]:norm(), 1e-5)
      assert.equal(3, weight[2][1])
   end)
end)
