--- getParameters: parameters and gradients as two flat tensors.
local function mlp()
   return nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(nn.Linear(4, 2))
end

describe('nn.Module:getParameters', function()
   it('returns the parameters in order, with their values', function()
      local net = mlp()
      local order = {}
      for i, t in ipairs((net:parameters())) do order[i] = t:clone():view(-1) end
      local p, g = net:getParameters()
      assert.are.equal(26, p:size(1))
      assert.are.equal(26, g:size(1))
      assert.are.equal(0, (p - torch.cat(order, 1)):abs():max())
      assert.are.equal(1, net:get(1).weight:storageOffset())
      assert.are.equal(13, net:get(1).bias:storageOffset())
   end)

   it('makes the tensors of the module views', function()
      local net = mlp()
      local p, g = net:getParameters()
      p:fill(0.25)
      g:zero()
      assert.are.equal(0.25, net:get(3).weight:min())
      local x = torch.rand(2, 3)
      net:forward(x)
      net:backward(x, torch.rand(2, 2))
      assert.is_true(g:abs():max() > 0)
   end)

   it('returns the same memory until something changes', function()
      local net = mlp()
      local p = net:getParameters()
      local q = net:getParameters()
      assert.are.equal(torch.pointer(p:storage()), torch.pointer(q:storage()))
      q:fill(3)
      assert.are.equal(3, p:min())
   end)

   it('E1: returns a tensor that optimizers reject when tensors have moved out of it', function()
      local inner = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Linear(3, 2))
      local net = nn.Sequential():add(nn.Linear(2, 2)):add(inner)
      local function stepsOn(x)
         return function()
            optim.sgd(function() return 0, x.new():resizeAs(x):zero() end, x, {})
         end
      end
      local whole = net:getParameters()
      local again, part = net:getParameters(), inner:getParameters()
      for _, x in ipairs{whole, again, part} do stepsOn(x)() end
      inner:add(nn.Linear(2, 1))
      stepsOn(whole)() -- nothing has moved yet
      local new = net:getParameters()
      stepsOn(new)()
      for _, x in ipairs{whole, again, part} do
         assert.error_matches(stepsOn(x), "'x' holds parameters that have moved.*again")
      end
      inner:remove()
      local change = function()
         optim.sgd(function()
            inner:get(1).weight = torch.Tensor(3, 2):zero()
            inner:get(1).gradWeight = torch.Tensor(3, 2):zero()
            net:getParameters()
            return 0, new:clone():zero()
         end, new, {})
      end
      assert.error_matches(change, 'call getParameters again')
   end)

   it('counts tensors that are shared once', function()
      local a = nn.Linear(3, 3)
      local b = a:clone('weight', 'gradWeight', 'bias', 'gradBias')
      local net = nn.Sequential():add(a):add(nn.Tanh()):add(b)
      local p = net:getParameters()
      assert.are.equal(12, p:size(1))
      a.weight:fill(7)
      assert.are.equal(7, b.weight:min())
   end)

   it('preserves overlapping and transposed parts', function()
      local encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
      for _, name in ipairs{'weight', 'gradWeight'} do
         decoder[name]:set(encoder[name]:storage(), 1, torch.LongStorage{4, 2},
            torch.LongStorage{1, 4})
      end
      local values = encoder.weight:clone()
      local p = nn.Sequential():add(encoder):add(decoder):getParameters()
      assert.are.equal(8 + 2 + 4, p:size(1))
      assert.are.equal(0, (encoder.weight - values):abs():max())
      assert.are.equal(0, (decoder.weight - values:t()):abs():max())
   end)

   it('leaves out elements that no tensor reaches', function()
      local m = nn.Linear(2, 3)
      local wide = torch.rand(3, 5)
      m.weight:set(wide:narrow(2, 2, 2))
      m.gradWeight:set(torch.rand(3, 5):narrow(2, 2, 2))
      local p = m:getParameters()
      assert.are.equal(9, p:size(1))
      assert.are.equal(0, (m.weight - wide:narrow(2, 2, 2)):abs():max())
      assert.are.equal(0, (p:narrow(1, 1, 6):view(3, 2) - wide:narrow(2, 2, 2)):abs():max())
   end)

   it('moves gradients to the places of the parameters after a weight was replaced', function()
      local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Linear(3, 3)):add(nn.Linear(3, 2))
      local _, before = net:getParameters()
      before:copy(torch.range(1, before:nElement()))
      net:get(2).weight = torch.randn(3, 3)
      local values, gradients = {}, {}
      for i, t in ipairs((net:parameters())) do
         values[i], gradients[i] = t:clone(), select(2, net:parameters())[i]:clone()
      end
      local p, g = net:getParameters()
      local tensors, own = net:parameters()
      for i, t in ipairs(tensors) do
         assert.are.equal(0, t:ne(values[i]):sum())
         assert.are.equal(0, own[i]:ne(gradients[i]):sum())
         assert.are.equal(t:storageOffset(), own[i]:storageOffset())
         assert.are.equal(torch.pointer(p:storage()), torch.pointer(t:storage()))
         assert.are.equal(torch.pointer(g:storage()), torch.pointer(own[i]:storage()))
      end
      local again, same = net:getParameters()
      assert.are.equal(torch.pointer(p:storage()), torch.pointer(again:storage()))
      assert.are.equal(torch.pointer(g:storage()), torch.pointer(same:storage()))
   end)

   it('gives gradients the strides of parameters: a transposed weight', function()
      local layer = nn.Linear(4, 3)
      layer.weight = layer.weight:t():clone():t()
      layer.gradWeight:range(1, 12)
      local weight, gradient = layer.weight:clone(), layer.gradWeight:clone()
      local p, g = layer:getParameters()
      assert.are.equal(0, layer.gradWeight:ne(gradient):sum())
      p:add(1, g)
      assert.are.equal(0, layer.weight:ne(weight:add(gradient)):sum())
      assert.are.equal(torch.pointer(g:storage()),
         torch.pointer(select(2, layer:getParameters()):storage()))
   end)

   it('rejects parameters that overlap where their gradients do not', function()
      local a, b = nn.Linear(2, 2, false), nn.Linear(2, 2, false)
      local memory = torch.randn(6)
      a.weight:set(memory:storage(), 1, torch.LongStorage{2, 2})
      b.weight:set(memory:storage(), 3, torch.LongStorage{2, 2})
      assert.has_error(function() nn.Sequential():add(a):add(b):getParameters() end,
         'nn.Sequential: getParameters wants gradients shared exactly as the parameters are: '
         .. 'share gradWeight and gradBias along with weight and bias')
      b.gradWeight = a.gradWeight:narrow(1, 1, 1):clone() -- one row: as many elements
      assert.has_error(function() nn.Sequential():add(a):add(b):getParameters() end)
   end)

   it('rejects gradients that are shared otherwise than the parameters', function()
      local a = nn.Linear(2, 2)
      local net = nn.Sequential():add(a):add(a:clone('weight'))
      assert.has_error(function() net:getParameters() end,
         'nn.Sequential: getParameters wants gradients shared exactly as the parameters are: '
         .. 'share gradWeight and gradBias along with weight and bias')
   end)

   it('rejects parameters of two types by one error message', function()
      local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Linear(2, 2):float())
      local ok, why = pcall(net.getParameters, net)
      assert.is_false(ok)
      assert.is_truthy(why:find('parameter 1 is a torch.DoubleTensor and 3 a torch.FloatTensor', 1,
         true))
   end)

   it('returns empty tensors for a module without parameters', function()
      local p, g = nn.Sequential():add(nn.Tanh()):getParameters()
      assert.are.equal(0, p:nElement())
      assert.are.equal(0, g:nElement())
   end)

   it('works on devices without a wait', function()
      if not cutorch then return end
      local net = mlp():cuda()
      local values = net:get(3).weight:double()
      local p = net:getParameters()
      assert.are.equal('torch.CudaTensor', torch.type(p))
      assert.are.equal(0, (net:get(3).weight:double() - values):abs():max())
   end)
end)
