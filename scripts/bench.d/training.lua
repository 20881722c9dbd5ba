--- bench training: steps of nn.DistributedDataParallel on two ranks against PyTorch's on gloo
--
-- Runs itself as two ranks, of one core each, between two runs of training_peer.py, which has two
-- processes of one thread. DPT_PEER_PYTHON names a Python with PyTorch. Before that, two ranks
-- train a network with 34 MB of gradients as is, and two in nn.DistributedDataParallel: this
-- measures the wrapper's memory beyond parameters, gradients and the layers' buffers.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame = require 'frame'
local networks = require 'networks'
local here = arg[0]:match '^(.*/)' or './'
-- name, steps per round, wanted ratio to the peer's speed
local CASES = {{'tiny MLP', 100, 10}, {'VGG-like', 3, 1.3}, {'LSTM', 3, 1.3}}
local ROUNDS = 7
local MOST = 512 -- device bytes that the wrapper may allocate

-- Prints the peak of device bytes in three steps, bytes of gradients, and the process's kB after
-- them.
local function memory(wrapped)
   local first = require('dpt.distributed').rank() == 0 -- both include connecting
   torch.setdefaulttensortype 'torch.FloatTensor'
   local net, input = networks.convolutional(16)
   net, input = net:cuda(), input:cuda()
   local gradOutput = net:forward(input):clone():fill(1)
   if wrapped then net = nn.DistributedDataParallel(net) end
   local _, gradients = net:getParameters()
   local function step()
      net:zeroGradParameters()
      net:forward(input)
      net:backward(input, gradOutput)
      cutorch.synchronize()
   end
   for _ = 1, 2 do step() end -- in the first, the order of buckets is unknown
   collectgarbage()
   collectgarbage()
   cutorch.resetPeakMemory(1)
   for _ = 1, 3 do step() end
   local resident
   for line in io.lines '/proc/self/status' do
      resident = resident or line:match '^VmRSS:%s*(%d+)'
   end
   if first then
      print(cutorch.memoryStats(1).peak, gradients:nElement() * gradients:elementSize(), resident)
   end
end

local function rank()
   local distributed = require 'dpt.distributed'
   torch.setdefaulttensortype 'torch.FloatTensor'
   for _, case in ipairs(CASES) do
      local net, input = networks[case[1]]()
      net, input = nn.DistributedDataParallel(net:cuda()), input:cuda()
      local target = torch.CudaTensor(case[1] == 'LSTM' and 16 or input:size(1)):fill(3)
      local step = networks.training(net, {learningRate = 0.01})
      local own = frame.alternate(ROUNDS, function()
         for _ = 1, case[2] do step(input, target) end
         cutorch.synchronizeAll()
      end)
      if distributed.rank() == 0 then print(own / case[2]) end
   end
end

-- Returns the version, and seconds of a step for each network; nil if PyTorch is not installed.
local function gloo()
   local python = os.getenv 'DPT_PEER_PYTHON' or '/usr/bin/python3'
   local found = frame.lines(("'%s' %straining_peer.py 2>/dev/null"):format(python, here))
   return #found == #CASES + 1 and found or nil
end

local function launch(what)
   return frame.lines(("DPT_DEVICES=host:1 %s../dpt launch -n 2 %s %s"):format(here, arg[0], what))
end

local function main()
   local memories, kept = {{'memory', 'the device, bytes', 'gradients', 'the process, MB'}}, {}
   for i, what in ipairs{'bare', 'wrapped'} do
      local line = launch(what)[1] or ''
      local peak, gradients, most = line:match '(%d+)%s+(%d+)%s+(%d+)'
      assert(peak, 'the ranks failed')
      kept[i] = tonumber(peak)
      memories[i + 1] = {what, peak, gradients, ('%.1f'):format(most / 1024)}
   end
   local first = gloo()
   local found = launch 'rank'
   local second = first and gloo()
   assert(#found == #CASES, 'the ranks failed')
   frame.head('a step of two ranks of this machine', first and first[1]
      or 'there is no PyTorch: no ratios')
   local rows, results = {{'', 'dpt, ms', 'PyTorch, ms', 'times'}}, {}
   for i, case in ipairs(CASES) do
      local own = tonumber(found[i])
      local peer = first and math.min(tonumber(first[i + 1]), tonumber(second[i + 1]))
      rows[#rows + 1] = {case[1], ('%.3f'):format(own * 1e3),
         peer and ('%.3f'):format(peer * 1e3) or '-', peer and ('%.2f'):format(peer / own) or '-'}
      if peer then
         results[i] = {case[1], ('%.2f times'):format(peer / own), case[3], peer / own >= case[3]}
      end
   end
   frame.rows(rows)
   frame.rows(memories)
   if #results == 0 then results[1] = {'no peer', '-', 'PyTorch', false} end
   local more = kept[2] - kept[1]
   results[#results + 1] = {'memory beyond the bare network', more .. ' bytes', MOST, more <= MOST}
   frame.finish(results)
end

if arg[1] == 'rank' then rank() elseif arg[1] then memory(arg[1] == 'wrapped') else main() end
