--- bench peers: operations, layers and training steps against PyTorch, on one thread and two
--
--    scripts/bench peers [--setup] [--avx2] [--eager] [NAME ...]
--                                             only rows whose names contain a NAME
--
-- Invariant: each side runs in one process, and they take steps in turn; a round's steps take some
-- 30 ms or are a single step; the medians over the rounds are used. A turn begins after the other
-- side's threads have stopped spinning, with an untimed step. Networks run a third time, compiled
-- by torch.compile, but not with --eager, --avx2 (the compiler uses the machine's full instruction
-- set) or without g++. DPT_LLMC=FOLDER names llm.c's source, which then takes the steps of GPT-2,
-- too. A row passes if its ratio reaches the target, or if dpt reaches 90 % of the
-- bound (peers/bound.lua). Without names the table replaces that of docs/performance.md, with the
-- versions and the machine. --setup installs PyTorch into build/peer first; --avx2 limits both
-- sides to AVX2 and replaces the table of docs/performance-avx2.md.
local here = arg[0]:gsub('[^/]*$', '')
package.path = here .. '?.lua;' .. package.path
local frame, peer, bound = require 'frame', require 'peer', require 'peers.bound'
local dpt, dptffi = require 'dpt', require 'dpt.ffi'

local ROUNDS, SECONDS = 7, 0.03
local root = here .. '../../'
local options, names = {['--setup'] = false, ['--avx2'] = false, ['--eager'] = false}, {}
for _, word in ipairs(arg) do
   if not word:find '^%-' then
      names[#names + 1] = word
   elseif options[word] == nil then
      error(('peers: unknown option %s, wanted --setup, --avx2 or --eager'):format(word), 0)
   else
      options[word] = true
   end
end

local environment = ''
if options['--avx2'] then
   if os.getenv 'DPT_ISA' ~= 'avx2' then
      local words = {}
      for _, word in ipairs(arg) do words[#words + 1] = "'" .. word .. "'" end
      local command = ("DPT_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 OPENBLAS_CORETYPE=Haswell "
         .. "'%sscripts/bench' peers %s"):format(root, table.concat(words, ' '))
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

local all, chosen = {}, {}
for _, group in ipairs{'tensors', 'layers', 'networks'} do
   for _, row in ipairs(require('peers.' .. group)) do all[#all + 1] = row end
end
for _, part in ipairs(#names > 0 and names or {''}) do
   local found
   for _, row in ipairs(all) do
      if row.name:find(part, 1, true) then found, chosen[row] = true, true end
   end
   if not found then
      local list = {}
      for i, row in ipairs(all) do list[i] = row.name end
      error(('peers: no row matches %q; rows: %s'):format(part, table.concat(list, ', ')), 0)
   end
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

-- Starts llm.c, whose speed is in the column `compiled`.
local llmc = os.getenv 'DPT_LLMC'
if llmc then
   local binary = os.tmpname()
   assert(frame.succeeds(("gcc -Ofast -march=native -fopenmp -DOMP -w -I'%s' -o '%s'"
      .. " '%speers/llmc.c' -lm"):format(llmc, binary, here)), 'llm.c could not be compiled')
   llmc = peer.start(binary, '')
   os.remove(binary)
end

local compiles = not options['--eager'] and not options['--avx2']
   and frame.succeeds 'command -v g++ > /dev/null'

-- Returns the number of steps in a round.
local function count(run)
   local n = 1
   while n < 1e6 and run(n) < SECONDS do n = n * 2 end
   return n
end

--- Runs all sides in turn.
-- @return a list of {median seconds of a step, spread of the rounds}: of dpt, of PyTorch, and of
-- the compiled peers
local function measure(row, threads)
   torch.setnumthreads(threads)
   local step = row.start()
   local sides = {function(n) return repeated(step, n) end}
   for _, name in ipairs{row.name, compiles and row.compiled or nil} do
      sides[#sides + 1] = function(n) return ask(('%s %d %s'):format(name, threads, n)) end
   end
   if llmc and row.name == 'gpt2' then
      sides[#sides + 1] = function(n) return llmc(('gpt2 %d %s'):format(threads, n)) end
   end
   local counts, times, results = {}, {}, {}
   for i, side in ipairs(sides) do
      side(3)
      counts[i], times[i] = count(side), {}
   end
   for round = 1, ROUNDS do
      for i, side in ipairs(sides) do
         dptffi.C.dpt_sleep(0.02)
         side(1)
         times[i][round] = side(counts[i]) / counts[i]
      end
   end
   ask(('%s %d -'):format(row.name, threads))
   for i, list in ipairs(times) do results[i] = {frame.median(list), spread(list)} end
   return results
end

local function duration(seconds)
   for _, unit in ipairs{{1e-6, 1e9, 'ns'}, {1e-3, 1e6, 'us'}, {math.huge, 1e3, 'ms'}} do
      if seconds < unit[1] then return ('%.3g %s'):format(seconds * unit[2], unit[3]) end
   end
end

local head = {'row', 'threads', 'PyTorch', 'compiled', 'dpt', 'ratio', 'wanted', 'bound', 'spread'}
local limits = bound.words()
local rows, short = {head}, 0
for _, row in ipairs(all) do
   for _, threads in ipairs(chosen[row] and row.threads or {}) do
      local times = measure(row, threads)
      local ours, theirs, compiled = times[1], times[2], {}
      for i = 3, #times do compiled[#compiled + 1] = duration(times[i][1]) end
      local ratio, least = theirs[1] / ours[1], bound.seconds(row, threads)
      local reached = least and least / ours[1] or 0
      if ratio < row.asked and reached < 0.9 then short = short + 1 end
      rows[#rows + 1] = {row.title, row.name:find '_2w' and '2 workers' or threads,
         duration(theirs[1]), table.concat(compiled, ', '), duration(ours[1]),
         ('%.2f'):format(ratio), ('%.1f'):format(row.asked),
         least and ('%s, %.0f %%'):format(duration(least), 100 * reached) or '',
         ('%.2f, %.2f'):format(theirs[2], ours[2])}
      io.stderr:write(table.concat(rows[#rows], '  '), '\n')
      collectgarbage()
   end
end

local command, page = 'scripts/bench peers', 'docs/performance.md'
if options['--avx2'] then command, page = command .. ' --avx2', 'docs/performance-avx2.md' end
local title = ('steps of PyTorch %s and of dpt in turn, medians of %d rounds%s'):format(version,
   ROUNDS, options['--avx2'] and '; both without AVX-512' or '')
frame.head(title, limits)
frame.rows(rows)
if #names == 0 then
   frame.section(root .. page, command,
      ('`%s`: %s. %s.'):format(command, title, limits), rows)
end
frame.finish{{'peers', ('%d of %d rows'):format(#rows - 1 - short, #rows - 1),
   'all as fast as wanted', short == 0}}
