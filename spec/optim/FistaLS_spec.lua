-- optim.FistaLS: a smooth function plus one with a shrinkage operator.
local search = require 'spec.support.search'
local types, make, distance, bowl, bad = search.types, search.make, search.distance, search.bowl,
   search.bad

describe('optim.FistaLS', function()
   it('ends at the minimum of f plus the absolute values, of every type', function()
      local weight = 1.5
      local function absolute(x) return weight * x:norm(1) end
      local function shrink(x, L)
         local sign = torch.sign(x)
         x:abs():add(-weight / L):cmax(0):cmul(sign)
      end
      for _, typename in ipairs(types) do
         for _, accelerate in ipairs{true, false} do
            local x, params = make(typename, {9, 9, 9}), {maxiter = 400, errthres = 0,
               doFistaUpdate = accelerate}
            local memory = x:storage():data()
            local y, history = optim.FistaLS(bowl, absolute, shrink, x, params)
            assert.is_true(rawequal(x, y))
            assert.equal(memory, x:storage():data())
            -- soft(target, weight / curvature)
            assert.is_true(distance(x, {0, -1.5, 0.35}) < 1e-3, typename .. tostring(x))
            assert.is_true(#history > 5 and #history <= 400)
            assert.is_true(params.L >= 10 / 1.5 and params.L <= 15)
         end
      end
      local x = torch.DoubleTensor{0, 0, 0}
      bad("optim.FistaLS: argument 'g' is nil, wanted a function", optim.FistaLS, bowl, nil,
         shrink, x)
      bad("optim.FistaLS: argument 'params' is a number, wanted a table", optim.FistaLS, bowl,
         absolute, shrink, x, 3)
   end)
end)
