-- optim.adagrad: Adagrad, against its formula.
require('spec.support.descent').describe 'adagrad'
