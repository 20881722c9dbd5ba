-- dpt.parallel.split.split_spec: assigns the entries of an input to replicas.
local dpt = require 'dpt'
local torch = dpt.torch
local splitSpec = require 'dpt.parallel.split.split_spec'

describe('dpt.parallel.split.split_spec', function()
   it('applies to everything inside its entry', function()
      assert.equal(2, splitSpec.at(2, 'any'))
      assert.equal('list', splitSpec.at({x = 'list'}, 'x'))
      assert.is_nil(splitSpec.at({x = 'list'}, 'y'))
   end)

   it('accepts dimensions, words, functions and tables of these', function()
      for _, how in ipairs{1, 3, 'replicate', 'list', print, {1}} do
         splitSpec.check(how, {}, 'input')
      end
   end)

   it('rejects other values with one error message', function()
      for wanted, how in pairs{['got 0'] = 0, ['got 1.5'] = 1.5, ["got 'copy'"] = 'copy',
         ['got true'] = true, ["got 'function' .files hold none: set it again."] = 'function'} do
         assert.error_matches(function() splitSpec.check(how, {}, 'input[2]') end,
            'input%[2%]: invalid split spec, wanted a dimension, .*' .. wanted)
      end
      assert.error_matches(function() splitSpec.check({1}, torch.CudaTensor(2), 'input') end,
         'input is a torch.CudaTensor, its split spec a table: one for each entry of a table')
   end)

   it("requires a list from a user's function", function()
      assert.same({{5}, {1, 2}}, splitSpec.parts(function(v, d) return {v, d} end, {5}, {1, 2}))
      assert.error_matches(function() splitSpec.parts(function() return 7 end, 1, {1}, 'x') end,
         'x: the function of its split spec must return a list .* got a number')
   end)

   it('writes a placeholder for functions to files', function()
      local f = function() end
      local how = {1, {f, x = 'list'}}
      assert.same({1, {'function', x = 'list'}}, splitSpec.saved(how))
      assert.equal(f, how[2][1])
   end)
end)
