-- optim.asgd: averaged stochastic gradient descent, against its formula.
require('spec.support.descent').describe 'asgd'
