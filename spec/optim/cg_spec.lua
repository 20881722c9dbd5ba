-- optim.cg: conjugate gradients.
local search = require 'spec.support.search'

search.describe('cg', optim.cg, {maxIter = 50, maxEval = 200})
