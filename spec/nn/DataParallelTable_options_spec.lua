local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

same.dispatched('nn.DataParallelTable options:', function()
   local most = same.most(4)

   local function table(options, list)
      return nn.DataParallelTable(1, true, false, options)
         :add(nn.Linear(4, 3):cuda(), list or same.range(most))
   end

   same.seeded(3)

   it('are fields with values if none is given', function()
      local many = table()
      assert.is_true(many.gather)
      assert.equal('first', many.buffers)
      assert.is_nil(many.outputDevice)
      assert.is_true(many.overlap)
      many = table{gather = false, buffers = 'average', outputDevice = 1, overlap = false}
      assert.is_false(many.gather)
      assert.is_false(many.overlap)
      assert.equal('average', many.buffers)
      assert.equal(1, many.outputDevice)
   end)

   it('raise if they are wrong', function()
      local function makes(options)
         return function() nn.DataParallelTable(1, false, false, options) end
      end
      assert.error_matches(makes(true), 'table of options as argument 4, got boolean')
      assert.error_matches(makes{output = 1},
         'no option output, wanted buffers, gather, outputDevice, overlap or weights')
      assert.error_matches(makes{1}, 'no option 1')
      for _, wrong in ipairs{0, 1.5, cutorch.getDeviceCount() + 1, 'one', true} do
         assert.error_matches(makes{outputDevice = wrong}, 'outputDevice wants the number of')
      end
      assert.error_matches(makes{gather = 1}, 'gather wants true or false, got 1')
      assert.error_matches(makes{overlap = 1}, 'overlap wants true or false, got 1')
      assert.error_matches(makes{gather = torch.Tensor(2)}, 'got torch.DoubleTensor$')
      assert.error_matches(makes{buffers = 'last'}, "wants 'first' or 'average', got 'last'")
      for text, weights in pairs{['{1e%+308, 1e%+308}'] = {1e308, 1e308}, ['{%-1, 1}'] = {-1, 1},
         ['{nan, 1}'] = {0 / 0, 1}, ["{'a', a table}"] = {'a', {}}, ['{}'] = {}, ['7'] = 7} do
         assert.error_matches(makes{weights = weights},
            'weights wants a list of numbers above 0 with a finite sum, .*, got ' .. text .. '$')
      end
   end)

   it('may set outputDevice, the device of outputs and input gradients', function()
      for device = 1, cutorch.getDeviceCount() do -- including devices without a replica
         local many = table{outputDevice = device}
         if device % 2 == 0 then many:threads() end
         local one = many:get(1):clone()
         local input = torch.randn(2 * most + 1, 4):cuda()
         local output = many:forward(input)
         assert.equal(device, output:getDevice())
         local gradOutput = torch.randn(2 * most + 1, 3)
         local gradInput = cutorch.withDevice(device, function()
            return many:backward(input, gradOutput:cuda())
         end)
         assert.equal(device, gradInput:getDevice())
         assert.equal(1, cutorch.getDevice())
         same.close(one:forward(input), output, 1e-6)
         same.close(one:backward(input, gradOutput:cuda()), gradInput, 1e-6)
      end
   end)
end)
