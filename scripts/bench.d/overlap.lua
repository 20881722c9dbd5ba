--- bench overlap: how much of the time between devices a backward pass hides, on a 1 GB/s link
--
-- The same training step three ways, in turn: without communication (noSync), with the reduction
-- beside the backward pass, and with the reduction at its end. The link's time is spent asleep and
-- takes no core from the layers. Profiles of the three, read back from their files, must show the
-- same by the times of what the streams ran. What they show beside it, the part of the reduction's
-- time in which a device computes, is more: sums and copies take cores and memory from the layers.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local dpt = require 'dpt'
local json = require 'dpt.profiler.json'
local summarize = require 'dpt.profiler.summary'

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

-- The same step with a profile; notes the time from its first item to its last.
local shown, computing = {{}, {}, {}}, {}
local path = os.tmpname()
local function profiled(way, f)
   dpt.profiler.start()
   f()
   dpt.profiler.stop(path)
   local file = assert(io.open(path))
   local summary = summarize(json.decode(file:read '*a', path).traceEvents)
   file:close()
   table.insert(shown[way], summary.elapsed / 1e3)
   for _, phase in ipairs(way == 2 and summary.phases or {}) do
      if phase.name == 'reduce' then table.insert(computing, phase.hidden / phase.elapsed) end
   end
end

local ways = {
   function() many:noSync(step, true) end,
   function() step(true) end,
   function() step(false) end,
}
local sides = {unpack(ways)}
for i, f in ipairs(ways) do sides[3 + i] = function() profiled(i, f) end end
local none, beside, after = frame.alternate(11, unpack(sides))
many:zeroGradParameters()
os.remove(path)

local function share(none_, beside_, after_) return (after_ - beside_) / (after_ - none_) end
local hidden = share(none, beside, after)
local seen = share(frame.median(shown[1]), frame.median(shown[2]), frame.median(shown[3]))
frame.head(('a step of a convolutional net, batch %d, two host devices, %.1f MB of gradients, %s;'
   .. ' median of 11 rounds'):format(batch, gradients:nElement() * 4 / 1e6, link))
local function row(name, seconds)
   return {name, ('%.1f'):format(seconds * 1e3), ('%.1f'):format((seconds - none) * 1e3)}
end
frame.rows{{'reduction', 'ms a step', 'ms of it exposed'}, row('none', none),
   row('beside the backward pass', beside), row('at its end', after)}
print(('the profile: a device computes in %.2f of the time of the reduction\n'):format(
   frame.median(computing)))
frame.finish{{'overlap', ('%.2f of the communication time hidden'):format(hidden), 'at least 0.8',
   hidden >= 0.8}, {'profile', ('shows %.2f hidden'):format(seen),
   ('%.2f, give or take 0.05'):format(hidden), math.abs(seen - hidden) <= 0.05}}
