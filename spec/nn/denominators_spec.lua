-- dpt.nn.denominators: records the denominators of criterions' gradients.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local denominators = require 'dpt.nn.denominators'

describe('dpt.nn.denominators', function()
   local input = torch.randn(3, 2):float()

   before_each(function()
      denominators.enabled = true
      denominators.markUsed()
   end)
   after_each(function()
      denominators.enabled = false
      denominators.markUsed()
   end)

   local function gradient(criterion, x, y)
      criterion:forward(x, y)
      return criterion:backward(x, y)
   end

   -- Returns the denominators of a gradient as a list of numbers, false and 'rows'.
   local function of(t)
      local terms, list = denominators.find(t), {}
      if not terms then return nil end
      for k, term in ipairs(terms) do
         local divisor = term.denominator
         if divisor == nil then divisor = 'rows' end
         list[k] = torch.isTensor(divisor) and divisor:view(-1)[1] or divisor
      end
      return list
   end

   it('identifies a gradient by its storage', function()
      local g = gradient(nn.MSECriterion():float(), input, input)
      assert.same({6}, of(g))
      assert.same({6}, of(g:view(2, 3)))
      assert.same({6}, of(g:narrow(1, 2, 1):mul(3)))
      assert.is_nil(of(g:clone()))
      assert.is_nil(of(g * 0.5))
      assert.is_nil(of(torch.FloatTensor()))
      assert.is_nil(of(input))
   end)

   it('records sums, class weights and unknown divisors', function()
      assert.same({false}, of(gradient(nn.MSECriterion(false):float(), input, input)))
      local nll = nn.ClassNLLCriterion(torch.Tensor{1, 3}):float()
      local g = gradient(nll, input, torch.Tensor{2, 1, 2})
      assert.same({7}, of(g))
      nll:forward(input:narrow(1, 1, 1), torch.Tensor{1}) -- used again before the query
      assert.same({7}, of(g))
      local own = nn.Criterion()
      own.updateGradInput = function(_, x) return x:clone() end
      assert.same({'rows'}, of(own:backward(input, input)))
      own.updateGradInput = function() return nil end
      assert.is_nil(own:backward(input, input))
   end)

   it("is that of the criterion's last backward, and is not recorded with one rank", function()
      local criterion = nn.AbsCriterion():float()
      local first = gradient(criterion, input, input)
      gradient(criterion, input:narrow(1, 1, 1), input:narrow(1, 1, 1))
      assert.same({2}, of(first))
      denominators.enabled = false
      local other = nn.AbsCriterion():float()
      assert.is_nil(of(gradient(other, input, input)))
   end)

   it('has the terms of several criterions, and those of one entry', function()
      local both = nn.MultiCriterion():add(nn.MSECriterion()):add(nn.AbsCriterion(false)):float()
      assert.same({6, false}, of(gradient(both, input, input)))
      local parallel = nn.ParallelCriterion():add(nn.MSECriterion()):add(both:clone()):float()
      local g = gradient(parallel, {input, input}, {input, input})
      assert.same({6, 6, false}, of(g))
      assert.same({6}, of(g[1]))
      assert.same({6, false}, of(g[2]:view(-1)))
      local steps = nn.SequencerCriterion(nn.ClassNLLCriterion():float())
      local lists = {input, input:narrow(1, 1, 2)}
      g = gradient(steps, lists, {torch.ones(3), torch.ones(2)})
      assert.same({3}, of(g[1]))
      assert.same({2}, of(g[2]))
      local module = nn.ModuleCriterion(parallel:clone(), nn.ParallelTable():add(nn.Tanh())
         :add(nn.Tanh())):float()
      assert.same({6, 6, false}, of(gradient(module, {input, input}, {input, input})[1]))
   end)

   it('has the terms of all entries of a table that a script has made', function()
      local mean, sum = nn.MSECriterion():float(), nn.MSECriterion(false):float()
      local g = {gradient(mean, input, input), {gradient(sum, input, input)}}
      assert.same({6, false}, of(g))
      g[3] = input
      assert.is_nil(of(g))
      assert.is_nil(of{})
   end)

   it('follows a gradient through a network', function()
      local g, back = gradient(nn.MSECriterion():float(), input, input), torch.FloatTensor(3)
      denominators.propagate(back, denominators.find(g))
      assert.same({6}, of(back))
      denominators.propagate(back, nil)
      assert.is_nil(of(back))
   end)

   it('names a criterion whose divisor is not the number of rows', function()
      local mean, sum = nn.MSECriterion():float(), nn.MSECriterion(false):float()
      gradient(mean, input, input)
      gradient(nn.ClassNLLCriterion():float(), input, torch.Tensor{1, 2, 1})
      gradient(nn.ClassNLLCriterion():float(), input[1], 1)
      gradient(nn.ParallelCriterion():add(mean):float(), {input}, {input})
      assert.is_nil(denominators.findNonRowCriterion())
      gradient(sum, input, input)
      assert.equal('nn.MSECriterion', denominators.findNonRowCriterion())
      denominators.markUsed()
      assert.is_nil(denominators.findNonRowCriterion())
      for _, weights in ipairs{torch.Tensor{1, 3}, torch.Tensor{1, 1}} do -- also if all are 1
         gradient(nn.ClassNLLCriterion(weights):float(), input, torch.Tensor{2, 1, 2})
         assert.equal('nn.ClassNLLCriterion', denominators.findNonRowCriterion())
         denominators.markUsed()
      end
      gradient(nn.ClassNLLCriterion():float(), input, torch.Tensor{2, -100, 2})
      assert.equal('nn.ClassNLLCriterion', denominators.findNonRowCriterion())
      denominators.markUsed()
      gradient(nn.MultiCriterion():add(mean):add(sum):float(), input, input)
      for _ = 1, 70 do gradient(mean, input, input) end -- only the latest are kept
      assert.is_nil(denominators.findNonRowCriterion())
   end)
end)
