--- bench ranks: allReduce's latency and bandwidth, and what they predict for more ranks
--
-- Two ranks measure allReduce of 4 KB to 64 MB; latency and seconds per byte are fitted to minimize
-- the relative errors. A ring takes 2 (n - 1) latencies and sends 2 (n - 1) / n of the bytes over
-- each link, a tree takes 2 log2 n latencies and sends twice the bytes; the library chooses the
-- faster. A step takes one rank's compute time plus the communication that the backward pass does
-- not hide: at best the last bucket's (an eighth), at worst all. To check the model, 2, 4 and 8
-- ranks train on a link of DPT_LINK (default 100MB/s) whose time is spent asleep: the ranks share
-- this machine's cores, so the compute time of one of n ranks is measured with n ranks in noSync,
-- which sends nothing. Last, two ranks on a link of 1 GB/s measure how much of the communication
-- the backward pass hides.
package.path = arg[0]:gsub('[^/]*$', '?.lua;') .. package.path
local frame, hidden = require 'frame', require 'hidden'
local here = arg[0]:match '^(.*/)' or './'
local NETWORKS, HIDING = {'VGG-like', 'LSTM'}, {'convolutional', 'VGG-like'}
local ROUNDS, STEPS = 9, 41

-- ---- a rank ----

-- Prints the seconds of a step without communication, with it during the backward pass and after
-- it; the bytes of gradients.
local function steps(name)
   local net, input = require 'networks'[name]()
   net, input = nn.DistributedDataParallel(net:cuda()), input:cuda()
   local gradOutput = net:forward(input):clone():fill(1)
   local _, gradients = net:getParameters()
   local none, beside, behind = frame.alternate(STEPS, hidden.ways(net, input, gradOutput))
   return none, beside, behind, gradients:nElement() * gradients:elementSize()
end

local function rank(what, ...)
   local distributed = require 'dpt.distributed'
   torch.setdefaulttensortype 'torch.FloatTensor'
   local function report(...)
      if distributed.rank() == 0 then print(...) end
   end
   if what == 'steps' then
      for _, name in ipairs{...} do report(steps(name)) end
      return
   end
   for kilobytes = 2, 16 do
      local t = torch.FloatTensor(2 ^ kilobytes * 256):zero()
      local times = math.max(1, math.floor(2 ^ (12 - kilobytes)))
      report(t:nElement() * 4, frame.alternate(ROUNDS, function()
         for _ = 1, times do distributed.allReduce(t) end
      end) / times)
   end
end

-- ---- the model ----

-- Returns latency and seconds per byte of the line with the least relative errors.
local function fit(points)
   local a, b, c, d, e = 0, 0, 0, 0, 0
   for _, point in ipairs(points) do
      local x, y = unpack(point)
      local w = 1 / y ^ 2
      a, b, c, d, e = a + w, b + w * x, c + w * x * x, d + w * y, e + w * x * y
   end
   local slope = (a * e - b * d) / (a * c - b * b)
   return math.max(0, (d - slope * b) / a), slope
end

-- Returns the seconds of an allReduce of n ranks; two ranks send each byte once with any algorithm.
local function allReduce(n, bytes, latency, second)
   if n == 1 then return 0 end
   latency = latency / 2
   local ring = 2 * (n - 1) * latency + 2 * (n - 1) / n * bytes * second
   local tree = 2 * math.ceil(math.log(n) / math.log(2)) * latency + 2 * bytes * second
   return math.min(ring, tree)
end

-- ---- the parent ----

local function numbers(line)
   local list = {}
   for word in line:gmatch '%S+' do list[#list + 1] = tonumber(word) end
   return list
end

local function run(n, what, link)
   if type(what) == 'table' then what = 'steps ' .. table.concat(what, ' ') end
   local lines = frame.lines(('DPT_DEVICES=host:1 DPT_LINK=%s %s../dpt launch -n %d %s %s')
      :format(link or '', here, n, arg[0], what))
   for i, line in ipairs(lines) do lines[i] = numbers(line) end
   return lines
end

local function ms(seconds) return ('%.2f'):format(seconds * 1e3) end

local function main()
   local link = os.getenv 'DPT_LINK' or '100MB/s'
   local points = run(2, 'sizes')
   assert(#points == 15, 'the ranks failed')
   local latency, second = fit(points)
   frame.head('allReduce of two ranks and a model of more')
   print(('latency %.1f us, %.2f GB/s\n'):format(latency * 1e6, 1e-9 / second))
   local rows = {{'bytes', 'measured, ms', 'fitted, ms'}}
   for _, point in ipairs(points) do
      rows[#rows + 1] = {('%d'):format(point[1]), ('%.4f'):format(point[2] * 1e3),
         ('%.4f'):format((latency + point[1] * second) * 1e3)}
   end
   frame.rows(rows)

   local slow = 1 / (tonumber(link:match '^[%d.]+') * ({K = 1e3, M = 1e6, G = 1e9, B = 1})[
      link:match '^[%d.]+(.)'])
   local results, one = {}, run(1, NETWORKS)
   rows = {{'on a link of ' .. link, 'ranks', 'computing, ms', 'predicted, ms', 'measured, ms'}}
   for _, n in ipairs{2, 4, 8} do
      for i, step in ipairs(run(n, NETWORKS, link)) do
         local none, all, _, bytes = unpack(step)
         local wire = allReduce(n, bytes, latency, slow)
         local least = math.max(none, wire) + math.min(none, wire) / 8
         rows[#rows + 1] = {NETWORKS[i], n, ms(none), ms(least) .. ' to ' .. ms(none + wire),
            ms(all)}
         results[#results + 1] = {('%s, %d ranks'):format(NETWORKS[i], n), ms(all) .. ' ms',
            ('%s to %s, give or take a fifth'):format(ms(least), ms(none + wire)),
            all > 0.8 * least and all < 1.2 * (none + wire)}
      end
   end
   frame.rows(rows)

   rows = {{'predicted, ms a step', 'ranks', 'computing', 'allReduce', 'all hidden but a bucket',
      'nothing hidden'}}
   for i, step in ipairs(one) do
      local none, _, _, bytes = unpack(step)
      for power = 3, 12 do
         local n = 2 ^ power
         local wire = allReduce(n, bytes, latency, second)
         rows[#rows + 1] = {NETWORKS[i], n, ms(none), ms(wire),
            ms(math.max(none, wire) + math.min(none, wire) / 8), ms(none + wire)}
      end
   end
   frame.rows(rows)
   for i, step in ipairs(run(2, HIDING, '1GB/s')) do
      local none, beside, behind = unpack(step)
      local share = hidden.share(none, beside, behind)
      results[#results + 1] = {HIDING[i] .. ', hidden at 1GB/s', ('%.2f'):format(share),
         'at least 0.8', share >= 0.8}
   end
   frame.finish(results)
end

if arg[1] then rank(unpack(arg)) else main() end
