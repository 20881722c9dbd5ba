-- nn.utils: errors for arguments that are not tensors or tables name function and argument.
-- spec/golden/cases/nn_utils.lua checks results.
local nn, torch = require 'nn', require 'torch'

describe('nn.utils', function()
   it('raises for arguments of other kinds', function()
      local x, utils = torch.ones(2, 3), nn.utils
      for _, case in ipairs{
         {'contiguousView', "argument 'input' is nil, wanted a tensor", nil, nil, 6},
         {'contiguousView', "argument 'output' is a number, wanted a tensor", 3, x, 6},
         {'viewAgain', "argument 'input' is a number, wanted a tensor", x, 3},
         {'addSingletonDimension', "argument 't' is a string, wanted a tensor", 'x'},
         {'addSingletonDimension', "argument 'result' is a table, wanted a tensor", {}, x},
         {'addSingletonDimension', 'dimension nan is not in 1..3', x.new(), x, 0/0},
         {'tensorsLike', "argument 'others' is nil, wanted a table", {}},
         {'tensorsLike', "argument 'others' is a number, wanted a tensor", {}, {3}},
         {'convertFields', "argument 'object' is a torch.DoubleTensor, wanted a table", x},
         {'convertFields', "type nil is unknown", {x}},
         {'recursiveType', "argument 'cache' is a string, wanted a table", {x},
            'torch.FloatTensor', 'x'},
         {'moveTo', "argument 'value' is a number, wanted a table", 3, 1},
         {'clear', "argument 'object' is nil, wanted a table"},
      } do
         assert.error_matches(function() utils[case[1]](unpack(case, 3, 5)) end, case[2], 1, true)
      end
   end)

   it('raises for a recursive table, and accepts one that occurs twice', function()
      local ring, shared = {}, {torch.ones(2)}
      ring[1] = {ring}
      for _, name in ipairs{'ResizeAs', 'Fill', 'Add', 'Copy'} do
         local f = nn.utils['recursive' .. name]
         assert.error_matches(function() f(ring, name == 'Fill' and 1 or ring) end,
            'nn.utils.recursive' .. name .. ': got a table that is inside itself')
      end
      nn.utils.recursiveFill({shared, shared}, 3)
      assert.equal(6, shared[1]:sum())
   end)

   it('makes a tensor if it gets no result', function()
      local y = nn.utils.addSingletonDimension(torch.ones(2, 3), 2)
      assert.same({2, 1, 3}, y:size():totable())
   end)
end)
