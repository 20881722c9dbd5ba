-- cudnn.VolumetricFullConvolution: nn's class with cudnn.torch's choice of algorithms.
require('spec.support.cudnn_layers').same('VolumetricFullConvolution',
   {3, 2, 2, 3, 2, 1, 2, 1}, {2, 3, 3, 4, 5})
