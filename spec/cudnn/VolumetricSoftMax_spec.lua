-- cudnn.VolumetricSoftMax: nn.SpatialSoftMax for volumes.
require('spec.support.cudnn_layers').volumes('VolumetricSoftMax', 'SpatialSoftMax')
