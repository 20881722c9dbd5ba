local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local jacobian = require 'spec.support.jacobian'
local criterions = require 'spec.support.criterions'

describe('The criterions of nn:', function()
   before_each(function() torch.manualSeed(7) end)

   for _, case in ipairs(criterions) do
      it(case.name .. ' has the gradients that differences show, on host and device', function()
         jacobian.criterion(function() return case.make():double() end,
            function() return case.input(4) end,
            case.target and function() return case.target(4) end)
      end)
   end

   local function number(value) return torch.isTensor(value) and value[1] or value end

   for _, case in ipairs(criterions) do
      it(case.name .. (case.whole and ' rejects being split' or ' has terms that sum to the loss'),
         function()
            local criterion, input = case.make():double(), case.input(6)
            local target = case.target and case.target(6)
            if case.whole then
               assert.error_matches(function() criterion:terms(input, target) end,
                  'cannot be computed in parts')
               return
            end
            local loss = criterion:forward(input, target)
            local sum = 0
            for _, term in ipairs(criterion:copyForTerms():terms(input, target)) do
               assert.truthy(term.denominator == false or number(term.denominator) > 0)
               sum = sum + term.weight * number(term.loss)
            end
            assert.near(loss, sum, 1e-12 * math.max(1, math.abs(loss)))
         end)
   end

   it('have terms also if a subclass changes updateOutput', function()
      local classes = {}
      local Twice, parent = torch.class('dptspec.Twice', 'nn.MSECriterion', classes)
      function Twice:updateOutput(input, target)
         self.output = 2 * parent.updateOutput(self, input, target)
         return self.output
      end
      local criterion, x, y = classes.Twice(), torch.randn(4), torch.randn(4)
      assert.equal(2 * nn.MSECriterion():forward(x, y), criterion:forward(x, y))
      assert.equal(criterion.output, criterion:terms(x, y)[1].loss)
   end)

   -- MIXER's criterion multiplies both values that its parent returns.
   it('also return the class weights, as Torch7 did, and no other values', function()
      local weights, classes = torch.Tensor{1, 2, 4}, torch.LongTensor{3, 1, 2, 3}
      for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaTensor'} do
         local x = torch.rand(4, 3):log():type(typename)
         local images = x:view(1, 3, 2, 2)
         local function values(class, input, target, ...)
            return {nn[class](...):type(typename):forward(input, target)}
         end
         assert.equal(11, values('ClassNLLCriterion', x, classes, weights)[2])
         assert.equal(4, values('SpatialClassNLLCriterion', images, classes:view(1, 2, 2))[2])
         assert.equal(1, #values('CrossEntropyCriterion', x, classes))
         assert.equal(1, select('#', nn.MSECriterion():type(typename):forward(x, x)))
      end
   end)

   it('raise if they have no loss', function()
      assert.error_matches(function() nn.Criterion():forward(torch.randn(2), torch.randn(2)) end,
         'nn%.Criterion has no updateOutput')
   end)
end)
