-- dpt.optim.state: the state of a method has the type and size of the parameters.
local copy = require 'dpt.clone'
local descent = require 'spec.support.descent'

local methods = {sgd = {learningRate = 0.05, momentum = 0.9, dampening = 0}, adam = {},
   adamw = {amsgrad = true}, adamax = {}, adagrad = {}, adadelta = {}, rmsprop = {},
   nag = {learningRate = 0.05, momentum = 0.5, learningRates = true}, asgd = {t0 = 0}, rprop = {},
   lbfgs = {maxIter = 3, learningRate = 0.1}}
local types = {'torch.FloatTensor', 'torch.DoubleTensor', 'torch.CudaTensor',
   'torch.CudaDoubleTensor'}
local start = torch.DoubleTensor{1.5, -2, 0.5, 3}

-- Runs gradient steps on half the weighted square of x.
local function steps(name, x, config, state, count)
   local weights = torch.DoubleTensor{1, 2, 3, 4}:type(x:type())
   for _ = 1, count do
      optim[name](function(y)
         local g = torch.cmul(y, weights)
         return g:dot(y) / 2, g
      end, x, config, state)
   end
end

-- Returns the settings of a method, with learningRates of the given type.
local function settings(name, typename)
   local config = copy(methods[name])
   if config.learningRates then config.learningRates = torch.ones(4):type(typename) end
   return config
end

-- Calls f(list, key, field) for each tensor of a state and of its lists.
local function eachTensor(state, f, field)
   for key, value in pairs(copy(state)) do
      if torch.isTensor(value) then
         f(state, key, field or key)
      elseif type(value) == 'table' then
         eachTensor(state[key], f, key)
      end
   end
end

describe('The state of a method of descent', function()
   for name in pairs(methods) do
      it('is converted to the type of the parameters: optim.' .. name, function()
         local wanted, kept = start:clone(), {}
         steps(name, wanted, settings(name, 'torch.DoubleTensor'), kept, 6)
         for _, from in ipairs(types) do
            local before, saved = start:clone():type(from), {}
            steps(name, before, settings(name, from), saved, 3)
            for _, to in ipairs(types) do
               local x = before:double():clone():type(to)
               local state = torch.deserialize(torch.serialize(saved))
               steps(name, x, settings(name, from), state, 3)
               assert.is_true(descent.distance(wanted, x) < 1e-4, from .. ' to ' .. to)
               eachTensor(state, function(list, key)
                  local typename = list[key]:type()
                  assert.equal(to:find 'Cuda', typename:find 'Cuda', key)
                  if not typename:find 'Byte' then assert.equal(to, typename, key) end
               end)
            end
         end
      end)

      it('of another size is rejected by its name, before the step: optim.' .. name, function()
         local x, state = start:clone(), {}
         steps(name, x, settings(name, 'torch.DoubleTensor'), state, 2)
         local before, count = x:clone(), 0
         eachTensor(state, function(list, key, field)
            local good = list[key]
            if good:type() == 'torch.ByteTensor' then return end -- rprop recreates masks with sign
            for text, bad in pairs{['a torch.FloatTensor of 3 elements'] = torch.FloatTensor(3),
               ['a number'] = 3} do
               list[key] = bad
               descent.bad(("optim.%s: the state '%s' is %s, wanted a torch.DoubleTensor of 4"
                  .. ' elements as x'):format(name, field, text), steps, name, x,
                  settings(name, 'torch.DoubleTensor'), state, 1)
            end
            list[key], count = good, count + 1
            assert.equal(0, descent.distance(before, x))
         end)
         assert.is_true(count > 0)
      end)
   end

   it('leaves other tensors of its table alone', function()
      local mine, config = torch.FloatTensor(4), {momentum = 0.5}
      config.mine = mine
      local x = start:clone()
      steps('sgd', x, config, nil, 2)
      steps('sgd', x:cuda(), config, nil, 2)
      assert.is_true(rawequal(mine, config.mine))
   end)

   it('has factors of any type, which are read at every step', function()
      for _, name in ipairs{'sgd', 'adam', 'adamw', 'nag'} do
         for _, typename in ipairs(types) do
            local x, rates = start:clone():type(typename), torch.FloatTensor{1, 0, 0, 0}
            local state = {}
            steps(name, x, {learningRates = rates}, state, 2)
            local half = x:double()
            assert.is_true(half[1] < 1.5 and half[2] == -2, name)
            rates:zero():narrow(1, 2, 1):fill(1)
            steps(name, x, {learningRates = rates}, state, 2)
            assert.is_true((x[1] == half[1] or name == 'nag') and x[2] > -2, name)
         end
      end
   end)

   it('has one factor for each parameter', function()
      local x = start:clone()
      for _, case in ipairs{{'sgd', 'learningRates'}, {'sgd', 'weightDecays'},
         {'adam', 'learningRates'}, {'adam', 'weightDecays'},
         {'adamw', 'learningRates'}, {'adamw', 'weightDecays'}, {'nag', 'learningRates'}} do
         local name, field = unpack(case)
         for text, value in pairs{['a torch.FloatTensor of 3 elements'] = torch.FloatTensor(3),
            ['a number'] = 3} do
            descent.bad(("optim.%s: argument '%s' is %s, wanted a tensor of 4 elements as"
               .. ' x'):format(name, field, text), steps, name, x, {[field] = value}, {}, 1)
         end
      end
      assert.equal(0, descent.distance(start, x))
   end)
end)
