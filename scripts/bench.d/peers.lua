--- bench peers: operations, layers and training steps against PyTorch, on one thread and two
--
--    scripts/bench peers [--setup] [--avx2] [NAME ...]    only rows whose names contain a NAME
--
-- Invariant: both sides run in one process each and take their steps in turn; a round's steps take
-- some 30 ms or one step; the medians of the rounds count. Without names the table is written to
-- docs/performance.md, with the versions and the machine. --setup installs PyTorch into build/peer
-- first; --avx2 lets both sides use no instructions beyond AVX2.
local here = arg[0]:gsub('[^/]*$', '')
package.path = here .. '?.lua;' .. package.path
local frame, peer = require 'frame', require 'peer'
local dpt = require 'dpt'

local ROUNDS, SECONDS = 7, 0.03
local root = here .. '../../'
local options, names = {}, {}
for _, word in ipairs(arg) do
   if word:find '^%-' then options[word] = true else names[#names + 1] = word end
end

local environment = ''
if options['--avx2'] then
   if os.getenv 'DPT_ISA' ~= 'avx2' then
      local words = {}
      for _, word in ipairs(arg) do words[#words + 1] = "'" .. word .. "'" end
      local command = ("DPT_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 '%sscripts/bench' peers %s"):format(
         root, table.concat(words, ' '))
      os.exit(frame.succeeds(command) and 0 or 1)
   end
   environment = 'ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 '
end

local python = root .. 'build/peer/bin/python'
if options['--setup'] and not frame.succeeds("test -x '" .. python .. "'") then
   assert(frame.succeeds(("python3 -m venv '%sbuild/peer' && '%s' -m pip -q install torch numpy")
      :format(root, python)), 'PyTorch could not be installed')
end
if not frame.succeeds("test -x '" .. python .. "'") then
   python = peer.python('peers', 'faster than PyTorch')
end

dpt.setDevices 'host:2'
torch.setdefaulttensortype 'torch.FloatTensor'

local function wanted(name)
   for _, part in ipairs(names) do
      if name:find(part, 1, true) then return true end
   end
   return #names == 0
end

local function spread(list)
   local sorted = {unpack(list)}
   table.sort(sorted)
   return sorted[#sorted] / sorted[1]
end

local function repeated(step, n)
   return frame.time(function() for _ = 1, n do step() end end)
end

local program = here .. 'peers/peer.py'
local ask, version = peer.start(environment .. python, assert(io.open(program)):read '*a', program)

--- Both sides in turn.
-- @return the median seconds of a step of each, and how far their rounds were apart
local function measure(row, threads)
   torch.setnumthreads(threads)
   local step = row.start()
   local function other(n) return ask(('%s %d %s'):format(row.name, threads, n)) end
   repeated(step, 3)
   other(3)
   local function count(run)
      local n = 1
      while n < 1e6 and run(n) < SECONDS do n = n * 2 end
      return n
   end
   local own, its = count(function(n) return repeated(step, n) end), count(other)
   local ours, theirs = {}, {}
   for round = 1, ROUNDS do
      ours[round], theirs[round] = repeated(step, own) / own, other(its) / its
   end
   other '-'
   return frame.median(ours), frame.median(theirs), spread(ours), spread(theirs)
end

local function duration(seconds)
   for _, unit in ipairs{{1e-6, 1e9, 'ns'}, {1e-3, 1e6, 'us'}, {math.huge, 1e3, 'ms'}} do
      if seconds < unit[1] then return ('%.3g %s'):format(seconds * unit[2], unit[3]) end
   end
end

local head = {'row', 'threads', 'PyTorch', 'dpt', 'ratio', 'wanted', 'spread'}
local rows, short = {head}, 0
for _, group in ipairs{'tensors', 'networks'} do
   for _, row in ipairs(require('peers.' .. group)) do
      for _, threads in ipairs(wanted(row.name) and row.threads or {}) do
         local ours, theirs, ourSpread, theirSpread = measure(row, threads)
         local ratio = theirs / ours
         if ratio < row.asked then short = short + 1 end
         rows[#rows + 1] = {row.title, row.name:find '_2w' and '2 workers' or threads,
            duration(theirs), duration(ours), ('%.2f'):format(ratio), ('%.1f'):format(row.asked),
            ('%.2f, %.2f'):format(theirSpread, ourSpread)}
         io.stderr:write(table.concat(rows[#rows], '  '), '\n')
         collectgarbage()
      end
   end
end

local title = ('steps of PyTorch %s and of dpt in turn, medians of %d rounds; ratio: above 1 dpt '
   .. 'is faster; spread: the slowest round by the fastest%s'):format(version, ROUNDS,
   options['--avx2'] and '; both without AVX-512' or '')
frame.head(title)
frame.rows(rows)
if #names == 0 and not options['--avx2'] then
   frame.page(root .. 'docs/performance.md', ([[# Performance

`scripts/bench peers` wrote this page: %s. The last column has PyTorch's spread, then dpt's.
A training step computes no gradient of its batch: PyTorch is not asked for it, and here, as in
Torch7, a script says `net:get(1).gradInput = nil`.
Rows below their wanted ratio are work to do.]]):format(title), rows)
end
frame.finish{{'peers', ('%d of %d rows'):format(#rows - 1 - short, #rows - 1),
   'all as fast as wanted', short == 0}}
