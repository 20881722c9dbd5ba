-- Modules whose result shares memory with an operand compute the same as without sharing. Scripts
-- that save memory share such buffers (optnet, shareGradInput). Tests the forms that these scripts
-- create; spec/torture/aliasing_spec.lua tests the others.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local aliased = require 'spec.support.aliased'

local forms = {['torch.FloatTensor'] = {'itself', 'shifted'}, ['torch.CudaTensor'] = {'itself'}}

describe('A result that shares memory with', function()
   for typename, names in pairs(forms) do
      for what in pairs(aliased.pairs) do
         it(('%s is computed in other memory (%s)'):format(what, typename), function()
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

   -- Resizing the result moves their memory after the call has examined them.
   it('weights, targets or regions is computed in other memory', function()
      for typename in pairs(forms) do
         local function behind(t) return t.new(t:storage(), 2, 1) end
         local x, target = torch.rand(4, 3):type(typename), torch.Tensor{1, 2, 3, 1}:type(typename)
         local weights = torch.Tensor{0.2, 0.5, 0.7}
         for _, name in ipairs{'weights', 'target'} do
            local m = nn.ClassNLLCriterion(weights):type(typename)
            m:forward(x, target)
            local wanted = m:backward(x, target):totable()
            m.gradInput = behind(name == 'target' and target or m.weights)
            assert.same(wanted, m:backward(x, target):totable(), name)
         end
         local m = nn.SpatialFractionalMaxPooling(2, 2, 3, 3):type(typename):fixPoolingRegions()
         x = torch.rand(2, 2, 8, 8):type(typename)
         local wanted = m:forward(x):totable()
         m.output = behind(m.randomSamples)
         assert.same(wanted, m:forward(x):totable())
      end
   end)
end)
