-- cudnn.SpatialFullConvolution: nn's class with cudnn.torch's choice of algorithms.
require('spec.support.cudnn_layers').same('SpatialFullConvolution',
   {3, 2, 3, 2, 2, 1, 1, 0, 1, 0}, {2, 3, 4, 5})
