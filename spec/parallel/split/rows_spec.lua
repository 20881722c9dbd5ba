-- dpt.parallel.split.rows: the number of rows of a batch.
local torch = require('dpt').torch
local rows = require 'dpt.parallel.split.rows'

describe('dpt.parallel.split.rows', function()
   local function count(value, how, dimension)
      return rows(value, how, dimension or 1, {1, 2}, 'input')
   end

   it('are counted along the dimension of the split', function()
      local t = torch.Tensor(4, 3, 2)
      assert.equal(4, count(t))
      assert.equal(3, count(t, nil, 2))
      assert.equal(2, count(t, 3))
      assert.equal(0, count(torch.Tensor()))
      assert.equal(0, count(torch.Tensor(0, 3)))
      assert.equal(0, count 'a word')
   end)

   it('are those of the largest entry of a table', function()
      assert.equal(5, count{torch.Tensor(4, 9), {inner = torch.Tensor(5, 2)}})
      local input = {torch.Tensor(7, 3, 2), torch.Tensor(1, 3, 2), {7, 6, 5}}
      assert.equal(3, count(input, {2, 2, 'list'}))
      assert.equal(3, count({torch.Tensor(7, 3)}, {2}))
      assert.equal(3, count({torch.Tensor(1, 3), a = torch.Tensor(9)}, {a = 'list'}, 2) - 6)
   end)

   it('exclude replicated entries, and count entries of lists', function()
      assert.equal(0, count(torch.Tensor(4, 3), 'replicate'))
      assert.equal(2, count({torch.Tensor(2, 3), {torch.Tensor(9, 3)}}, {1, 'replicate'}))
      assert.equal(3, count({'a', 'b', 'c'}, 'list'))
      assert.equal(4, count(torch.LongTensor(4), 'list'))
      assert.equal(0, count({}, 'list'))
   end)

   it('are those of all parts that a function returns', function()
      local got
      local function parts(value, devices)
         got = devices
         return {value:narrow(1, 1, 2), {nothing = {}, x = value:narrow(1, 3, 3)}}
      end
      assert.equal(5, count(torch.Tensor(5, 2), parts))
      assert.same({1, 2}, got)
      assert.error_matches(function() count(torch.Tensor(5), function() end) end,
         'input: the function of its split spec must return a list')
   end)
end)
