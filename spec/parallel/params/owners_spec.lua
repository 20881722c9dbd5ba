-- dpt.parallel.params.owners: which modules may write to which gradients.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local owners = require 'dpt.parallel.params.owners'

local function keys(...)
   local set = {}
   for _, t in ipairs{...} do set[owners.keyOf(t)] = true end
   return set
end

describe('dpt.parallel.params.owners', function()
   it('knows a gradient by where it lies', function()
      local t = torch.CudaTensor(6)
      assert.equal(owners.keyOf(t), owners.keyOf(t:view(2, 3)))
      assert.is_true(owners.keyOf(t) ~= owners.keyOf(t:narrow(1, 2, 2)))
      assert.is_true(owners.keyOf(t) ~= owners.keyOf(t:clone()))
   end)

   it('lets a layer own its gradients, and a container of dpt none', function()
      local layer = nn.Linear(2, 2)
      local net = nn.Sequential():add(layer):add(nn.Tanh())
      assert.same(keys(layer.gradWeight, layer.gradBias), owners.gradientsOf(layer))
      assert.same({}, owners.gradientsOf(net))
      assert.same({}, owners.gradientsOf(net:get(2)))
      assert.is_true(owners.leavesInner(net))
   end)

   it('lets a container whose methods a script has changed own all inside', function()
      local layer = nn.Linear(2, 2)
      local net = nn.Sequential():add(layer)
      net.backward = function() end
      assert.is_false(owners.leavesInner(net))
      assert.same(keys(layer.gradWeight, layer.gradBias), owners.gradientsOf(net))
      local place = {}
      local Clip = torch.class('ownersSpec.Clip', 'nn.Sequential', place)
      function Clip:accGradParameters() end
      assert.is_false(owners.leavesInner(place.Clip()))
      Clip.leavesGradients = true
      assert.is_true(owners.leavesInner(place.Clip()))
   end)
end)
