-- cudnn.BLSTM: cudnn.LSTM in both directions.
require('spec.support.cudnn_layers').bothDirections('BLSTM', 'LSTM', 'CUDNN_LSTM')
