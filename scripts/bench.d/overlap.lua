--- bench overlap: how much of the time between devices a backward pass hides, on a 1 GB/s link
--
-- The same training step three ways, in turn: without communication (noSync), with the reduction
-- beside the backward pass, and with the reduction at its end. The link's time is spent asleep and
-- takes no core from the layers. A profile of the second way must show the same: the part of the
-- time of reductions during which a device computes.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local dpt = require 'dpt'

dpt.setDevices 'host:2'
local link = os.getenv 'DPT_LINK' or '1GB/s'
require('dpt.ffi').lib.link_set(link)
torch.setdefaulttensortype 'torch.FloatTensor'
torch.manualSeed(1)

local batch = 128
local net = nn.Sequential()
net:add(nn.SpatialConvolution(3, 32, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
net:add(nn.SpatialConvolution(32, 64, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
net:add(nn.SpatialMaxPooling(2, 2))
net:add(nn.SpatialConvolution(64, 128, 3, 3, 1, 1, 1, 1)):add(nn.ReLU(true))
net:add(nn.SpatialMaxPooling(2, 2)):add(nn.View(128 * 8 * 8))
net:add(nn.Linear(128 * 8 * 8, 1024)):add(nn.ReLU(true)):add(nn.Linear(1024, 10))
local many = nn.DataParallelTable(1, true):add(net:cuda(), {1, 2})
local _, gradients = many:getParameters()
local input = torch.FloatTensor(batch, 3, 32, 32):uniform(-1, 1):cuda()
local gradOutput = torch.FloatTensor(batch, 10):uniform(-1, 1):cuda()

local function step(overlap)
   many.overlap = overlap
   many:zeroGradParameters()
   many:forward(input)
   many:backward(input, gradOutput)
   cutorch.synchronizeAll()
end

-- The step with the reduction beside the backward pass, and what its profile shows as hidden.
local shown = {}
local function profiled()
   dpt.profiler.start()
   step(true)
   dpt.profiler.stop()
   for _, phase in ipairs(dpt.profiler.summary().phases) do
      if phase.name == 'reduce' then table.insert(shown, phase.hidden / phase.elapsed) end
   end
end

local none, beside, after = frame.alternate(11,
   function() many:noSync(step, true) end,
   function() step(true) end,
   function() step(false) end,
   profiled)
many:zeroGradParameters()

local hidden, seen = (after - beside) / (after - none), frame.median(shown)
frame.head(('a step of a convolutional net, batch %d, two host devices, %.1f MB of gradients, %s;'
   .. ' median of 11 rounds'):format(batch, gradients:nElement() * 4 / 1e6, link))
local function row(name, seconds)
   return {name, ('%.1f'):format(seconds * 1e3), ('%.1f'):format((seconds - none) * 1e3)}
end
frame.rows{{'reduction', 'ms a step', 'ms of it exposed'}, row('none', none),
   row('beside the backward pass', beside), row('at its end', after)}
frame.finish{{'overlap', ('%.2f of the communication time hidden'):format(hidden), 'at least 0.8',
   hidden >= 0.8}, {'profile', ('shows %.2f hidden'):format(seen),
   ('%.2f, give or take 0.05'):format(hidden), math.abs(seen - hidden) <= 0.05}}
