-- Modules whose result shares memory with what they read compute what they compute beside it.
-- Scripts that save memory share such buffers (optnet, shareGradInput). Here are the forms that
-- they make; spec/torture/aliasing_spec.lua has the others.
local aliased = require 'spec.support.aliased'

local forms = {['torch.FloatTensor'] = {'itself', 'shifted'}, ['torch.CudaTensor'] = {'itself'}}

describe('A result that shares memory with', function()
   for typename, names in pairs(forms) do
      for what in pairs(aliased.pairs) do
         it(('%s is computed beside it (%s)'):format(what, typename), function()
            local wrong = {}
            for _, case in ipairs(aliased.cases) do
               for _, name in ipairs(names) do
                  local why = aliased.wrong(case, typename, what, aliased.forms[name])
                  if why then wrong[#wrong + 1] = ('%s %s: %s'):format(case.name, name, why) end
               end
            end
            assert.same({}, wrong)
         end)
      end
   end
end)
