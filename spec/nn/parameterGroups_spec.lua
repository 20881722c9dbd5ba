-- nn.utils.parameterGroups: rates and decays of the flat parameters by name.
local bad = require('spec.support.descent').bad

local function network()
   return nn.Sequential():add(nn.TemporalConvolution(2, 3, 2)):add(nn.View(3))
      :add(nn.BatchNormalization(3)):add(nn.LinearWeightNorm(3, 2)):add(nn.SeqLSTM(2, 3))
      :add(nn.Linear(3, 2))
end
local rules = {{name = 'bias', weightDecay = 0}, {class = 'Normalization$', weightDecay = 0},
   {name = '^5%.', rateFactor = 4}, {name = 'weight_hh', class = 'SeqLSTM', weightDecay = 2},
   {name = '^5%.bias$', rateFactor = 8, weightDecay = 3}}

-- Returns the least and the greatest element of each parameter if the flat ones have the values.
local function byName(net, values)
   net:getParameters():copy(values)
   local ranges = {}
   for name, t in pairs(nn.safetensors.tensors(net)) do
      if not name:find 'running' then ranges[name] = {t:min(), t:max()} end
   end
   return ranges
end

describe('nn.utils.parameterGroups', function()
   for _, typename in ipairs{'torch.DoubleTensor', 'torch.FloatTensor', 'torch.HalfTensor',
      'torch.CudaTensor', 'torch.CudaHalfTensor'} do
      it('returns a factor and a decay for each parameter, ' .. typename, function()
         local net = network():type(typename)
         local before = net:getParameters():clone()
         local rates, decays = nn.utils.parameterGroups(net, rules, 0.5)
         local x = net:getParameters()
         assert.is_true(x:eq(before):all())
         for _, t in ipairs{rates, decays} do
            assert.equal(x:nElement(), t:nElement())
            assert.equal((typename:gsub('Half', typename:find 'Cuda' and '' or 'Float')), t:type())
         end
         local wanted = {['0.weight'] = {1, 0.5}, ['0.bias'] = {1, 0}, ['2.weight'] = {1, 0},
            ['2.bias'] = {1, 0}, ['3.bias'] = {1, 0}, ['4.weight_ih_l0'] = {1, 0.5},
            ['4.weight_hh_l0'] = {1, 2}, ['4.bias_ih_l0'] = {1, 0}, ['4.bias_hh_l0'] = {1, 0},
            ['5.weight'] = {4, 0.5}, ['5.bias'] = {8, 3}}
         for i, values in ipairs{rates, decays} do
            local ranges = byName(net, values)
            for name, each in pairs(wanted) do
               assert.same({each[i], each[i]}, ranges[name], name)
            end
         end
         -- v and g of LinearWeightNorm have no name
         assert.equal(0.5, net:get(4).v:min())
         assert.equal(0.5, net:get(4).g:max())
      end)
   end

   it('is used by optimizers', function()
      local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Linear(2, 1))
      local x, gradient = net:getParameters()
      local first, second = net:get(1), net:get(2)
      local w, b, frozen = first.weight:clone(), first.bias:clone(), second.weight:clone()
      local config = {learningRate = 0.5}
      config.learningRates, config.weightDecays = nn.utils.parameterGroups(net,
         {{name = 'bias', weightDecay = 0}, {name = '^1', rateFactor = 0}}, 0.5)
      optim.adamw(function() return 0, gradient:zero() end, x, config)
      assert.is_true((first.weight - w * 0.75):abs():max() < 1e-15)
      assert.is_true(first.bias:equal(b) and second.weight:equal(frozen))
   end)

   it('returns nil for what no rule sets, and accepts nn.DataParallelTable #devices2', function()
      local net = nn.Sequential():add(nn.Linear(3, 2)):cuda()
      local rates, decays = nn.utils.parameterGroups(net, {{name = 'bias', rateFactor = 2}})
      assert.is_nil(decays)
      assert.equal(2, rates[8])
      local table = nn.DataParallelTable(1):add(net, {1, 2})
      rates, decays = nn.utils.parameterGroups(table, {{name = 'bias', weightDecay = 2}}, 0)
      assert.is_nil(rates)
      assert.same({0, 0, 0, 0, 0, 0, 2, 2}, decays:totable())
   end)

   it('finds the floats of nn.MixedPrecision by the names of the network in it', function()
      local function decays(wrap)
         local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.LayerNorm(2)):add(nn.Linear(2, 2))
         net = wrap(net:float())
         local _, list = nn.utils.parameterGroups(net, {{name = '[01].bias$', weightDecay = 0},
            {name = '^2.weight', weightDecay = 3}}, 1)
         return list:totable()
      end
      assert.same(decays(function(net) return net end),
         decays(function(net) return nn.MixedPrecision(net, 'half') end))
   end)

   it('rejects wrong rules, and patterns that match nothing', function()
      local net = nn.Sequential():add(nn.Linear(2, 1)):add(nn.BatchNormalization(1))
      local f, name = nn.utils.parameterGroups, 'nn.utils.parameterGroups: '
      local names = '; names are 0.bias 0.weight 1.bias 1.weight'
      for text, given in pairs{
         ['rule 2 matches no parameter (^2%.)' .. names] = {{name = 'bias', rateFactor = 1},
            {name = '^2%.', rateFactor = 1}},
         ['rule 1 matches no parameter (0.weight, Normalization)' .. names] = {{name = '0.weight',
            class = 'Normalization', rateFactor = 1}},
         ['rule 1 matches no parameter (running)' .. names] = {{name = 'running', rateFactor = 1}},
         ["rule 1: '[' is not a pattern of Lua (malformed pattern (missing ']'))"] = {{name = '[',
            rateFactor = 1}},
         ['rule 1: wanted name or class, and rateFactor or weightDecay'] = {{rateFactor = 1}},
         ['rule 1: there is no option lr, wanted class, name, rateFactor or weightDecay'] =
            {{name = 'bias', lr = 1}},
         ['rule 1: option rateFactor wants a number from 0 on, got -1'] = {{name = 'bias',
            rateFactor = -1}},
         ['rule 1 is a number, wanted a table'] = {3},
         ["argument 'rules' has the field 'weightDecay', wanted a list of rules"] = {
            {name = 'bias', weightDecay = 0}, weightDecay = 1},
         ["argument 'rules' is a table without a list, wanted a list of rules"] = {},
         ["argument 'weightDecay' is missing, wanted the decay of parameters without a rule, a"
            .. ' number from 0 on'] = {{name = 'bias', weightDecay = 1}},
      } do bad(name .. text, f, net, given) end
      local line, raised = bad(name .. "argument 'module' is a table, wanted a module",
         function() f({}, rules) end)
      assert.equal(line + 1, raised)
   end)
end)
