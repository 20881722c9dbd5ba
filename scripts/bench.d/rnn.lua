--- bench rnn: an LSTM forward and backward against PyTorch on the CPU, on one thread and two
--
-- Invariant: each side runs in one process; they take turns, and one waits while the other runs. A
-- turn begins after the other side's threads have stopped spinning, with an untimed step that wakes
-- its own. A step is what users of either library run: module, output, gradients of input and
-- weights.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, peer = require 'frame', require 'peer'
local cudnn = require('dpt').cudnn
local C = require('dpt.ffi').C

local HIDDEN, STEPS, BATCH, ROUNDS = 256, 32, 32, 31
local sizes = ('%d %d %d'):format(HIDDEN, STEPS, BATCH)

--- Runs a step of PyTorch for each line read and prints its seconds; prints its version first.
local script = [[
import sys, time, torch
hidden, steps, batch, threads = map(int, sys.argv[1:])
torch.set_num_threads(threads)
net = torch.nn.LSTM(hidden, hidden, 1)
x = torch.randn(steps, batch, hidden, requires_grad=True)
g = torch.randn(steps, batch, hidden)
def step():
    net.zero_grad()
    x.grad = None
    net(x)[0].backward(g)
step()
print(torch.__version__, flush=True)
for line in sys.stdin:
    begin = time.perf_counter()
    step()
    print(time.perf_counter() - begin, flush=True)
]]

torch.setdefaulttensortype 'torch.FloatTensor'
local net = cudnn.LSTM(HIDDEN, HIDDEN, 1):float()
local x = torch.FloatTensor(STEPS, BATCH, HIDDEN):normal()
local g = torch.FloatTensor(STEPS, BATCH, HIDDEN):normal()
local function step()
   net:zeroGradParameters()
   net:forward(x)
   net:backward(x, g)
end

local interpreter, version = peer.python('rnn', 'at least 1.00 of PyTorch'), nil
local rows, results = {{'threads', 'dpt ms', 'PyTorch ms', 'ratio'}}, {}
for threads = 1, 2 do
   torch.setnumthreads(threads)
   local other
   other, version = peer.start(interpreter, script, sizes .. ' ' .. threads)
   local times = {{}, {}}
   for _ = 1, 3 do step() end
   local function turn(side)
      C.dpt_sleep(0.02)
      side()
      return side()
   end
   for round = 1, ROUNDS do
      times[1][round] = turn(function() return frame.time(step) end)
      times[2][round] = turn(other)
   end
   local ours, theirs = frame.median(times[1]), frame.median(times[2])
   local ratio = theirs / ours
   rows[#rows + 1] = {threads, ('%.1f'):format(ours * 1e3), ('%.1f'):format(theirs * 1e3),
      ('%.2f'):format(ratio)}
   results[#results + 1] = {('rnn, threads %d'):format(threads),
      ('%.2f times as fast as PyTorch'):format(ratio), 'at least 1.00', ratio >= 1}
end
frame.head(('LSTM, hidden %s, forward and backward; medians of %d'):format(
   ('%d, %d steps, batch %d'):format(HIDDEN, STEPS, BATCH), ROUNDS), 'PyTorch ' .. version)
frame.rows(rows)
frame.finish(results)
