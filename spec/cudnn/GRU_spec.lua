-- cudnn.GRU: all depths, directions, layouts, forms of lengths and biases.
require('spec.support.rnn_check').describe 'GRU'
