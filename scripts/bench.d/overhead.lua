--- bench overhead: the caller's time for one step of nn.DataParallelTable against a plain loop
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local dpt = require 'dpt'

dpt.setDevices 'host:4'
torch.setdefaulttensortype 'torch.FloatTensor'
local rows, width, layers, steps = 4, 16, 20, 20 -- per device: next to nothing to compute

local function network()
   torch.manualSeed(1)
   local net = nn.Sequential()
   for _ = 1, layers do net:add(nn.Linear(width, width)):add(nn.Tanh()) end
   return net:cuda()
end

-- Returns a function that queues steps on n devices by nn.DataParallelTable.
local function table(n, threads)
   local net = nn.DataParallelTable(1, true)
   for i = 1, n do net:add(i == 1 and network() or nn.Identity(), i) end
   if threads then net:threads() end
   local x = torch.randn(n * rows, width):cuda()
   local g = torch.randn(n * rows, width):cuda()
   local parameters, gradients = net:getParameters()
   return function()
      net:zeroGradParameters()
      net:forward(x)
      net:backward(x, g)
      parameters:add(-0.01, gradients)
   end
end

-- Returns the same steps as a plain loop, without checks, waits or numbers read back.
local function loop(n)
   local nets, p, g, inputs, gradOutputs, there = {}, {}, {}, {}, {}, {}
   local x = torch.randn(n * rows, width):cuda()
   local gx = torch.randn(n * rows, width):cuda()
   local outputs, gradInputs = {}, {}
   local output, gradInput = torch.CudaTensor(), torch.CudaTensor()
   for i = 1, n do
      cutorch.withDevice(i, function()
         nets[i] = network()
         p[i], g[i] = nets[i]:getParameters()
         inputs[i], gradOutputs[i] = torch.CudaTensor(rows, width), torch.CudaTensor(rows, width)
      end)
      there[i] = torch.CudaTensor(p[1]:nElement())
   end
   return function()
      for i = 1, n do
         cutorch.setDevice(i)
         g[i]:zero()
         inputs[i]:copy(x:narrow(1, (i - 1) * rows + 1, rows))
         outputs[i] = nets[i]:forward(inputs[i])
      end
      cutorch.setDevice(1)
      output:cat(outputs, 1)
      for i = 1, n do
         cutorch.setDevice(i)
         gradOutputs[i]:copy(gx:narrow(1, (i - 1) * rows + 1, rows))
         gradInputs[i] = nets[i]:backward(inputs[i], gradOutputs[i])
      end
      cutorch.setDevice(1)
      gradInput:cat(gradInputs, 1)
      for i = 2, n do
         there[i]:copy(g[i])
         g[1]:add(there[i])
      end
      p[1]:add(-0.01, g[1])
      for i = 2, n do p[i]:copy(p[1]) end
   end
end

-- Returns the caller's seconds per step, for each side, in turn, after LuaJIT has compiled the code
-- (which takes some hundreds of steps).
local warm, rounds = 20, 40
local function all(n)
   local times = {{}, {}, {}}
   local sides = {table(n), table(n, true), loop(n)}
   for round = 1 - warm, rounds do
      for i, side in ipairs(sides) do
         local spent = 0
         for _ = 1, steps do
            spent = spent + frame.time(side)
            cutorch.synchronizeAll()
         end
         if round > 0 then times[i][round] = spent / steps end
      end
   end
   return frame.median(times[1]), frame.median(times[2]), frame.median(times[3])
end

local cells, worst = {{'devices', 'table', 'with threads', 'loop', 'ratio'}}, 0
for _, n in ipairs{1, 2, 4} do
   local mine, threads, plain = all(n)
   worst = math.max(worst, mine / plain)
   cells[#cells + 1] = {n, ('%.0f us'):format(mine * 1e6), ('%.0f us'):format(threads * 1e6),
      ('%.0f us'):format(plain * 1e6), ('%.2f'):format(mine / plain)}
end
frame.head(('queueing one step of %d layers of %d values, %d rows a device, median of %d rounds')
   :format(2 * layers, width, rows, rounds))
frame.rows(cells)
frame.finish{{'overhead', ('%.2f times'):format(worst), 'at most 2 times', worst <= 2}}
