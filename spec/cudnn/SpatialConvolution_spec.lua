-- cudnn.SpatialConvolution: nn.SpatialConvolution with groups.
require('spec.support.cudnn_layers').groups('SpatialConvolution',
   {3, 2, 2, 1, 1, 0}, {2, 4, 6, 7}, {6, 2, 2, 3})
