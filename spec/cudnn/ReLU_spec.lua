-- cudnn's ReLU, ClippedReLU, Tanh and Sigmoid: differences from nn.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

describe("cudnn's activations", function()
   it('propagate NaNs, unlike nn.ReLU', function()
      for name, module in pairs{ReLU = cudnn.ReLU(), inPlace = cudnn.ReLU(true),
         Clipped = cudnn.ClippedReLU(3), clippedInPlace = cudnn.ClippedReLU(3, true)} do
         local out = module:cuda():forward(torch.CudaTensor{0 / 0, -1, 2, 0})
         assert.are_not.equal(out[1], out[1], name)
         assert.same({0, 2, 0}, out:narrow(1, 2, 3):totable())
      end
      assert.same({0, 2}, nn.ReLU():forward(torch.Tensor{0 / 0, 2}):totable())
   end)

   it('have the gradients of nn', function()
      local x, g = torch.randn(4, 5):cuda(), torch.randn(4, 5):cuda()
      for name, other in pairs{ReLU = nn.ReLU(), Tanh = nn.Tanh(), Sigmoid = nn.Sigmoid()} do
         local a, b = cudnn[name]():cuda(), other:cuda()
         assert.same(b:forward(x):totable(), a:forward(x):totable())
         assert.same(b:backward(x, g):totable(), a:backward(x, g):totable())
      end
   end)

   it("return a gradInput of the input's shape for any shape of gradOutput", function()
      for _, m in ipairs{cudnn.ReLU(), cudnn.ClippedReLU(3), cudnn.Tanh(), cudnn.Sigmoid()} do
         m:cuda():forward(torch.ones(4, 5):cuda())
         local gradInput = m:backward(torch.ones(4, 5):cuda(), torch.ones(4, 1, 5):cuda())
         assert.same({4, 5}, gradInput:size():totable(), torch.type(m))
      end
   end)

   for _, name in ipairs{'ReLU', 'Tanh', 'Sigmoid'} do
      it('work in place on request: ' .. name, function()
         local x, g = torch.randn(4, 5):cuda(), torch.randn(4, 5):cuda()
         local plain, module = cudnn[name]():cuda(), cudnn[name](true):cuda()
         local output = plain:forward(x):clone()
         local gradInput = plain:backward(x, g):clone()
         local mine, mineToo = x:clone(), g:clone()
         assert.is_true(module:forward(mine):isSetTo(mine))
         assert.same(output:totable(), mine:totable())
         assert.is_true(module:backward(mine, mineToo):isSetTo(mineToo))
         assert.same(gradInput:totable(), mineToo:totable())
      end)
   end
end)
