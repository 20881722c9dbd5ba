-- optim.lbfgs: limited-memory BFGS.
local search = require 'spec.support.search'
local bowl, rosenbrock, distance, bad = search.bowl, search.rosenbrock, search.distance, search.bad

search.describe('lbfgs', optim.lbfgs, {maxIter = 200, lineSearch = optim.lswolfe, tolFun = 1e-12})

describe('optim.lbfgs', function()
   it('continues where the first call stopped', function()
      local function points(...)
         local x, state = torch.DoubleTensor{0, 0, 0}, {}
         for _, n in ipairs{...} do
            optim.lbfgs(bowl, x, {maxIter = n, learningRate = 0.5}, state)
         end
         return x, state
      end
      local whole, one = points(8)
      local parts, two = points(3, 5)
      assert.is_true(distance(parts, whole:totable()) < 1e-12)
      assert.equal(one.nIter, two.nIter)
   end)

   it('moves along -g first, by min(1, 1/|g|) times the rate', function()
      local x = torch.DoubleTensor{0, 0, 0}
      optim.lbfgs(bowl, x, {maxIter = 1, learningRate = 0.5})
      assert.is_true(distance(x, {0.5 / 12, -6 * 0.5 / 12, 5 * 0.5 / 12}) < 1e-15)
   end)

   it('reports why it stops if verbose', function()
      local said, before = {}, print
      rawset(_G, 'print', function(...) said[#said + 1] = table.concat({...}, ' ') end)
      for _, config in ipairs{{maxIter = 1}, {maxEval = 2, tolX = 0}, {maxIter = 99}} do
         config.verbose = true
         optim.lbfgs(bowl, torch.DoubleTensor{0, 0, 0}, config)
      end
      rawset(_G, 'print', before)
      assert.same({'<optim.lbfgs> stops: maxIter iterations',
         '<optim.lbfgs> stops: maxEval evaluations',
         "<optim.lbfgs> stops: the gradient's absolute sum is tolFun at most"}, said)
   end)

   it('keeps nCorrection corrections and needs few evaluations', function()
      local state = {}
      local _, _, n = optim.lbfgs(rosenbrock, torch.DoubleTensor{-1.2, 1},
         {maxIter = 30, maxEval = 12, nCorrection = 2, learningRate = 0.1, tolX = 0}, state)
      assert.equal(12, n)
      assert.equal(2, #state.old_dirs)
      bad("optim.lbfgs: argument 'lineSearch' is a string, wanted a function", optim.lbfgs,
         rosenbrock, torch.DoubleTensor{0, 0}, {lineSearch = 'wolfe'})
   end)
end)
