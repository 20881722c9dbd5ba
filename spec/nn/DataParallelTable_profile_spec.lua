-- dpt.nn.DataParallelTable.profile: how long the parts of a step take.
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'

for form, dispatch in pairs(same.dispatchers) do
   describe('nn.DataParallelTable, ' .. form .. ',', function()
      local most = math.min(cutorch.getDeviceCount(), 4)

      before_each(function()
         torch.manualSeed(13)
         cutorch.setDevice(1)
      end)

      local function waits() return tonumber(dptffi.C.dpt_waits()) end

      local function step(net, criterion, input, target)
         net:zeroGradParameters()
         criterion:forward(net:forward(input), target)
         net:backward(input, criterion:backward(net.output, target))
         net:updateParameters(0.1)
      end

      local function make()
         local net = nn.Sequential():add(nn.SpatialConvolution(2, 4, 3, 3, 1, 1, 1, 1))
            :add(nn.SpatialBatchNormalization(4)):add(nn.ReLU(true))
            :add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(4 * 36, 5)):cuda()
         return dispatch(nn.DataParallelTable(1, true)):add(net, same.range(most))
      end

      it('A16: has the seconds of each part of a step in its field profile', function()
         local many, criterion = make(), nn.CrossEntropyCriterion():cuda()
         local input, target = torch.randn(12, 2, 6, 6):cuda(), torch.Tensor(12):random(5):cuda()
         step(many, criterion, input, target)
         many.profile = {}
         cutorch.synchronizeAll()
         local timer = torch.Timer()
         for _ = 1, 3 do step(many, criterion, input, target) end
         local all, names, sum = timer:time().real, {}, 0
         for name, seconds in pairs(many.profile) do
            assert.is_true(seconds > 0)
            names[#names + 1], sum = name, sum + seconds
         end
         table.sort(names)
         assert.same({'backward', 'broadcast', 'forward', 'gather', 'reduce', 'scatter'}, names)
         assert.is_true(sum <= all)
         many.profile = nil
         local before = waits()
         step(many, criterion, input, target)
         assert.equal(1, waits() - before) -- nothing is waited for any more but the loss
      end)

      it('returns what the profiled function returns, and raises what it raises', function()
         local timed, times = require 'dpt.nn.DataParallelTable.profile', {}
         assert.same({1, nil, 3}, {timed(times, 'part', function(...) return ... end, 1, nil, 3)})
         assert.is_true(times.part >= 0)
         assert.same({2}, {timed(nil, 'part', function() return 2 end)})
         assert.error_matches(function() timed(times, 'part', error, 'oops') end, 'oops')
      end)
   end)
end
