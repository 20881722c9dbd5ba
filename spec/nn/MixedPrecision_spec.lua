-- nn.MixedPrecision: 16-bit weights and activations beside float masters, which always agree: the
-- precision of classes (MixedPrecision.precision), the network (MixedPrecision.conversion,
-- MixedPrecision.places), and the tensors of passes (MixedPrecision.passes, MixedPrecision.cast).
local torch, nn, optim, cutorch = require 'torch', require 'nn', require 'optim', require 'cutorch'
local catalogue = require 'spec.support.catalogue'

local TYPES = {bfloat16 = 'torch.BFloat16Tensor', half = 'torch.HalfTensor'}
local SIDES = {host = 'torch.FloatTensor', device = 'torch.CudaTensor'}

local function network()
   return nn.Sequential():add(nn.Linear(6, 8)):add(nn.BatchNormalization(8)):add(nn.ReLU(true))
      :add(nn.ConcatTable():add(nn.Linear(8, 4)):add(nn.Linear(8, 4))):add(nn.CAddTable())
      :add(nn.Linear(4, 3)):add(nn.LogSoftMax())
end

local function batch(typename)
   return torch.randn(10, 6):type(typename), torch.range(1, 10):apply(function(i)
      return i % 3 + 1
   end):type(typename)
end

-- A network with all that a training step needs.
local function task(typename, name, inner)
   torch.manualSeed(1)
   local net = (inner or network()):type(typename)
   local mixed = name and nn.MixedPrecision(net, name) or net
   local criterion = nn.ClassNLLCriterion():type(typename)
   local input, target = batch(typename)
   local t = {net = mixed, input = input, target = target}
   t.x, t.g = mixed:getParameters()
   function t.loss(x)
      t.net:zeroGradParameters()
      local loss = criterion:forward(t.net:forward(t.input), t.target)
      t.net:backward(t.input, criterion:backward(t.net.output, t.target))
      return loss, x and t.g
   end
   function t.step(method, config)
      t.config = t.config or config or {learningRate = 0.1}
      local _, losses = (method or optim.sgd)(t.loss, t.x, t.config)
      return losses[1]
   end
   return t
end

-- Asserts that each parameter in use is the corresponding master, rounded if it has 16 bits.
local function assertAgree(net)
   net:forward(net.sampleInput)
   local masters, working = net:parameters(), net:workingParameters()
   assert.equal(#masters, #working)
   assert.is_true(#masters > 0)
   local reduced = 0
   for i, master in ipairs(masters) do
      assert.matches('FloatTensor$', (master:type():gsub('Cuda', 'CudaFloat')))
      if working[i]:type() ~= master:type() then reduced = reduced + 1 end
      assert.equal(0, master:type(working[i]:type()):ne(working[i]):sum())
   end
   assert.is_true(reduced > 0)
end

local function agree(t)
   t.net.sampleInput = t.input
   assertAgree(t.net)
end

describe('nn.MixedPrecision', function()
   for side, typename in pairs(SIDES) do
      for name, reduced in pairs(TYPES) do
         it(('keeps masters, gradients and normalization in float, %s, %s'):format(name, side),
            function()
               local t = task(typename, name)
               local net = t.net:get(1)
               local own = side == 'host' and reduced or reduced:gsub('torch.', 'torch.Cuda')
               assert.equal(typename, t.x:type())
               assert.equal(typename, t.g:type())
               assert.equal(own, net:get(1).weight:type())
               assert.equal(typename, net:get(1).gradWeight:type())
               assert.equal(typename, net:get(2).weight:type())
               assert.equal(typename, net:get(2).running_mean:type())
               t.loss()
               assert.equal(own, net:get(1).output:type())
               assert.equal(typename, t.net.output:type())
               assert.equal(typename, t.net.gradInput:type())
               agree(t)
            end)

         it(('trains like floats, %s, %s'):format(name, side), function()
            for _, method in ipairs{'sgd', 'adam', 'adamw', 'rmsprop'} do
               local plain, mixed = task(typename), task(typename, name)
               local config = {learningRate = 0.01}
               for step = 1, 8 do
                  local a = plain.step(optim[method], config)
                  local b = mixed.step(optim[method], {learningRate = 0.01})
                  assert.near(a, b, step == 1 and 0.01 or 0.05)
               end
               agree(mixed)
            end
         end)
      end
   end

   it('gives results close to floats for every module, with gradients in float', function()
      local function convert(value, f)
         if torch.isTensor(value) then return f(value) end
         local list = {}
         for k, v in pairs(value) do list[k] = convert(v, f) end
         return list
      end
      local function tensors(value, list)
         list = list or {}
         if torch.isTensor(value) then list[#list + 1] = value end
         for _, v in ipairs(torch.type(value) == 'table' and value or {}) do tensors(v, list) end
         return list
      end
      local function near(name, a, b)
         a, b = tensors(a), tensors(b)
         assert.equal(#a, #b, name)
         for i, t in ipairs(a) do
            assert.equal(t:type(), b[i]:type(), name)
            if t:nElement() > 0 then
               local difference = (t:double() - b[i]:double()):abs():max()
               assert(difference / (1 + t:double():abs():max()) < 0.02, name)
            end
         end
      end
      local inFloat = {}
      for _, case in ipairs(catalogue) do
         if case.name ~= 'DontCast' and case.name ~= 'Copy' then -- they have types of their own
            torch.manualSeed(5)
            local plain = case.make():float()
            local mixed = nn.MixedPrecision(plain:clone(), 'bfloat16')
            if case.name:find 'Dropout' or case.name:find 'Noise' or case.name == 'RReLU' then
               plain:evaluate()
               mixed:evaluate()
            end
            local input = convert(case.input(4), function(t) -- exact in 16 bits: no new ties
               return torch.type(t) == 'torch.DoubleTensor' and t:bfloat16():float() or t
            end)
            local results = {}
            for k, net in ipairs{plain, mixed} do
               torch.manualSeed(7)
               results[k] = {net:forward(input)}
               results.gradOutput = results.gradOutput or convert(net.output, function(t)
                  return torch.randn(t:size()):float()
               end)
               net:zeroGradParameters()
               results[k][2] = net:backward(input, results.gradOutput)
               results[k][3] = select(2, net:parameters()) or {}
            end
            for k = 1, 3 do near(case.name, results[1][k], results[2][k]) end
            mixed:apply(function(m)
               if torch.type(m) == 'nn.MixedPrecision.Float' then inFloat[case.name] = true end
            end)
         end
      end
      for _, name in ipairs{'Linear', 'SpatialConvolution', 'SeqLSTM', 'Embedding', 'ReLU',
         'MultiheadAttention', 'BatchNormalization', 'LayerNorm'} do
         assert.is_nil(inFloat[name], name)
      end
      for _, name in ipairs{'LogSoftMax', 'SoftMax', 'Exp', 'Sum', 'Cosine'} do
         assert.is_true(inFloat[name], name)
      end
   end)

   it('keeps the output of modules in float exact', function()
      local plain = nn.Sequential():add(nn.SoftMax()):add(nn.Log()):float()
      local mixed = nn.MixedPrecision(plain:clone(), 'bfloat16')
      local input = torch.randn(3, 4):bfloat16():float()
      assert.equal(0, plain:forward(input):ne(mixed:forward(input)):sum())
      local gradOutput = torch.randn(3, 4):float()
      plain:backward(input, gradOutput)
      mixed:backward(input, gradOutput)
      assert.equal(0, plain.gradInput:ne(mixed.gradInput):sum())
   end)

   it('does not convert indices to 16 bits', function()
      local net = nn.Sequential():add(nn.LookupTable(3000, 2)):add(nn.Sum(2)):float()
      local mixed = nn.MixedPrecision(net, 'bfloat16')
      net:get(1).weight:zero():select(2, 1):copy(torch.range(1, 3000):gt(2990))
      assert.equal(2, mixed:forward(torch.FloatTensor{{2991, 2989, 3000}}):sum())
      local parallel = nn.ParallelTable():add(nn.LookupTable(3000, 2)):add(nn.Identity()):float()
      mixed = nn.MixedPrecision(parallel, 'bfloat16')
      parallel:get(1).weight:zero()[2991]:fill(1)
      local outputs = mixed:forward{torch.FloatTensor{2991}, torch.FloatTensor{1 + 2^-12}}
      assert.equal(2, outputs[1]:sum())
      assert.equal(1, outputs[2][1])
   end)

   it('does not convert indices that a module computes in float', function()
      local input, rowsOf = torch.FloatTensor{{200, 57}}, nn.LookupTable(300, 1)
      local net = nn.Sequential():add(nn.Sum(2)):add(rowsOf):float()
      rowsOf.weight:zero()[257]:fill(1)
      local mixed = nn.MixedPrecision(net, 'bfloat16')
      assert.equal(1, mixed:forward(input):sum())
      assert.equal('torch.FloatTensor', mixed:backward(input, mixed.output):type())
      local pair = nn.Sequential():add(nn.ParallelTable():add(nn.Exp()):add(nn.Sum(2)))
         :add(nn.Index(1)):cuda()
      mixed = nn.MixedPrecision(pair, 'bfloat16')
      local rows = torch.FloatTensor(300, 1):fill(1)
      rows[257] = 0
      assert.equal(1, mixed:forward{rows:cuda(), input:cuda()}[1][1])
      assert.equal('torch.CudaBFloat16Tensor', pair:get(2).output:type())
   end)

   it('takes precisions from a script, by class and by module', function()
      local first = nn.Linear(6, 4)
      local net = nn.Sequential():add(first):add(nn.SoftMax()):add(nn.Linear(4, 3)):float()
      local mixed = nn.MixedPrecision(net, 'bfloat16',
         {precision = {['nn.SoftMax'] = 'reduced', [first] = 'float'}})
      assert.equal('nn.MixedPrecision.Float', torch.type(net:get(1)))
      assert.equal('torch.FloatTensor', first.weight:type())
      mixed:forward(batch 'torch.FloatTensor')
      assert.equal('torch.BFloat16Tensor', net:get(2).output:type())
      assert.equal('torch.BFloat16Tensor', net:get(3).weight:type())
   end)

   it('rejects bad arguments', function()
      local net = nn.Linear(2, 3):float()
      local function message(...) return select(2, pcall(nn.MixedPrecision, ...)) end
      assert.matches("argument 'module', wanted a module, got nil", message())
      assert.matches("argument 'type' is 'float', wanted 'bfloat16' or 'half'",
         message(net, 'float'))
      assert.matches('parameter 1 is a torch.DoubleTensor, wanted a torch.FloatTensor or torch.Cuda'
         .. 'Tensor: call float%(%) or cuda%(%) of the network', message(nn.Linear(2, 3), 'half'))
      assert.matches('the network has the type torch.DoubleTensor', message(nn.ReLU(), 'half'))
      assert.matches('there is no option keep, wanted precision',
         message(net, 'half', {keep = true}))
      assert.matches("option 'precision' has 16 for nn.Linear, wanted 'reduced', 'parameters' or",
         message(net, 'half', {precision = {['nn.Linear'] = 16}}))
      assert.matches("option 'precision' has 'reduced' for nn.LayerNorm, wanted 'parameters' or",
         message(net, 'half', {precision = {['nn.LayerNorm'] = 'reduced'}}))
      assert.matches("option 'precision' has 'parameters' for nn.Linear, wanted 'reduced' or",
         message(net, 'half', {precision = {[net] = 'parameters'}}))
      assert.matches("option 'precision' has the key the class nn.Linear, wanted the name of a",
         message(net, 'half', {precision = {[nn.Linear] = 'float'}}))
      assert.matches('nn.MixedPrecision in it: put nn.MixedPrecision inside',
         message(nn.Sequential():add(nn.MixedPrecision(net, 'half')), 'half'))
      for _, share in ipairs{function(a, b) a.bias, a.gradBias = b.bias, b.gradBias end,
         function(a, b) a:share(b, 'bias', 'gradBias') end} do
         net = nn.Sequential():add(nn.Linear(3, 3)):add(nn.BatchNormalization(3)):float()
         share(net:get(2), net:get(1))
         assert.matches('a parameter is shared by a module that works in 16 bits and one that',
            message(net, 'half'))
      end
      net = nn.Linear(2, 3):float()
      net.gradBias = nil
      assert.matches('parameter 2 has no gradient', message(nn.Sequential():add(net), 'half'))
      local mixed = nn.MixedPrecision(nn.Linear(2, 3):float(), 'half')
      local x = torch.FloatTensor(1, 2)
      assert.matches('backward before forward', select(2, pcall(mixed.backward, mixed, x, x)))
      assert.matches('type wants torch.FloatTensor or torch.CudaTensor, got torch.DoubleTensor',
         select(2, pcall(mixed.double, mixed)))
      assert.matches('add: the wrapper has one network', select(2, pcall(mixed.add, mixed,
         nn.Tanh())))
      assert.matches('share before the network is wrapped', select(2, pcall(mixed.clone, mixed,
         'weight')))
      assert.matches('call backward and then updateParameters', select(2, pcall(
         mixed.accUpdateGradParameters, mixed, x, x, 1)))
      local table_ = nn.DataParallelTable(1)
      assert.matches('wanted it around the whole network', select(2, pcall(table_.add, table_,
         nn.Sequential():add(mixed), {1})))
   end)

   -- What scripts do with a network, by name: function(t, net), t as of `task`; net is the network
   -- inside. An operation that replaces parameters returns true.
   local changes = {
      {'writes to the flat parameters', function(t) t.x:mul(0.5) end},
      {'writes to an element of a parameter', function(t) t.net:parameters()[1][1][1] = 0.3 end},
      {'writes to a 16-bit weight', function(_, net) net:get(1).weight:fill(0.123) end},
      {'writes to an element of a 16-bit bias', function(_, net) net:get(6).bias[2] = 5 end},
      {'writes to a weight of normalization', function(_, net) net:get(2).weight:fill(0.7) end},
      {'replaces a weight', function(_, net)
         net:get(1).weight = torch.randn(8, 6):type(net:get(2).weight:type())
         return true
      end},
      {'replaces a weight in the middle', function(_, net)
         net:get(4):get(1).weight = torch.randn(4, 8):type(net:get(2).weight:type())
         return true
      end},
      {'converts a layer', function(t, net)
         net:get(4):get(1):type(t.x:type())
         return true
      end},
      {'sets a weight to other memory', function(_, net)
         net:get(1).weight:set(net:get(1).weight:clone():fill(0.25))
         return true
      end},
      {'initializes with a function', function(t)
         t.net:apply(function(m) if m.weight then m.weight:fill(0.01) end end)
      end},
      {'adds a layer', function(_, net)
         net:insert(nn.Linear(4, 4):type(net:get(2).weight:type()), 6)
         return true
      end},
      {'adds a layer that stays in float', function(_, net) net:insert(nn.SoftMax(), 6) end},
      {'removes a layer', function(_, net)
         net:remove(5)
         net:remove(4)
         net:insert(nn.Linear(8, 4):type(net:get(2).weight:type()), 4)
         return true
      end},
      {'replaces layers', function(t)
         t.net:replace(function(m) return torch.type(m) == 'nn.ReLU' and nn.Tanh() or m end)
      end},
      {'freezes normalization', function(_, net)
         net:get(2).parameters = function() end
         return true
      end},
      {'flattens the parameters by itself', function(t)
         local before, all = t.net:parameters(), t.x:clone()
         local first = 1
         for _, p in ipairs(before) do
            p:set(all:storage(), first, p:size(), p:stride())
            first = first + p:nElement()
         end
         return true
      end},
      {'shares weights', function(_, net)
         net:get(4):get(1):share(net:get(4):get(2), 'weight', 'gradWeight')
         return true
      end},
      {'draws new weights', function(t) t.net:reset() return true end},
      {'clears its state', function(t) t.net:clearState() end},
      {'evaluates', function(t)
         t.net:evaluate()
         t.net:forward(t.input)
         t.net:training()
      end},
      {'flattens it with another network', function(t, net)
         local all = nn.Sequential():add(t.net):add(nn.Linear(3, 3):type(t.x:type()))
         all:getParameters():mul(0.5)
         assert.equal(net, t.net:get(1))
         return true
      end},
      {'asks for parameters again', function(t)
         local x = t.net:getParameters()
         assert.equal(torch.pointer(x:storage()), torch.pointer(t.x:storage()))
      end},
      {'converts it', function(t)
         t.net:type(t.x:type() == SIDES.host and SIDES.device or SIDES.host)
         t.net:type(t.x:type())
         return true
      end},
      {'copies it', function(t) t.net = t.net:clone() return true end},
      {'saves it', function(t)
         local loaded = torch.deserialize(torch.serialize(t.net))
         assert.equal('nn.Sequential', torch.type(loaded))
         assert.equal(t.x:type(), loaded:get(1).weight:type())
         assert.equal('nn.LogSoftMax', torch.type(loaded:get(#loaded.modules)))
         t.net:evaluate()
         local output = t.net:forward(t.input)
         t.net = nn.MixedPrecision(loaded, t.net.reduced):evaluate() or t.net
         t.net = nn.MixedPrecision(torch.deserialize(torch.serialize(t.net)), 'bfloat16')
         assert.equal(0, output:ne(t.net:forward(t.input)):sum())
         t.net:training()
         return true
      end},
      {'fails in a forward', function(t)
         assert.is_false(pcall(t.net.forward, t.net, t.input:narrow(2, 1, 3)))
      end},
      {'fails in a step', function(t)
         assert.is_false(pcall(optim.sgd, function() error 'on purpose' end, t.x, {}))
      end},
   }

   for _, side in ipairs{'host', 'device'} do
      for _, change in ipairs(changes) do
         local what, f = unpack(change)
         it(('has equal masters and 16-bit weights after a script %s, %s'):format(what, side),
            function()
               for _, when in ipairs{'at first', 'after a step', 'after a step by hand'} do
                  local t = task(SIDES[side], 'bfloat16')
                  if when ~= 'at first' then t.step(optim.adam) end
                  if when == 'after a step by hand' then
                     t.loss()
                     t.x:add(-0.1, t.g)
                     t.net:forward(t.input)
                  end
                  local replaced = f(t, t.net:get(1))
                  agree(t)
                  if replaced then
                     t.x, t.g = t.net:getParameters()
                     t.config = nil
                  end
                  local before = t.x:clone()
                  for _ = 1, 2 do t.step(optim.adam) end
                  assert.is_true(t.x:ne(before):sum() > 0)
                  agree(t)
               end
            end)
      end
   end

   it('copies a value that a script writes to a 16-bit weight to the master alone', function()
      local t = task(SIDES.host, 'bfloat16')
      local before = t.x:clone()
      t.net:get(1):get(1).weight[1][1] = 0.5
      t.net:forward(t.input)
      assert.equal(1, t.x:ne(before):sum())
      assert.equal(0.5, t.net:parameters()[1][1][1])
   end)

   it('raises after writes to both, and then uses the floats', function()
      local t = task(SIDES.host, 'bfloat16')
      t.net:get(1):get(1).weight:fill(1)
      t.x:fill(0.25)
      assert.matches('both the weights of modules and the parameters that getParameters',
         select(2, pcall(t.net.forward, t.net, t.input)))
      agree(t)
      assert.equal(0.25, t.net:get(1):get(1).weight[1][1])
   end)

   it('takes weights that a script writes in two networks whose masters are one vector', function()
      local a = nn.MixedPrecision(nn.Linear(2, 2):float(), 'bfloat16')
      local b = nn.MixedPrecision(nn.Linear(2, 2):float(), 'half')
      local x = nn.Sequential():add(a):add(b):getParameters()
      local function step(t)
         optim.sgd(function() return 0, t:clone():fill(1) end, t, {learningRate = 1})
      end
      local input = torch.FloatTensor(1, 2):fill(1)
      a:forward(input) -- both have adapted to the new places
      b:forward(input)
      a:get(1).weight:fill(3)
      b:get(1).weight:fill(4)
      step(x)
      assert.same({2, 3}, {a:parameters()[1]:max(), b:parameters()[1]:max()})
      a:get(1).weight:fill(5)
      step((b:getParameters()))
      b:get(1).weight:fill(6)
      step((a:getParameters()))
      a:forward(input)
      b:forward(input)
      assert.same({4, 6}, {a:get(1).weight:max(), b:get(1).weight:max()})
      assert.same({4, 6}, {a:parameters()[1]:max(), b:parameters()[1]:max()})
   end)

   it('raises if another nn.MixedPrecision takes a layer, until it is removed', function()
      local layer, input = nn.Linear(2, 2), torch.FloatTensor(1, 2):fill(1)
      local function with(other) return nn.Sequential():add(layer):add(other):float() end
      local relu = nn.ReLU()
      local first = nn.MixedPrecision(with(relu), 'bfloat16')
      local second = nn.MixedPrecision(with(relu), 'half')
      for _, name in ipairs{'forward', 'parameters', 'cuda', 'reset', 'floats'} do
         assert.matches('nn.Linear%(2 %-> 2%) is also in another nn.MixedPrecision, which has',
            select(2, pcall(first[name], first, name == 'forward' and input or nil)))
      end
      second:forward(input)
      assert.equal('torch.HalfTensor', layer.weight:type())
      first:get(1):remove(1)
      assert.equal(1, first:forward(input)[1][1])
      first:get(1):add(layer:float()) -- a layer that was not there before
      first:forward(input)
      assert.equal('torch.BFloat16Tensor', layer.weight:type())
      assert.is_false(pcall(second.forward, second, input))
   end)

   it('keeps the bits of masters of layers that a script freezes', function()
      local net = network():float()
      local layer, before = net:get(1), net:get(1).weight:clone()
      local mixed = nn.MixedPrecision(net, 'bfloat16')
      layer.parameters = function() end
      mixed:forward(batch(SIDES.host))
      layer.parameters = nil
      mixed:forward(batch(SIDES.host))
      assert.equal(0, (mixed:parameters()[1]):ne(before):sum())
   end)

   it('keeps the replicas of a network with a layer that a script has frozen', function()
      local net = nn.MixedPrecision(network():cuda(), 'bfloat16')
      local many, input = nn.DataParallelTable(1, true):add(net, {1, 2}), batch(SIDES.device)
      local replica
      for step = 1, 4 do
         local x, g = many:getParameters()
         optim.sgd(function()
            many:zeroGradParameters()
            many:backward(input, many:forward(input))
            return 0, g
         end, x, {learningRate = 0.01})
         if step == 2 then net:get(1):get(1).parameters = function() end end
         if step == 3 then replica = many:get(2) end
      end
      assert.is_true(rawequal(replica, many:get(2)))
      cutorch.synchronizeAll()
   end)

   it('raises in every call until a script has repaired the network', function()
      local t = task(SIDES.host, 'bfloat16')
      local layer = t.net:get(1):get(1)
      local gradWeight = layer.gradWeight
      layer.gradWeight = nil
      for _, f in ipairs{t.net.parameters, t.net.clone, t.net.reset, torch.serialize,
         function() t.net:forward(t.input) end} do
         assert.matches('parameter %d+ has no gradient', select(2, pcall(f, t.net)))
      end
      layer.gradWeight = gradWeight
      agree(t)
      assert.equal(TYPES.bfloat16, layer.weight:type())
   end)

   it('takes weights that a script writes before a step, or in it', function()
      for _, name in ipairs{'sgd', 'adam', 'rmsprop', 'adagrad'} do
         local results = {}
         for k, type_ in ipairs{false, 'bfloat16'} do
            local t = task(SIDES.host, type_)
            local net = type_ and t.net:get(1) or t.net
            optim[name](function()
               t.loss()
               net:get(1).weight:fill(0.5)
               return 0, t.g
            end, t.x, {learningRate = 1e-4})
            results[k] = t.net:parameters()[1]
         end
         assert.is_true((results[1] - results[2]):abs():max() < 1e-3)
      end
   end)

   it('uses parameters in backward that a script has written since the forward', function()
      local plain = nn.Linear(6, 3):float()
      local mixed, input = nn.MixedPrecision(plain:clone(), 'bfloat16'), batch(SIDES.host)
      for _, net in ipairs{plain, mixed} do
         net:backward(input, net:forward(input))
         net:parameters()[1]:mul(8)
         net:backward(input, net.output)
      end
      local difference = (plain.gradInput - mixed.gradInput):abs():max()
      assert.is_true(difference < 0.02 * plain.gradInput:abs():max())
   end)

   it('sums gradients in float of branches that stay in float', function()
      local net = nn.Sequential():add(nn.ConcatTable():add(nn.SoftMax()):add(nn.Exp()))
         :add(nn.CAddTable()):add(nn.Linear(6, 3)):add(nn.LogSoftMax())
      local a, b = task(SIDES.host, nil, net:clone()), task(SIDES.host, 'bfloat16', net)
      assert.near(a.step(), b.step(), 0.02)
      assert.is_true((a.net.gradInput - b.net.gradInput):abs():max() < 0.02)
   end)

   it('finds modules in tables of a container, as in graphs', function()
      local graph = nn.Sequential():add(nn.Linear(6, 4)):add(nn.Cosine(4, 3))
      graph.nodes = {{module = graph:get(1)}, {module = graph:get(2)}}
      local cosine = graph:get(2)
      local mixed = nn.MixedPrecision(graph:float(), 'bfloat16')
      assert.equal('nn.MixedPrecision.Float', torch.type(graph.nodes[2].module))
      assert.equal(cosine, mixed:floats().nodes[2].module and graph.nodes[2].module:get(1))
      assert.equal('nn.Cosine', torch.type(mixed:floats().nodes[2].module))
   end)

   it('cannot be copied for the steps of a sequence', function()
      local net = nn.Sequencer(nn.MixedPrecision(nn.Linear(2, 2):float(), 'bfloat16'))
      assert.matches('cannot be shared with a copy: put nn.MixedPrecision around the whole network',
         select(2, pcall(net.forward, net, {torch.FloatTensor(1, 2), torch.FloatTensor(1, 2)})))
   end)

   it('files hold the masters, once, with frozen weights in float', function()
      local frozen = nn.Linear(6, 6)
      frozen.parameters = function() end
      local net = nn.Sequential():add(frozen):add(network()):float()
      local weight = frozen.weight:clone()
      local t = task(SIDES.host, 'bfloat16', net)
      for _ = 1, 3 do t.step(optim.adam) end
      local text = torch.serialize{net = t.net, again = t.net, x = t.x}
      local loaded = torch.deserialize(text)
      assert.equal(loaded.net, loaded.again)
      assert.equal(0, loaded.net:get(1).weight:ne(weight):sum())
      assert.equal('torch.BFloat16Tensor', frozen.weight:type())
      loaded.x:fill(3)
      assert.equal(3, loaded.net:get(2):get(1).weight[1][1])
      assert.is_true(#text < 5 * 4 * t.x:nElement() + 30000)
      agree(t)
   end)

   it('rejects indices in 16 bits that are not exact', function()
      local net = nn.Sequential():add(nn.Identity()):add(nn.LookupTable(257, 1)):float()
      local mixed = nn.MixedPrecision(net, 'bfloat16')
      assert.matches('nn.LookupTable: argument .input. has indices in a torch.BFloat16Tensor, which'
         .. ' cannot represent the indices up to 257, wanted a torch.LongTensor',
         select(2, pcall(mixed.forward, mixed, torch.FloatTensor{3})))
      assert.equal(1, mixed:forward(torch.LongTensor{3}):nElement())
      assert.equal(1, nn.LookupTable(256, 1):bfloat16():forward(torch.BFloat16Tensor{3}):nElement())
   end)

   it('rejects indices in 16 bits before a module in float, also one in a container', function()
      local function alone(module) return module end
      local function sequence(module) return nn.Sequential():add(module) end
      for _, make in ipairs{nn.LookupTable, nn.EmbeddingBag, nn.OneHot} do
         for _, wrap in ipairs{alone, sequence, nn.DontCast} do
            local module = wrap(make(257, 1):float())
            local net = nn.MixedPrecision(nn.Sequential():add(nn.Identity()):add(module):float(),
               'bfloat16', {precision = {[module] = 'float'}})
            assert.matches('cannot represent the indices up to 257, wanted a torch.LongTensor',
               select(2, pcall(net.forward, net, torch.FloatTensor{{3}})))
            assert.equal('torch.FloatTensor', net:forward(torch.LongTensor{{3}}):type())
         end
      end
   end)

   it('rejects other indices in 16 bits, and keeps tables of indices in float', function()
      local input = {torch.FloatTensor(300, 1):zero(), torch.FloatTensor{257}}
      input[1][257] = 1
      local inner = nn.Sequential():add(nn.Identity()):add(nn.Index(1)):cuda()
      local mixed = nn.MixedPrecision(inner, 'bfloat16')
      assert.matches('nn.Index: argument .input. has indices in a torch.CudaBFloat16Tensor',
         select(2, pcall(mixed.forward, mixed, {input[1]:cuda(), input[2]:cuda()})))
      mixed = nn.MixedPrecision(nn.Sequential():add(nn.SelectTable(-1)):add(nn.OneHot(300)):float(),
         'bfloat16')
      assert.matches('nn.OneHot: argument .input. has indices in a torch.BFloat16Tensor',
         select(2, pcall(mixed.forward, mixed, input)))
      local index = nn.MixedPrecision(nn.Index(1):cuda(), 'bfloat16')
      assert.equal(1, index:forward{input[1]:cuda(), input[2]:cuda()}[1][1])
      input[2] = torch.LongTensor{257}
      assert.equal(1, mixed:forward(input)[1][257])
      for _, module in ipairs{nn.PartialLinear(2, 300),
         nn.SpatialConvolutionMap(nn.tables.full(300, 1), 1, 1)} do
         if module.setPartition then module:setPartition(torch.LongTensor{257}) end
         module:float()
         local from = module.setPartition and torch.randn(2, 2) or torch.randn(300, 2, 2)
         from = from:bfloat16():float()
         local expected = module:clone():forward(from)
         local output = nn.MixedPrecision(module, 'bfloat16'):forward(from)
         assert.is_true((output - expected):abs():max() < 0.02)
      end
   end)

   it('keeps entries of tables in float that modules in float, or of indices, select', function()
      local function select(key, module)
         return nn.Sequential():add(nn.SelectTable(key)):add(module)
      end
      local net = nn.ConcatTable():add(select(1, nn.LookupTable(300, 2)))
         :add(select('x', nn.Linear(3, 2))):add(select(2, nn.Log()))
         :add(select(3, select(1, nn.Identity()))):add(select(3, select(2, nn.Exp())))
         :add(nn.SelectTable(4)):float()
      local odd = 1 + 2^-12 -- not exact in 16 bits
      local input = {torch.FloatTensor{257}, torch.FloatTensor{odd},
         {torch.FloatTensor{odd}, torch.FloatTensor{odd}}, torch.FloatTensor{odd},
         x = torch.FloatTensor(1, 3):fill(odd)}
      local plain, mixed = net:clone(), nn.MixedPrecision(net, 'bfloat16')
      local a, b = plain:forward(input), mixed:forward(input)
      for i, isExact in ipairs{false, false, true, false, true, false} do
         assert.equal('torch.FloatTensor', b[i]:type())
         assert.is_true((a[i] - b[i]):abs():max() < 0.02)
         assert.equal(isExact, a[i]:eq(b[i]):all())
      end
      plain:backward(input, b)
      mixed:backward(input, b)
      for _, key in ipairs{1, 2, 4, 'x'} do
         assert.equal('torch.FloatTensor', mixed.gradInput[key]:type())
         assert.is_true((plain.gradInput[key] - mixed.gradInput[key]):abs():max() < 0.02)
      end
   end)

   it('rejects samples in 16 bits whose indices are not exact', function()
      local sample = torch.FloatTensor{{1, 2}, {256, 3}}
      for _, case in ipairs{{nn.SparseLinear, sample}, {nn.SparseLinear, {sample, sample}},
         {nn.IndexLinear, {sample:select(2, 1), sample:select(2, 2)}},
         {nn.IndexLinear, {{sample:select(2, 1)}, {sample:select(2, 2)}}}} do
         local make, input = unpack(case)
         local function mixed(size)
            local net = nn.Sequential():add(nn.Identity()):add(make(size, 2)):float()
            return nn.MixedPrecision(net:clone(), 'bfloat16'), net
         end
         local net, plain = mixed(256)
         assert.is_true((net:forward(input) - plain:forward(input)):abs():max() < 1e-6)
         net = mixed(257)
         assert.matches(make.__typename .. ': argument .input. has indices in a torch.BFloat16',
            select(2, pcall(net.forward, net, input)))
      end
   end)

   it('takes states of recurrent networks, and their gradients, in float', function()
      local plain = require('cudnn').LSTM(3, 4, 1):cuda()
      local mixed = nn.MixedPrecision(plain:clone(), 'bfloat16')
      local input, state = torch.randn(2, 5, 3):cuda(), torch.randn(1, 5, 4):cuda()
      for _, net in ipairs{plain, mixed} do
         local rnn = net == mixed and mixed:get(1) or net
         rnn:setStates(state, state)
         rnn.gradHiddenOutput, rnn.gradCellOutput = state, state
         net:backward(input, net:forward(input))
         assert.equal(SIDES.device, rnn.hiddenInput:type())
      end
      assert.is_true((plain.output - mixed.output):abs():max() < 0.02)
      assert.is_true((plain.gradInput - mixed.gradInput):abs():max() < 0.05)
   end)

   it('limits the norm of rows in the masters', function()
      local net = nn.LookupTable(4, 2, 0, 1):float()
      net.weight:fill(3)
      local mixed = nn.MixedPrecision(net, 'bfloat16')
      mixed:forward(torch.LongTensor{2})
      assert.near(1, mixed:parameters()[1][2]:norm(), 0.01)
      assert.equal(3, mixed:parameters()[1][1][1])
   end)

   it('makes gradients of a forward of clones in float', function()
      local net = nn.MapTable(nn.Sequential():add(nn.Linear(2, 2)):add(nn.SoftMax())):float()
      local plain, mixed = net:clone(), nn.MixedPrecision(net, 'bfloat16')
      local input = {torch.randn(3, 2):float(), torch.randn(3, 2):float()}
      local x = mixed:getParameters()
      for _ = 1, 2 do
         for _, one in ipairs{plain, mixed} do
            one:zeroGradParameters()
            one:forward(input)
            one:backward(input, input)
         end
         local _, a = plain:parameters()
         local _, b = mixed:parameters()
         for i, g in ipairs(a) do assert.is_true((g - b[i]):abs():max() < 0.03) end
         assert.equal(torch.pointer(x:storage()),
            torch.pointer(mixed:getParameters():storage()))
      end
   end)

   it('recomputes with the results of the network without nn.Recompute', function()
      local function build(recompute)
         torch.manualSeed(2)
         local part = nn.Sequential():add(nn.Linear(6, 6)):add(nn.Dropout(0.5)):add(nn.SoftMax())
         return nn.Sequential():add(recompute and nn.Recompute(part) or part):add(nn.Linear(6, 3))
            :add(nn.LogSoftMax())
      end
      local a, b = task(SIDES.host, 'bfloat16', build(false)), task(SIDES.host, 'bfloat16',
         build(true))
      for _ = 1, 3 do
         torch.manualSeed(4)
         a.step()
         torch.manualSeed(4)
         b.step()
         assert.equal(0, a.x:ne(b.x):sum())
      end
      local function gradInput(t)
         torch.manualSeed(4)
         local output = t.net:forward(t.input):clone()
         return t.net:backward(t.input.new():set(t.input), output) -- another object, as in threads
      end
      assert.equal(0, gradInput(a):ne(gradInput(b)):sum())
   end)

   for _, threads in ipairs{false, true} do
      it('sends 16-bit parameters to replicas, which give the results of one device'
         .. (threads and ', in threads' or ''), function()
         local one = task(SIDES.device, 'bfloat16')
         torch.manualSeed(1)
         local net = nn.MixedPrecision(network():cuda(), 'bfloat16')
         net:get(1):get(2):evaluate() -- statistics of the whole batch
         one.net:get(1):get(2):evaluate()
         local many = nn.DataParallelTable(1, true):add(net, {1, 2})
         if threads then many:threads() end
         local x, g = many:getParameters()
         assert.equal(SIDES.device, x:type())
         local t = {net = many, x = x, g = g, input = one.input, target = one.target}
         local criterion = nn.ClassNLLCriterion():cuda()
         local config, before = {learningRate = 0.1}, nil
         for step = 1, 4 do
            one.step(optim.adam, {learningRate = 0.1})
            optim.adam(function()
               many:zeroGradParameters()
               criterion:forward(many:forward(t.input), t.target)
               many:backward(t.input, criterion:backward(many.output, t.target))
               return 0, g
            end, x, config)
            if step == 2 then before = many.copiedBytes.parameters end
         end
         assert.equal(2 * (2 * x:nElement() + 4 * net.masters.kept:nElement()),
            many.copiedBytes.parameters - before)
         assert.is_true((one.x - x):abs():max() < 0.02)
         many:get(2) -- replica 2 has no masters
         assert.is_nil(not threads and many:get(2).masters or nil)
         local loaded = torch.deserialize(torch.serialize(many))
         assert.equal('nn.Sequential', torch.type(loaded:get(1)))
         assert.equal(0, loaded:getParameters():ne(x):sum())
         local clone = many:clone()
         assert.equal(0, clone:getParameters():ne(x):sum())
         net:get(1):get(1).weight:fill(0.5)
         many:syncParameters()
         assert.same({0.5, 0.5}, many:applyToReplicas(function(r)
            return r:get(1):get(1).weight[1][1]
         end))
         if threads then
            many.impl:close()
            clone.impl:close()
         end
         cutorch.synchronizeAll()
      end)
   end
end)
