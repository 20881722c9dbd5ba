-- dpt.parallel.ranks.digest: lists and compares the state that must be equal on all ranks.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local world = require('dpt.distributed.group').world
local Params = require 'dpt.parallel.params'
local digest = require 'dpt.parallel.ranks.digest'

describe('dpt.parallel.ranks.digest', function()
   it('names options, modules, parameters and buffers', function()
      local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.BatchNormalization(2)):float()
      net:get(2).gradBias = nil
      local list = digest.of(net, {net:get(2).running_mean}, {'option a = 1'})
      assert.same({'option a = 1', 'module 1: nn.Sequential', 'module 2: nn.Linear',
         'module 3: nn.BatchNormalization',
         'parameter 1 (modules[1].weight): torch.FloatTensor of 2x3',
         'parameter 2 (modules[1].bias): torch.FloatTensor of 2',
         'parameter 3 (modules[2].weight): torch.FloatTensor of 2',
         'parameter 4 (modules[2].bias): torch.FloatTensor of 2, ignored: it has no gradient',
         'buffer 1 (modules[2].running_mean): torch.FloatTensor of 2'}, list)
      digest.compare('net', list, digest.fields(net), world)
   end)

   it('names the places of parameters and gradients in segments', function()
      local net = nn.Linear(3, 2):float()
      local params = Params.new{parameters = 0, gradients = 0}
      local function places()
         params:build(net, 0, {run = function(_, f, ...) return {f(net, 1, ...)} end})
         return digest.places(net, params)
      end
      local list = {'parameter 1 (weight) at element 1', 'parameter 2 (bias) at element 7',
         'gradient 1 (gradWeight) at element 1', 'gradient 2 (gradBias) at element 7'}
      list[5], list[6] = 'segments of 6, 2 elements', 'segments of 6, 2 elements'
      assert.same(list, places())
      net:getParameters()
      list[5], list[6] = 'segments of 8 elements', 'segments of 8 elements'
      assert.same(list, places())
      assert.is_nil(digest.difference(list, world))
   end)

   it('lists options of modules, and not the results of passes', function()
      local net = nn.Sequential():add(nn.Dropout(0.25)):add(nn.Reshape(2, 2)):add(nn.View(-1, 4))
         :add(nn.Linear(4, 2))
      local before = digest.fields(net)
      assert.equal(5, #before)
      assert.equal('0.25', before[2].p)
      assert.equal('{2, 2}', before[3].size)
      assert.equal('{-1, 4}', before[4].size)
      for _, fields in ipairs(before) do assert.is_nil(fields.train) end
      for n = 1, 2 do
         local input = torch.ones(n, 4)
         net:forward(input)
         net:backward(input, net.output)
         assert.same(before, digest.fields(net))
      end
   end)

   it('names a tensor by the first module that has it', function()
      local a = nn.Linear(2, 2)
      local b = nn.Linear(2, 2)
      b.weight = a.weight
      local names = digest.names(nn.Sequential():add(a):add(b))
      assert.equal('modules[1].weight', names[b.weight])
      assert.is_nil(names[torch.Tensor(1)])
   end)
end)
