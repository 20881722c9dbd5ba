--- bench overlap: the part of communication that a backward pass hides, on a 1 GB/s link
--
-- Times the same training step three ways, in turn: without communication (noSync), with the
-- reduction during the backward pass, and with the reduction after it. The link's time is spent
-- asleep, so it takes no core from the layers. Profiles of the three ways, read back from their
-- files, must agree with the measured times. The profiles also show the part of the reduction's
-- time in which a device computes, which is larger: sums and copies take cores and memory bandwidth
-- from the layers.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local hidden = require 'hidden'
local dpt = require 'dpt'
local json = require 'dpt.profiler.json'
local summarize = require 'dpt.profiler.summary'

dpt.setDevices 'host:2'
local link = os.getenv 'DPT_LINK' or '1GB/s'
require('dpt.ffi').lib.link_set(link)
torch.setdefaulttensortype 'torch.FloatTensor'
torch.manualSeed(1)

local batch = 128
local net, input = require 'networks'['convolutional'](batch)
local many = nn.DataParallelTable(1, true):add(net:cuda(), {1, 2})
local _, gradients = many:getParameters()
input = input:cuda()
local gradOutput = torch.FloatTensor(batch, 10):uniform(-1, 1):cuda()

-- Runs the same step with a profile; records the time from the first item to the last.
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

local ways = {hidden.ways(many, input, gradOutput)}
local sides = {unpack(ways)}
for i, f in ipairs(ways) do sides[3 + i] = function() profiled(i, f) end end
local none, beside, after = frame.alternate(11, unpack(sides))
many:zeroGradParameters()
os.remove(path)

local share = hidden.share(none, beside, after)
local seen = hidden.share(frame.median(shown[1]), frame.median(shown[2]), frame.median(shown[3]))
frame.head(('a step of a convolutional net, batch %d, two host devices, %.1f MB of gradients, %s;'
   .. ' median of 11 rounds'):format(batch, gradients:nElement() * 4 / 1e6, link))
local function row(name, seconds)
   return {name, ('%.1f'):format(seconds * 1e3), ('%.1f'):format((seconds - none) * 1e3)}
end
frame.rows{{'reduction', 'ms a step', 'ms of it exposed'}, row('none', none),
   row('beside the backward pass', beside), row('at its end', after)}
print(('the profile: a device computes in %.2f of the time of the reduction\n'):format(
   frame.median(computing)))
frame.finish{{'overlap', ('%.2f of the communication time hidden'):format(share), 'at least 0.8',
   share >= 0.8}, {'profile', ('shows %.2f hidden'):format(seen),
   ('%.2f, give or take 0.05'):format(share), math.abs(seen - share) <= 0.05}}
