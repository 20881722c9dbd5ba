-- optim.adadelta: Adadelta, against its formula.
require('spec.support.descent').describe 'adadelta'
