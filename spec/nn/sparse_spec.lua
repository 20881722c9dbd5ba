--- nn.IndexLinear, nn.Kmeans, nn.hessian: against dense layers, numbers and finite differences.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local run = require 'spec.support.run'

local function distance(a, b) return (a:double() - b:double()):abs():max() end

for _, typename in ipairs{'torch.DoubleTensor', 'torch.CudaDoubleTensor'} do
   local device = typename:find 'Cuda'
   local Long = device and torch.CudaLongTensor or torch.LongTensor
   local function tensor(...) return torch.DoubleTensor(...):type(typename) end

   describe('nn.IndexLinear on a ' .. typename, function()
      local dense, sparse
      local keys, values = {{2, 5}, {1, 5, 3}}, {{0.5, -1}, {2, 0.25, 1}}
      local input = {{}, {}}
      local x = torch.DoubleTensor(2, 6):zero()
      for i = 1, 2 do
         input[1][i], input[2][i] = Long(keys[i]), tensor(values[i])
         for j, key in ipairs(keys[i]) do x[i][key] = values[i][j] end
      end
      x = x:type(typename)
      local flat = {torch.cat(input[1], 1), torch.cat(input[2], 1), Long{2, 3}}

      before_each(function()
         dense, sparse = nn.Linear(6, 4):type(typename), nn.IndexLinear(6, 4, true):type(typename)
         sparse.weight:copy(dense.weight:t())
         sparse.bias:copy(dense.bias)
      end)

      it('is a Linear, in every form of input', function()
         local y = dense:forward(x)
         assert.is_true(distance(y, sparse:forward(input)) < 1e-12)
         assert.is_true(distance(y, sparse:forward(flat)) < 1e-12)
         local one = sparse:forward{input[1][1], input[2][1]}
         assert.same({4}, one:size():totable())
         assert.is_true(distance(y[1], one) < 1e-12)
         for offset = 0, 1 do -- 1: keys start at 0
            local shifted = nn.IndexLinear(6, 4, false, offset, sparse.weight, sparse.bias)
            one = shifted:type(typename):forward{input[1][1] - offset, input[2][1]}
            assert.is_true(distance(y[1], one) < 1e-12)
         end
      end)

      it('computes its gradients, accumulates them and updates its parameters', function()
         local g = tensor(2, 4):fill(0.5)
         for _, layer in ipairs{dense, sparse} do
            local into = layer == dense and x or input
            layer:zeroGradParameters()
            for _ = 1, 2 do
               layer:forward(into)
               layer:backward(into, g, 0.5)
            end
         end
         assert.is_true(distance(dense.gradInput[2], sparse.gradInput[2][2]) < 1e-12)
         assert.same({1, 2, 3, 4, 5, 6}, sparse.gradInput[1][1]:totable())
         dense:updateParameters(0.1)
         sparse:updateParameters(0.1)
         assert.is_true(distance(dense.weight:t(), sparse.weight) < 1e-12)
         assert.is_true(distance(dense.bias, sparse.bias) < 1e-12)
      end)

      it('decays only the rows that took part', function()
         sparse.weightDecay = 0.5
         local before = sparse.weight:clone()
         local one = {input[1][1], input[2][1]}
         sparse:zeroGradParameters()
         sparse:forward(one)
         sparse:accGradParameters(one, tensor(4):zero())
         sparse:updateParameters(0.1)
         assert.is_true(distance(before[2] / 2, sparse.weight[2]) < 1e-12)
         assert.is_true(distance(before[1], sparse.weight[1]) == 0)
      end)

      it('raises one error message for wrong inputs', function()
         assert.error_matches(function() sparse:forward(x) end, 'wanted {keys, values}')
         assert.error_matches(function() sparse:forward{Long{1}, tensor{1, 2}} end, 'of one length')
         local normal = nn.IndexLinear(4, 4, true, 0, nil, nil, true):type(typename)
         normal:forward{Long{1}, tensor{1}}
         assert.error_matches(function() normal:updateGradInput(nil, tensor(4):zero()) end,
            'no gradInput')
      end)

      it('divides by the largest value of a key if it is to normalize', function()
         local m = nn.IndexLinear(3, 2, false, nil, nil, nil, true):type(typename)
         m.weight:narrow(2, 5, 2):copy(torch.Tensor{{1, 2}, {3, 4}, {5, 6}})
         m:training()
         local y = m:forward{{Long{1, 2}, Long{2, 2}}, {tensor{2, -4}, tensor{8, 0}}}
         assert.same({{1 - 0.5 * 3, 2 - 0.5 * 4}, {3, 4}}, y:double():totable())
         assert.same({{2, 0.5, 1, 0}, {8, 0.125, 1, 0}, {0, 0, 0, 0}},
            m.weight:narrow(2, 1, 4):double():totable())
         m:evaluate()
         y = m:forward{Long{2, 3}, tensor{-16, 7}} -- larger than the maximum; never seen
         assert.same({-3 + 5, -4 + 6}, y:double():totable())
         assert.equal(0, m.weight[3][3])
         -- a step: key 2 updates its row and its bias, key 3 did not occur in training
         m:zeroGradParameters()
         m:accGradParameters(nil, tensor{1, 10})
         m:updateParameters(0.5)
         assert.same({-0.5 * (3 + 40), 3.5, 9}, m.weight[2]:narrow(1, 4, 3):double():totable())
         assert.same({0, 5, 6}, m.weight[3]:narrow(1, 4, 3):double():totable())
         assert.same({-0.5, -5}, m.bias:double():totable())
      end)
   end)

   describe('nn.Kmeans on a ' .. typename, function()
      it('finds the clusters', function()
         torch.manualSeed(5)
         local data = torch.DoubleTensor(60, 2):normal(0, 0.1)
         for i = 1, 60 do data[i]:add(i % 3 * 4) end
         data = data:type(typename)
         local km = nn.Kmeans(3, 2):type(typename)
         km:initKmeansPlus(data)
         for _ = 1, 5 do
            km:zeroGradParameters()
            km:forward(data)
            km:backward(data, km.output)
            km:updateParameters(1)
         end
         km:forward(data)
         assert.is_true(km.loss < 60 * 2 * 0.1 ^ 2 * 2)
         assert.equal(20, km.clusterSampleCount:min())
         assert.equal(km.output[1], km.output[4])
         assert.not_equal(km.output[1], km.output[2])
         assert.equal(0, km:updateGradInput(data):abs():max())
         km:clearState():initRandom(data)
         assert.error_matches(function() km:forward(data:t()) end, 'wanted a matrix of 2 columns')
         assert.error_matches(function() nn.Kmeans(0, 2) end, 'at least 1')
      end)
   end)
end

describe('nn.hessian', function()
   it('computes the diagonal of a linear network, as a part of the parameters', function()
      -- in a separate process, because enable() changes the classes
      local out = run.lua [[
         require 'dpt'
         local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Square()):add(nn.Linear(2, 1))
         local before = net:getParameters()
         nn.hessian.enable()
         nn.hessian.enable()
         net:initDiagHessianParameters()
         local p, g, h = net:getParameters()
         print(p:storage() == before:storage(), h:nElement() == p:nElement(), h:sum())
         local x, t = torch.rand(3), torch.rand(1)
         local criterion = nn.MSECriterion()
         local function loss() return criterion:forward(net:forward(x), t) end
         loss()
         local d = criterion:updateDiagHessianInput(net.output, t)
         net:updateDiagHessianInput(x, d)
         net:accDiagHessianParameters(x, d)
         -- the last layer is linear, so there the estimate is exact
         local w, e = net:get(3).weight, 1e-3
         for i = 1, 2 do
            local v = w[1][i]
            local f = {}
            for k = -1, 1 do w[1][i] = v + k * e f[k] = loss() end
            w[1][i] = v
            local second = (f[1] - 2 * f[0] + f[-1]) / e ^ 2
            print(math.abs(second - net:get(3).diagHessianWeight[1][i]) < 1e-5)
         end
         print(pcall(function() nn.ReLU():updateDiagHessianInput(x, x) end))
      ]]
      assert.equal('true\ttrue\t0\ntrue\ntrue\nfalse\t', out:match '^.-false\t')
      assert.truthy(out:find('nn.ReLU: updateDiagHessianInput is not defined', 1, true))
   end)

   it('moves diagonals to the places of the parameters after a weight was replaced', function()
      local out = run.lua [[
         require 'dpt'
         nn.hessian.enable()
         local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Linear(3, 3)):add(nn.Linear(3, 2))
         net:initDiagHessianParameters()
         net:getParameters()
         net:get(2).weight = torch.randn(3, 3)
         net:getParameters()
         local parameters, _, diagonals = net:parameters()
         for i, t in ipairs(parameters) do
            print(t:storageOffset() == diagonals[i]:storageOffset())
         end
      ]]
      assert.equal(('true\n'):rep(6), out)
   end)
end)
