-- optim.checkgrad: a gradient against finite differences.
local bad = require 'spec.support.raises'

describe('optim.checkgrad', function()
   local function cube(x) return torch.pow(x, 3):sum(), torch.pow(x, 2):mul(3) end

   it('distinguishes a right gradient from a wrong one and leaves x as it was', function()
      local x = torch.DoubleTensor{1, -2, 0.5}
      local difference, gradient, estimate = optim.checkgrad(cube, x)
      assert.is_true(difference < 1e-7)
      assert.same({3, 12, 0.75}, gradient:totable())
      assert.is_true((gradient - estimate):abs():max() < 1e-5)
      assert.same({1, -2, 0.5}, x:totable())
      local wrong = optim.checkgrad(function(v)
         local f, g = cube(v)
         return f, g:mul(-1)
      end, x, 1e-5)
      assert.is_true(wrong > 1e3)
   end)

   it('raises for wrong arguments by name', function()
      bad("optim.checkgrad: argument 'opfunc' is nil, wanted a function",
         function() optim.checkgrad(nil, torch.Tensor{1}) end)
      bad("optim.checkgrad: argument 'x' is a number, wanted a tensor",
         function() optim.checkgrad(cube, 1) end)
   end)
end)
