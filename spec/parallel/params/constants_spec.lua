--- Writes of a script to elements of tensors in replica 1 reach the other replicas.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

local most = same.most(3)

-- Returns a module that multiplies by a mask in a nested table.
local function Mask()
   local mask = nn.Identity()
   mask.kept = {{mask = torch.CudaTensor(4):fill(2)}}
   function mask:updateOutput(input)
      self.output = torch.cmul(input, self.kept[1].mask:view(1, 4):expandAs(input))
      return self.output
   end
   function mask:updateGradInput(_, gradOutput)
      self.gradInput = torch.cmul(gradOutput, self.kept[1].mask:view(1, 4):expandAs(gradOutput))
      return self.gradInput
   end
   return mask
end

local function make()
   return nn.Sequential():add(nn.Linear(5, 4)):add(Mask()):add(nn.Dropout(0.2))
      :add(nn.ConcatTable():add(nn.Identity()):add(nn.Constant(torch.Tensor{1, 2, 3, 4}, 1)))
      :add(nn.CAddTable()):add(nn.BatchNormalization(4)):add(nn.Linear(4, 3)):cuda()
end

local function input() return torch.randn(2 * most + 1, 5):cuda() end

same.dispatched('A write to a tensor of replica 1', function()
   local one, many

   before_each(function()
      torch.manualSeed(11)
      cutorch.setDevice(1)
      one = make()
      one:get(6):evaluate()
      many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
      same.compare(one, many, input(), 1e-5)
   end)

   it('reaches the others even if the tensor is between parameters in a flat one', function()
      local net = one:clone()
      local lists = {many, nn.DataParallelTable(1):add(net, same.range(most))}
      net:getParameters()
      for _, parallel in ipairs(lists) do
         local plain = one:clone()
         for _, m in ipairs{plain, parallel:get(1)} do
            m:get(1).parameters = function() end -- frozen
         end
         for factor = 1, 3 do
            for _, m in ipairs{plain, parallel:get(1)} do m:get(1).weight:mul(factor) end
            same.compare(plain, parallel, input(), 1e-5)
            plain:updateParameters(0.1)
            parallel:updateParameters(0.1)
         end
      end
   end)

   it('reaches the others at the next pass, for any kind of write', function()
      local replicas = many.impl.modules
      for _, write in ipairs{
         function(net) net:get(2).kept[1].mask[3] = 0 end,
         function(net) net:findModules('nn.Constant')[1].value:fill(7) end,
         function(net) net:get(6).running_mean:fill(0.5) end,
         function(net)
            net:get(6).running_var:fill(3)
            net:get(2).kept[1].mask:fill(0.5)
         end,
         function(net) net:get(2).kept[1].mask:set(torch.CudaTensor{1, 2, 3, 4}) end,
         function(net) net:get(6).running_mean:set(torch.CudaTensor{4, 3, 2, 1}) end,
      } do
         write(one)
         write(many:get(1))
         same.compare(one, many, input(), 1e-5)
         same.compare(one, many, input(), 1e-5)
      end
      assert.equal(replicas, many.impl.modules)
   end)

   it('between forward and backward counts in backward', function()
      local x = input()
      for _, net in ipairs{one, many} do
         net:zeroGradParameters()
         same.rewind(net.forward, net, x)
      end
      for _, net in ipairs{one, many:get(1)} do net:get(2).kept[1].mask:fill(-1) end
      same.close(one:backward(x, one.output), many:backward(x, one.output), 1e-5)
   end)

   it('by a function that is called for all replicas stays what each got', function()
      if most < 2 then return pending('needs 2 devices') end
      local function value(m) return m:findModules('nn.Constant')[1].value[1] end
      many:applyToReplicas(function(m, i) m:findModules('nn.Constant')[1].value:fill(i) end)
      many:forward(input())
      assert.same(same.range(most), many:applyToReplicas(value))
      many:findModules('nn.Constant')[1].value:fill(9)
      many:forward(input())
      for _, got in ipairs(many:applyToReplicas(value)) do assert.equal(9, got) end
   end)

   it('is not seen in buffers that passes write: nothing is copied', function()
      if most < 2 then return pending('needs 2 devices') end
      local replicas, moved = many.impl.modules, many.copiedBytes.buffers
      for _ = 1, 3 do
         same.compare(one, many, input(), 1e-5)
         many:get(1):forward(input())
      end
      assert.equal(replicas, many.impl.modules)
      assert.equal(moved, many.copiedBytes.buffers)
      many:get(1):get(6).running_mean:fill(1)
      many:forward(input())
      assert.equal(moved + 2 * 4 * 4 * (most - 1), many.copiedBytes.buffers)
   end)
end)
