-- cudnn.RNNTanh: every depth, direction, layout, kind of lengths and of bias.
require('spec.support.rnn_check').describe 'RNNTanh'
