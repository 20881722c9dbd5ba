-- optim.rmsprop: RMSprop, against its formula.
require('spec.support.descent').describe 'rmsprop'
