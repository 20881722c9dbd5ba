-- dpt.parallel.ranks.terms: shares of ranks in losses that are sums of several.
local torch = require('dpt').torch
local terms = require 'dpt.parallel.ranks.terms'

describe('dpt.parallel.ranks.terms', function()
   local S = terms.SUM

   it('are read at once, wherever their divisors are', function()
      assert.same({3, S, 5, 2, 7}, terms.read({{denominator = 3}, {denominator = false}, {},
         {denominator = torch.FloatTensor{2}}, {denominator = torch.DoubleTensor{7}}}, 5))
   end)

   it('have a share each, or one for all', function()
      local found = terms.settle('net', {{1, 10, 0, 0}, {3, 30, 0, 0}}, 1, 2, 1)
      assert.same({{0.75, 0.75}, 0.75, true}, {found.factors, found.share, found.isEven})
      found = terms.settle('net', {{1, 10, 0, 0}, {1, 30, 0, 0}}, 0, 2, 1)
      assert.same({{0.5, 0.25}, nil, false}, {found.factors, found.share, found.isEven})
      found = terms.settle('net', {{0, 0, 0, 0}, {1, S, 0, 0}, {1, S, 0, 0}}, 1, 2, 1)
      assert.same({{0.5, 1}, false}, {found.factors, found.isEven})
      found = terms.settle('net', {{0, 0, 0, 0}, {1, S, 0, 0}}, 0, 2, 1)
      assert.same({{0, 0}, 0, true}, {found.factors, found.share, found.isEven})
   end)

   it('must be alike in what waits', function()
      assert.equal(2, terms.settle('net', {{1, 10, 1, 10}, {1, 10, 1, 10}}, 0, 2, 2).total)
      assert.error_matches(function()
         terms.settle('net', {{1, 10, 1, 11}, {1, 10, 1, 10}}, 0, 2, 2)
      end, 'net: the terms of the loss of rank 0 count differently in noSync', 1, true)
      assert.equal(2, terms.share('net', {2, 6}, {1, 3}))
      assert.error_matches(function() terms.share('net', {2, 5}, {1, 3}) end,
         'net: in noSync all terms of a loss must count alike in all passes, term 2', 1, true)
      assert.error_matches(function()
         terms.settle('net', {{1, 10, 0, 0}, {S, 10, 0, 0}}, 0, 2, 1)
      end, 'net: term 1 of the loss is a sum on rank 1, and none on others', 1, true)
   end)
end)
