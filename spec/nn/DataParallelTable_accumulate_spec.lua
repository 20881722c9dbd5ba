local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

same.dispatched('nn.DataParallelTable accumulates', function()
   local most = same.most(4)
   local inputs, gradOutputs, joined, joinedGradOutput

   before_each(function()
      torch.manualSeed(7)
      cutorch.setDevice(1)
      joined, joinedGradOutput = torch.randn(18, 5):cuda(), torch.randn(18, 3):cuda()
      inputs, gradOutputs = joined:split(6), joinedGradOutput:split(6)
   end)

   local function make(flat)
      local net = nn.Sequential():add(nn.Linear(5, 4)):add(nn.Tanh()):add(nn.Linear(4, 3)):cuda()
      return nn.DataParallelTable(1, flat):add(net, same.range(most)), net:clone()
   end

   local function steps(many)
      for i, input in ipairs(inputs) do same.pass(many, input, gradOutputs[i]) end
   end

   local function wanted(one)
      one:zeroGradParameters()
      same.pass(one, joined, joinedGradOutput)
      return select(2, one:parameters())
   end

   local function gradients(many) return select(2, many:parameters()) end

   for _, flat in ipairs{false, true} do
      describe('with flat = ' .. tostring(flat) .. ',', function()
         it('G17: noSync moves no gradient, syncGradients adds them up', function()
            local many, one = make(flat)
            many:zeroGradParameters()
            assert.same({'a', nil, 'c', n = 3}, (function(...)
               return {n = select('#', ...), ...}
            end)(many:noSync(function(...) steps(many) return ... end, 'a', nil, 'c')))
            assert.equal(0, many.copiedBytes.gradients)
            local before = same.copied()
            many:syncGradients()
            local bytes = (5 * 4 + 4 + 4 * 3 + 3) * 4 * (most - 1)
            assert.equal(bytes, many.copiedBytes.gradients)
            assert.equal(bytes, same.copied() - before)
            same.close(wanted(one), gradients(many), 1e-5)
            many:syncGradients() -- nothing is pending
            assert.equal(bytes, many.copiedBytes.gradients)
            same.checkReplicas(many)
         end)

         it('the next backward outside noSync adds up all', function()
            local many, one = make(flat)
            many:zeroGradParameters()
            many:noSync(function()
               for i = 1, 2 do same.pass(many, inputs[i], gradOutputs[i]) end
            end)
            many:forward(inputs[3])
            many:updateGradInput(inputs[3], gradOutputs[3])
            many:accGradParameters(inputs[3], gradOutputs[3])
            same.close(wanted(one), gradients(many), 1e-5)
            same.checkReplicas(many)
         end)

         it('zeroGradParameters clears the pending gradients of every replica', function()
            local many, one = make(flat)
            many:noSync(steps, many)
            many:zeroGradParameters()
            same.checkReplicas(many)
            for _, t in ipairs(gradients(many)) do assert.equal(0, t:ne(0):sum()) end
            steps(many)
            same.close(wanted(one), gradients(many), 1e-5)
         end)

         it('A6: writing to gradients while some wait raises', function()
            local many, one = make(flat)
            many:noSync(steps, many)
            gradients(many)[1]:zero()
            for _, f in ipairs{
               function() many:syncGradients() end,
               function() steps(many) end,
               function() many:noSync(steps, many) end,
            } do
               assert.error_matches(f, 'call syncGradients%(%) before, or clear them')
            end
            many:zeroGradParameters()
            steps(many)
            same.close(wanted(one), gradients(many), 1e-5)
         end)

         it('copies have all gradients', function()
            local many, one = make(flat)
            many:zeroGradParameters()
            many:noSync(steps, many)
            same.close(wanted(one), gradients(many:clone()), 1e-5)
         end)

         it('an error inside ends noSync', function()
            local many, one = make(flat)
            assert.error_matches(function()
               many:noSync(function()
                  steps(many)
                  error('enough')
               end)
            end, 'enough')
            many:zeroGradParameters()
            steps(many)
            assert.is_false(many.inNoSync)
            same.close(wanted(one), gradients(many), 1e-5)
         end)
      end)
   end

   it('a network that changes while gradients wait raises once', function()
      local many = make(true)
      many:noSync(steps, many)
      many:get(1):add(nn.Linear(3, 2):cuda())
      assert.error_matches(function() many:forward(joined) end, 'waited for syncGradients')
      many:zeroGradParameters()
      same.compare(many:get(1):clone(), many, joined, 1e-5)
   end)

   describe('by the input of backward', function()
      local double = 'torch.CudaDoubleTensor'
      local function random(...) return torch.randn(...):type(double) end
      local function wrap(net)
         return nn.DataParallelTable(1):add(net:clone(), same.range(most))
      end

      it('that counts if it is not that of the last forward', function()
         local one = nn.Linear(3, 2):type(double)
         local many, rows = wrap(one), 2 * most
         local a, b, g = random(rows, 3), random(rows, 3), random(rows, 2)
         for _, x in ipairs{a, b, b:clone(), b:narrow(1, 1, rows)} do
            for _, m in ipairs{one, many} do
               m:zeroGradParameters()
               m:forward(a)
               m:forward(b)
               m:backward(x, g)
               m:updateGradInput(a, g)
               m:accGradParameters(a, g, 0.5)
            end
            same.close(one.gradWeight, many:get(1).gradWeight, 1e-12)
         end
         many:forward(b)
         many:zeroGradParameters()
         many:backward(nil, g) -- uses the input of the last forward
         same.close(g:t() * b, many:get(1).gradWeight, 1e-12)
         local wrong = {[random(rows + 1, 3)] = 'input has %d+ rows', x = "argument 'input'"}
         for input, message in pairs(wrong) do
            many:forward(b)
            assert.error_matches(function() many:backward(input, g) end, message)
         end
      end)

      it('and leaves what a first layer has made of it in place', function()
         for _, first in ipairs{nn.ReLU(true), nn.Dropout(0.5, false, true), nn.View(3)} do
            local one = nn.Sequential():add(first):add(nn.Linear(3, 2)):type(double)
            local many, x, g = wrap(one), random(2 * most, 3), random(2 * most, 2)
            for k, m in ipairs{one, many} do
               cutorch.manualSeedAll(3)
               m:zeroGradParameters()
               m:forward(x:clone())
               m:backward(k == 1 and x:clone() or x:double(), g) -- copied to the devices again
            end
            same.close(gradients(one), gradients(many), 1e-12)
         end
      end)

      for _, step in ipairs{nn.Identity(), nn.ReLU(true)} do
         it("that is each step's own in a nn.Recursor, behind a " .. torch.type(step), function()
            local one = nn.Sequential():add(nn.Recursor(nn.Sequential():add(step:clone())
               :add(nn.Linear(3, 2)):type(double), 5)):type(double)
            local many, rows = wrap(one), 2 * most
            for _, m in ipairs{one, many} do
               local x = {}
               m:zeroGradParameters()
               for t = 1, 3 do
                  x[t] = torch.Tensor(rows, 3):fill(t):type(double)
                  m:forward(x[t])
               end
               for t = 3, 1, -1 do
                  m:backward(x[t], torch.Tensor(rows, 2):fill(t):type(double))
               end
            end
            assert.equal(rows * 14, gradients(one)[1][1][1])
            same.close(gradients(one), gradients(many), 1e-12)
         end)
      end
   end)
end)
