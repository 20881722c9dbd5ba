-- cudnn.VolumetricLogSoftMax: nn.SpatialLogSoftMax for volumes.
local dpt = require 'dpt'

require('spec.support.cudnn_layers').volumes('VolumetricLogSoftMax', 'SpatialLogSoftMax')

describe('cudnn.VolumetricLogSoftMax', function()
   it('is a cudnn.VolumetricSoftMax around another module', function()
      assert.is_true(dpt.torch.isTypeOf(dpt.cudnn.VolumetricLogSoftMax(),
         'cudnn.VolumetricSoftMax'))
   end)
end)
