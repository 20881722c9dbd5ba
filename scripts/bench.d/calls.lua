--- bench calls: CUDA calls of a training step, as counted by the emulation
--
-- Invariant: counts are means over the steps after the first ones, which measure, tune and
-- allocate. Fractions depend on timing: a stream does not wait for work known to be complete.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, networks = require 'frame', require 'networks'
local dpt = require 'dpt'
local ffi, C = require('dpt.ffi').ffi, require('dpt.ffi').C
ffi.cdef 'long long emulated_launches(void), emulated_calls(const char *);'

dpt.setDevices 'emulated:4'
torch.setdefaulttensortype 'torch.FloatTensor'
cutorch.getDeviceCount()
local emulation = ffi.load(io.open '/proc/self/maps':read '*a':match '/%S*libdpt_emulated%S*')
local WARM = 2

local function calls(...)
   local sum = 0
   for _, name in ipairs{...} do sum = sum + tonumber(emulation.emulated_calls(name)) end
   return sum
end

local titles = {'launches', 'copies', 'events', 'waits of streams', 'looks of the host',
   'waits of the host'}
local counters = {
   function() return tonumber(emulation.emulated_launches()) end,
   function() return calls('cudaMemcpyAsync', 'cudaMemsetAsync') end,
   function() return calls 'cudaEventRecord' end,
   function() return calls 'cudaStreamWaitEvent' end,
   function() return calls('cudaEventQuery', 'cudaEventSynchronize') end,
   function() return tonumber(C.dpt_waits()) end,
}

-- Each network and its input (rows come first), and the number of steps counted.
local cases = {
   {'tiny MLP', 10, networks['tiny MLP']},
   {'LSTM', 10, function()
      local net, input = networks['LSTM']()
      net:insert(nn.Transpose{1, 2}, 1)
      return net, input:transpose(1, 2):contiguous()
   end},
   {'ResNet-20', 2, function() return networks['ResNet-20'](4) end},
}

--- Returns the count of each counter in a step on that many devices, as a list.
local function count(steps, make, devices)
   torch.manualSeed(1)
   local inner, input = make()
   local list = {}
   for i = 1, devices do list[i] = i end
   local net = nn.DataParallelTable(1, true):add(inner:cuda(), list)
   local step = networks.training(net, {learningRate = 0.01, momentum = 0.9})
   local target = torch.FloatTensor(input:size(1)):random(1, 10):cuda()
   input = input:cuda()
   local found = {}
   for i = 1, WARM + steps do
      step(input, target)
      if i == WARM then
         cutorch.synchronizeAll()
         for k, counter in ipairs(counters) do found[k] = -counter() end
      end
   end
   local waits = tonumber(C.dpt_waits())
   cutorch.synchronizeAll()
   local after = tonumber(C.dpt_waits()) - waits -- less the waits of this line
   for k, counter in ipairs(counters) do
      found[k] = (found[k] + counter() - (k == #counters and after or 0)) / steps
   end
   return found
end

local rows, most = {{'', 'devices'}}, 0
for k, title in ipairs(titles) do rows[1][2 + k] = title end
for _, case in ipairs(cases) do
   local one
   for _, devices in ipairs{1, 2, 4} do
      local found, row = count(case[2], case[3], devices), {case[1], ('%d'):format(devices)}
      for k, value in ipairs(found) do row[2 + k] = ('%g'):format(value) end
      rows[#rows + 1] = row
      one = one or found[1]
      most = math.max(most, found[1] / one)
   end
end
frame.head 'a step of SGD, emulated devices'
frame.rows(rows)
frame.finish{{'calls', ('4 devices launch %.1f times as much as one'):format(most),
   'at most 4 times', most <= 4}}
