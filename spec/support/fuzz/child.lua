--- Runs fuzzed calls: `luajit child.lua LOG SUBJECT SEED COUNT [EVERY]`, or `luajit child.lua LOG
-- replay FILE` for the lines of a file (the first one names the subject). spec.support.fuzz.run
-- starts it.
--
-- Invariant: a call is a line of Lua. It is written to LOG before it runs, and its outcome (+ or -)
-- after it when it has returned, so that LOG contains the line that ends this process. SIGALRM ends
-- a call that takes two minutes (DPT_FUZZ_SECONDS). A line sees the globals, `v`, which contains
-- values kept by earlier lines, and the functions that its subject offers. Every EPISODE lines `v`
-- is replaced, and the process is checked and reset.
--
-- A subject is a module {line = function(random, v) that creates one, or lines = a list of all
-- lines, of which a process runs every EVERYth from its seed on; offers = functions for lines;
-- begin = function(random) before an episode; runs = number of tests that the lines have run;
-- tampers = true if lines overwrite fields of objects}.
local ffi = require 'ffi'
ffi.cdef 'unsigned alarm(unsigned seconds);'
local EPISODE, LIMIT = 60, 4e9 -- lines, bytes of the process
local SECONDS = tonumber(os.getenv 'DPT_FUZZ_SECONDS' or 120) -- for a call

local logName, subjectName, seed, count, every = unpack(arg)
seed, count, every = tonumber(seed) or seed, tonumber(count), tonumber(every or 1)
local log = assert(io.open(logName, 'a'))
log:setvbuf 'no'

-- A storage over an address cannot be checked: the caller is trusted.
rawset(require('dpt.ffi').lib, 'storage_over', function() error 'left out' end)

local dpt = require 'dpt'
local torch, cutorch, type = dpt.torch, dpt.cutorch, require('dpt.ffi').type
local health = require 'spec.support.fuzz.health'
local judge = require 'spec.support.fuzz.judge'

local replayed
if subjectName == 'replay' then
   replayed = {}
   for line in io.lines(seed) do replayed[#replayed + 1] = line end
   subjectName = table.remove(replayed, 1)
end
local subject = require('spec.support.fuzz.' .. subjectName)
local globals = setmetatable({}, {__index = _G})
for name, value in pairs(subject.offers or {}) do globals[name] = value end
function globals.tidy() return health.tidy() end

local function resident()
   local file = io.open '/proc/self/statm'
   local pages = file:read '*a':match '^%d+ (%d+)'
   file:close()
   return tonumber(pages) * 4096
end

local succeeded, calls, remarks, outcomes = 0, 0, 0, {}

-- Kept values grow by later calls: removes large ones.
local function shrink(v)
   for k, value in pairs(v) do
      if type(value) == 'cdata' and (torch.isTensor(value) and value:nElement() > 4096
         or torch.isStorage(value) and #value > 4096) then
         v[k] = nil
      end
   end
end

local function perform(line)
   log:write(line, '\t')
   ffi.C.alarm(SECONDS)
   local chunk = assert(loadstring(line, '=call'))
   setfenv(chunk, globals)
   local ok, message = pcall(chunk)
   log:write(ok and '+\n' or '-\n')
   if line ~= 'tidy()' then
      calls = calls + 1
      if ok then succeeded = succeeded + 1 end
   end
   if not ok then
      local bad = judge(message, subject.tampers)
      if subject.lines and not bad then bad = 'wrong: ' .. message end
      if bad then
         if not outcomes[bad] then
            outcomes[bad] = true
            if bad:find '^remark' then
               remarks = remarks + 1
            else
               io.stdout:write('finding\t', bad, '\t', line, '\n')
               io.stdout:flush()
            end
         end
      end
   end
   shrink(globals.v)
   if calls % 16 == 0 and resident() > LIMIT then os.exit(99) end
end

globals.v = {}
if replayed then
   for _, line in ipairs(replayed) do
      if line == 'v = {}' then globals.v = {} end
      perform(line)
   end
else
   local random = require 'spec.support.fuzz.random'(seed)
   while calls < count do
      perform 'v = {}'
      calls, succeeded = calls - 1, succeeded - 1
      if subject.begin then subject.begin(random) end
      for _ = 1, math.min(EPISODE, count - calls) do
         local line
         if subject.lines then
            line = subject.lines[1 + seed % every + calls * every]
         else
            line = subject.line(random, globals.v)
         end
         if line then perform(line) else count = calls end
      end
      perform 'tidy()'
   end
end
ffi.C.alarm(SECONDS)
log:close()
io.stdout:write(('done\t%d\t%d\t%d\t%d\n'):format(calls, succeeded, subject.runs or 0, remarks))
io.stdout:flush()
if cutorch then pcall(cutorch.synchronizeAll) end
