-- cudnn.SpatialDivisiveNormalization: a name used in files and scripts.
local dpt = require 'dpt'
local torch, cudnn = dpt.torch, dpt.cudnn

describe('cudnn.SpatialDivisiveNormalization', function()
   it('has the fields of cudnn.torch, also from a file', function()
      local m = torch.deserialize(torch.serialize(cudnn.SpatialDivisiveNormalization(3)))
      assert.same({3, 1e-4, 0.75, 2}, {m.size, m.alpha, m.beta, m.K})
   end)

   it('raises in forward and names the supported class', function()
      local m = cudnn.SpatialDivisiveNormalization(3)
      assert.error_matches(function() m:forward(torch.rand(1, 2, 2)) end,
         'does not compute: use nn.SpatialDivisiveNormalization or cudnn.SpatialCrossMapLRN')
   end)
end)
