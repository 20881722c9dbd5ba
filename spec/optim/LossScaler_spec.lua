-- optim.LossScaler; spec/support/ranks/shares.lua has several ranks.
local copy = require 'dpt.clone'
local dpt = require 'dpt'
local torch, nn, optim = dpt.torch, dpt.nn, dpt.optim

local INF = math.huge
local methods = {sgd = {momentum = 0.9, dampening = 0, learningRateDecay = 0.1}, adam = {},
   adamw = {amsgrad = true}, adamax = {}, adagrad = {learningRateDecay = 0.1}, adadelta = {},
   rmsprop = {}, asgd = {}}

-- Returns the bits of all tensors and numbers of a state.
local function bitsOf(state)
   local values = {}
   for key, value in pairs(state) do
      values[key] = torch.isTensor(value) and value:totable() or value
   end
   return values
end

describe('optim.LossScaler', function()
   for name, config in pairs(methods) do
      for _, kind in ipairs{'Float', 'Double', 'Cuda', 'Half', 'BFloat16', 'CudaHalf'} do
         it(('divides and skips: optim.%s of a %sTensor'):format(name, kind), function()
            local make = torch[kind .. 'Tensor']
            local x, y, own, other = make{1, -2, 0.5}, make{1, -2, 0.5}, {}, {}
            local scaler = optim.LossScaler{scale = 1024, every = 2}
            local scaled = copy(config)
            scaled.scaler = scaler
            local function step(values)
               local loss = optim[name](function() return 3, scaler:scale(make(values)) end, x,
                  scaled, own)
               assert.is_true(rawequal(x, loss))
            end
            step{INF, 1, 1} -- the first step is skipped, too
            assert.same({1, -2, 0.5}, x:totable())
            assert.is_nil(next(bitsOf(own)))
            for i = 1, 4 do
               local values = {0.25 * i, -0.5, 1}
               step(values)
               optim[name](function() return 3, make(values) end, y, copy(config), other)
               assert.same(y:totable(), x:totable())
               assert.same(bitsOf(other), bitsOf(own))
               for _, bad in ipairs{INF, -INF, 0 / 0} do
                  step{1, bad, 1}
                  assert.same(y:totable(), x:totable())
                  assert.same(bitsOf(other), bitsOf(own))
               end
            end
            assert.equal(13, scaler:skipped())
         end)
      end
   end

   it('has the scales of PyTorch #recorded', function()
      -- torch.amp.GradScaler('cpu', 1024, 4, 0.25, 3), where _ is a finite step
      local scaler, got = optim.LossScaler{scale = 1024, growth = 4, backoff = 0.25, every = 3}, {}
      for step in ('___x__x_______'):gmatch '.' do
         scaler:prepare(torch.FloatTensor{step == 'x' and INF or 1})
         got[#got + 1] = scaler:getScale()
      end
      assert.same({1024, 1024, 4096, 1024, 1024, 1024, 256, 256, 256, 1024, 1024, 1024, 4096,
         4096}, got)
   end)

   it('keeps its scale among the normal floats', function()
      local most = optim.LossScaler{scale = 2 ^ 127, every = 1}
      most:prepare(torch.DoubleTensor{1})
      assert.equal(2 ^ 127, most:getScale())
      local least = optim.LossScaler{scale = 2 ^ -125}
      for _ = 1, 3 do least:prepare(torch.FloatTensor{INF}) end
      assert.equal(2 ^ -126, least:getScale())
   end)

   it('scales tables of tensors, in buffers', function()
      local scaler = optim.LossScaler{scale = 4}
      local given = {torch.HalfTensor{1, 2}, {torch.CudaTensor{3}, torch.FloatTensor{4}}}
      local got = scaler:scale(given)
      assert.same({4, 8}, got[1]:totable())
      assert.same({12, 16}, {got[2][1][1], got[2][2][1]})
      assert.same({'torch.HalfTensor', 'torch.CudaTensor'}, {got[1]:type(), got[2][1]:type()})
      assert.same({1, 2}, given[1]:totable())
      local first = got[1]
      assert.is_true(rawequal(first, scaler:scale(given)[1]))
      assert.same({8}, scaler:scale(torch.FloatTensor{2}):totable())
      assert.equal(1024, scaler:scale(torch.HalfTensor{256})[1])
      assert.same(1, #scaler:scale{torch.FloatTensor{2}})
   end)

   it('unscales a gradient once before a step', function()
      local scaler = optim.LossScaler{scale = 8}
      local x, g = torch.CudaTensor{1, 1}, torch.CudaTensor{24, 32}
      optim.sgd(function()
         assert.is_true(rawequal(g, scaler:unscale(g)))
         assert.same({3, 4}, g:totable())
         assert.equal(5, scaler:norm()[1])
         assert.equal('torch.CudaTensor', scaler:norm():type())
         assert.error_matches(function() scaler:unscale(g) end, 'unscale was called twice', 1, true)
         return 0, g:mul(0.5)
      end, x, {learningRate = 0.5, scaler = scaler})
      assert.same({0.25, 0}, x:totable())
      scaler:unscale(torch.FloatTensor{INF, 8})
      assert.equal(INF, scaler:norm()[1])
      assert.is_false(scaler:prepare(g))
      assert.same({1.5, 2}, g:totable())
   end)

   it('computes the norm of halves in float', function()
      local scaler = optim.LossScaler{scale = 2}
      local x, g = torch.HalfTensor(400):fill(1), torch.HalfTensor(400):fill(60000)
      optim.sgd(function() return 0, g end, x, {learningRate = 2 ^ -14, scaler = scaler})
      assert.equal(0, scaler:skipped())
      assert.equal(600000, scaler:norm()[1])
   end)

   it('trains in half with gradients that are too small for halves', function()
      local net = nn.Linear(1, 1, false):type 'torch.HalfTensor'
      net.weight:fill(1)
      local params, gradients = net:getParameters()
      local input, criterion = torch.HalfTensor{{2 ^ -10}}, nn.MSECriterion():half()
      local scaler = optim.LossScaler{scale = 2 ^ 14}
      optim.sgd(function()
         gradients:zero()
         local f = criterion:forward(net:forward(input), torch.HalfTensor{{0}})
         net:backward(input, scaler:scale(criterion:backward(net.output, torch.HalfTensor{{0}})))
         return f, gradients
      end, params, {learningRate = 2 ^ 18, scaler = scaler})
      assert.equal(0.5, params[1]) -- 1 - 2^18 * 2 * 2^-20
   end)

   it('is saved and cloned', function()
      local scaler = optim.LossScaler{scale = 16, every = 2}
      scaler:scale(torch.FloatTensor(1000))
      scaler:prepare(torch.FloatTensor{INF})
      scaler:prepare(torch.FloatTensor{1})
      local text = torch.serialize(scaler)
      assert.is_true(#text < 1000)
      for _, other in ipairs{torch.deserialize(text), copy(scaler)} do
         assert.same({8, 1}, {other:getScale(), other:skipped()})
         other:prepare(torch.FloatTensor{1})
         assert.equal(16, other:getScale())
      end
      assert.equal(8, scaler:getScale())
   end)

   it('is used by optim.ZeroRedundancyOptimizer in a world of one', function()
      local scaler, x, state = optim.LossScaler{scale = 4}, torch.FloatTensor{1}, {}
      local zero = optim.ZeroRedundancyOptimizer(optim.adam)
      for _, g in ipairs{1, INF, 1} do
         zero(function() return 0, scaler:scale(torch.FloatTensor{g}) end, x, {scaler = scaler},
            state)
      end
      assert.same({2, 1}, {state.t, scaler:skipped()})
   end)

   it('rejects wrong settings and arguments', function()
      local function raises(text, f) assert.error_matches(f, text, 1, true) end
      for key, values in pairs{scale = {0, -1, 0 / 0, INF, 'x'}, growth = {1, 0.5, INF, 0 / 0},
         backoff = {0, 1, 2, 0 / 0}, every = {0, 1.5, INF, 0 / 0}, rate = {1}} do
         for _, value in ipairs(values) do
            raises(("optim.LossScaler: setting '%s' is "):format(key),
               function() optim.LossScaler{[key] = value} end)
         end
      end
      raises("argument 'settings' is a number, wanted a table",
         function() optim.LossScaler(3) end)
      local scaler = optim.LossScaler()
      raises("argument 'gradOutput' is nil, wanted a tensor or a table of tensors",
         function() scaler:scale() end)
      for _, bad in ipairs{2, torch.HalfTensor{1}, torch.LongTensor{1}} do
         raises("argument 'gradient' is", function() scaler:unscale(bad) end)
      end
      local x = torch.FloatTensor{1}
      local function f() return 0, torch.FloatTensor{1} end
      raises("optim.sgd: argument 'scaler' is a number, wanted an optim.LossScaler",
         function() optim.sgd(f, x, {scaler = 3}) end)
      raises("argument 'scaler' is a number, wanted an optim.LossScaler",
         function() optim.ZeroRedundancyOptimizer(optim.sgd)(f, x, {scaler = 3}) end)
      for _, name in ipairs{'lbfgs', 'cg', 'nag', 'rprop'} do
         raises(("optim.%s: the setting 'scaler' is for methods that evaluate f once"):format(name),
            function() optim[name](f, x, {scaler = scaler}) end)
      end
   end)
end)
