-- cudnn.BGRU: cudnn.GRU in both directions.
require('spec.support.cudnn_layers').bothDirections('BGRU', 'GRU', 'CUDNN_GRU')
