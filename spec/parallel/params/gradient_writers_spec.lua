-- dpt.parallel.params.gradient_writers: which modules may write to which gradients.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local writers = require 'dpt.parallel.params.gradient_writers'

local function keys(...)
   local set = {}
   for _, t in ipairs{...} do set[writers.keyOf(t)] = true end
   return set
end

describe('dpt.parallel.params.gradient_writers', function()
   it('identifies a gradient by its address', function()
      local t = torch.CudaTensor(6)
      assert.equal(writers.keyOf(t), writers.keyOf(t:view(2, 3)))
      assert.is_true(writers.keyOf(t) ~= writers.keyOf(t:narrow(1, 2, 2)))
      assert.is_true(writers.keyOf(t) ~= writers.keyOf(t:clone()))
   end)

   it("lists a layer for its gradients, and dpt's containers for none", function()
      local layer = nn.Linear(2, 2)
      local net = nn.Sequential():add(layer):add(nn.Tanh())
      assert.same(keys(layer.gradWeight, layer.gradBias), writers.gradientsWrittenBy(layer))
      assert.same({}, writers.gradientsWrittenBy(net))
      assert.same({}, writers.gradientsWrittenBy(net:get(2)))
      assert.is_true(writers.leavesInnerGradients(net))
   end)

   it('lists a container whose methods a script has changed for all inner gradients', function()
      local layer = nn.Linear(2, 2)
      local net = nn.Sequential():add(layer)
      net.backward = function() end
      assert.is_false(writers.leavesInnerGradients(net))
      assert.same(keys(layer.gradWeight, layer.gradBias), writers.gradientsWrittenBy(net))
      local place = {}
      local Clip = torch.class('ownersSpec.Clip', 'nn.Sequential', place)
      function Clip:accGradParameters() end
      assert.is_false(writers.leavesInnerGradients(place.Clip()))
      Clip.leavesGradients = true
      assert.is_true(writers.leavesInnerGradients(place.Clip()))
   end)
end)
