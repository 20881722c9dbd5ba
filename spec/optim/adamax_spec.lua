-- optim.adamax: AdaMax, against its formula.
require('spec.support.descent').describe 'adamax'
