-- dpt.parallel.split.check_join: outputs joined along another dimension than the input's.
local torch = require('dpt').torch
local check = require 'dpt.parallel.split.check_join'

describe('dpt.parallel.split.check_join', function()
   -- Returns a check of two parts with 2 and 1 rows along `split`, and outputs of these sizes.
   local function of(split, joined, says, first, second)
      local inputs = {torch.rand(4, 2, 3), torch.rand(4, 1, 3)}
      return function()
         check('net', split, joined, says, 2, {0, 2, 3}, inputs, {torch.rand(unpack(first)),
            torch.rand(unpack(second))})
      end
   end

   it('accepts outputs with the rows of their part in that dimension', function()
      of(2, 1, nil, {2, 5}, {1, 5})()
      of(2, 1, 1, {2, 2, 5}, {1, 1, 5})() -- a module has said so
      of(2, 2, nil, {9, 9}, {9, 9})() -- the dimension of the split
      of({2, 1}, 1, nil, {9, 9}, {9, 9})()
      check('net', 2, 1, nil, 1, {0, 0}, {torch.Tensor()}, {torch.rand(3)}) -- no rows
      check('net', 2, 1, nil, 1, {0, 2}, {torch.rand(4, 2)}, {{torch.rand(3)}}) -- a table
   end)

   it("rejects other outputs, also those with the rows in the input's dimension", function()
      local text = 'net: the input was cut along dimension 2 and outputs would be joined along'
         .. ' dimension 1, but for %d of it that of replica %d is of size '
      assert.error_matches(of(2, 1, nil, {4, 5}, {4, 5}), text:format(2, 1) .. '4x5')
      assert.error_matches(of(2, 1, nil, {2, 5}, {4, 5}), text:format(1, 2) .. '4x5')
      assert.error_matches(of(2, 1, nil, {2, 2, 5}, {1, 1, 5}), text:format(2, 1) .. '2x2x5')
   end)
end)
