local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

describe('nn.DataParallel', function()
   if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end

   local most = same.most(4)
   same.seeded(4)

   it('computes the same as one device, from a network of any type on any device', function()
      local made = {
         function() return nn.Linear(5, 3):float() end,
         function() return nn.Linear(5, 3) end, -- doubles: becomes cuda()'s type
         function() return nn.Linear(5, 3):cuda() end,
         function() return nn.Linear(5, 3):cudaDouble() end,
         function() return cutorch.withDevice(2, function() return nn.Linear(5, 3):cuda() end) end,
         function() return nn.Sequential():add(nn.Linear(5, 3):cudaDouble()) end, -- only the child
      }
      for i, make in ipairs(made) do
         local module = make()
         local typename = (i == 4 or i == 6) and 'torch.CudaDoubleTensor' or 'torch.CudaTensor'
         local one = module:clone():double():type(typename)
         local many = nn.DataParallel(module)
         assert.equal('nn.DataParallelTable', torch.type(many))
         assert.equal(typename, many:type())
         assert.equal(module, many:get(1))
         assert.same(same.range(cutorch.getDeviceCount()), many.gpuAssignments)
         for _, rows in ipairs{1, 2, 9} do
            same.compare(one, many, torch.randn(rows, 5):type(typename), 1e-6)
         end
      end
      assert.equal(1, cutorch.getDevice())
   end)

   it('G7: handles a batch of one row like others', function()
      local many = nn.DataParallel(nn.Linear(5, 3), {devices = same.range(most)})
      for _, rows in ipairs{1, most} do
         local output = many:forward(torch.randn(rows, 5)) -- host memory, as from a loader
         assert.equal('torch.CudaTensor', output:type())
         assert.same({rows, 3}, output:size():totable())
         assert.equal(1, output:getDevice())
         assert.equal('torch.CudaTensor', many.inputGpu[1]:type())
      end
   end)

   it('accepts options', function()
      local last = cutorch.getDeviceCount()
      local many = nn.DataParallel(nn.Linear(5, 3), {devices = {2, 1}, outputDevice = last})
      assert.equal(last, many:forward(torch.randn(4, 5)):getDevice())
      assert.equal(2, (many:getParameters()):getDevice())
      assert.same({2, 1}, many.gpuAssignments)
      many = nn.DataParallel(nn.Identity(), {dim = 2, devices = {1, 2}, gather = false})
      local parts = many:forward(torch.randn(3, 4))
      assert.same({3, 2}, parts[2]:size():totable())
   end)

   it('raises one error message for wrong arguments', function()
      assert.error_matches(function() nn.DataParallel(nn.MSECriterion()) end,
         'DataParallel: wants an nn.Module as argument 1, got nn.MSECriterion')
      assert.error_matches(function() nn.DataParallel(nn.Identity(), {device_ids = {1}}) end,
         'no option device_ids, wanted devices, dim, ')
      assert.error_matches(function() nn.DataParallel(nn.Identity(), {devices = {1, 1}}) end,
         'device 1 twice')
      assert.error_matches(function() nn.DataParallel(nn.Identity(), {devices = {}}) end,
         'devices wants a list of devices')
      assert.error_matches(function() nn.DataParallel(nn.Identity(), {1, 2}) end, 'no option 1')
   end)
end)
