-- cudnn.VolumetricConvolution: nn.VolumetricConvolution with groups.
require('spec.support.cudnn_layers').groups('VolumetricConvolution',
   {2, 3, 2, 1, 2, 1, 0, 1, 0}, {2, 4, 3, 6, 5}, {6, 2, 2, 2, 3})
