--- Runs fuzzed calls in child processes, and shortens their findings.
--
-- Invariant: a finding is an event that ends a process (a signal, a report of a sanitizer, a call
-- that hangs, memory beyond the limit), an abnormal exit of child.lua, or an error that
-- spec.support.fuzz.judge calls wrong. What judge only remarks is counted. Processes run in a
-- temporary folder. They inherit DPT_LIBRARY and the sanitizers' variables.
local ffi = require 'ffi'
local gpu = require 'spec.support.gpu'
local minimise = require 'spec.support.fuzz.minimise'
ffi.cdef 'unsigned alarm(unsigned seconds);'

local M = {}

-- Limit of a whole process: longer than all its calls together may take.
local SECONDS = 3000

local function read(name)
   local file = io.open(name, 'rb')
   local text = file and file:read '*a' or ''
   if file then file:close() end
   return text
end

local function output(command)
   local pipe = assert(io.popen(command))
   local text = pipe:read '*a'
   pipe:close()
   return text
end

local root = output 'pwd':match '[^\n]*'

-- Returns the environment of a process: a memory limit, by the sanitizer if there is one.
local function environment()
   local words = ("LUA_PATH='%s/?.lua;%s/lua/?.lua;%s/lua/?/init.lua;%s' OMP_NUM_THREADS=1")
      :format(root, root, root, os.getenv 'LUA_PATH' or ';')
   if not os.getenv 'DPT_DEVICES' then words = words .. ' DPT_DEVICES=host:4' end
   local options = os.getenv 'ASAN_OPTIONS'
   -- CUDA reserves addresses for all of a GPU's memory: its process has a limit of data instead
   local limit = gpu.isHere and 'ulimit -d 8000000; ' or 'ulimit -v 2000000; '
   if not options then return limit .. words end
   return ("%s ASAN_OPTIONS='%s:max_allocation_size_mb=64'"):format(words, options)
end

local function command(folder, words)
   local line = 'cd %s; %s timeout -k 5 %d luajit %s/spec/support/fuzz/child.lua %s >out 2>err'
      .. ' </dev/null; printf $?'
   return line:format(folder, environment(), SECONDS, root, words)
end

-- Returns a sanitizer's summary in one line, without numbers that differ between runs.
local function summary(text)
   local line = text:match 'SUMMARY: ([^\n]*)' or text:match '([^\n]*runtime error:[^\n]*)'
   return line and line:gsub('0x%x+', '0x'):gsub(root .. '/', ''):gsub('%(BuildId[^)]*%)', '')
end

--- Returns the event that ended a process, or nil if it ended normally.
local function ended(status, errors, out)
   local said = summary(errors)
   if status == 142 then return 'hang' end
   if status == 99 then return 'memory beyond the limit' end
   if status == 124 or status == 137 then return 'hang of the whole process' end
   if said then return 'crash: ' .. said end
   if status > 128 then return 'crash: signal ' .. status - 128 end
   if status ~= 0 or not out:find 'done\t' then
      return ('the process ended with status %d: %s'):format(status, errors:sub(-300))
   end
end

--- Runs one process.
-- @param words arguments of child.lua after the log
-- @return a list of {kind, line}, the lines that ran, the number of calls and of successful ones
local function process(words)
   if ffi.C.alarm(0) > 0 then ffi.C.alarm(SECONDS + 600) end -- e.g. that of spec/support/helper.lua
   local folder = output 'mktemp -d':match '[^\n]*'
   local status = tonumber(output(command(folder, 'log ' .. words)))
   local out, errors, lines = read(folder .. '/out'), read(folder .. '/err'), {}
   local calls, succeeded = 0, 0
   for line, outcome in (read(folder .. '/log') .. '\n'):gmatch '([^\n]-)\t?([+-]?)\n' do
      if line ~= '' then
         lines[#lines + 1] = line
         if line ~= 'v = {}' and line ~= 'tidy()' then
            calls = calls + 1
            if outcome == '+' then succeeded = succeeded + 1 end
         end
      end
   end
   os.execute('rm -rf ' .. folder)
   local runs, remarks = out:match 'done\t%d+\t%d+\t(%d+)\t(%d+)'
   local findings = {runs = tonumber(runs) or 0, remarks = tonumber(remarks) or 0}
   for kind, line in out:gmatch 'finding\t([^\n\t]*)\t([^\n]*)\n' do
      findings[#findings + 1] = {kind = kind, line = line}
   end
   local kind = ended(status, errors, out)
   if kind then findings[#findings + 1] = {kind = kind, line = lines[#lines], fatal = true} end
   return findings, lines, calls, succeeded
end

-- Runs lines of a subject.
local function replay(subject, lines)
   local name = os.tmpname()
   local file = assert(io.open(name, 'w'))
   file:write(subject, '\n', table.concat(lines, '\n'), '\n')
   file:close()
   local findings = process('replay ' .. name)
   os.remove(name)
   return findings
end

-- Returns the first line of the episode that has the finding, and the line of the finding.
local function until_(lines, finding)
   local last = #lines
   if not finding.fatal then
      for i = #lines, 1, -1 do
         if lines[i] == finding.line then last = i break end
      end
   end
   local first = last
   while first > 1 and lines[first] ~= 'v = {}' do first = first - 1 end
   return first, last
end

--- Returns the shortest list of lines that still has the finding, as one line of Lua; nil if the
-- finding cannot be repeated.
function M.shortest(subject, lines, finding)
   local function has(list)
      for _, other in ipairs(replay(subject, list)) do
         if other.kind == finding.kind then return true end
      end
      return false
   end
   local first, last = until_(lines, finding)
   for _, from in ipairs{first, 1} do -- only the finding's episode, or all lines up to it
      local list = {unpack(lines, from, last)}
      if has(list) then return minimise.line(minimise.list(list, has)) end
   end
end

--- Runs calls of a subject from a seed on, in processes of `each` calls with consecutive seeds.
-- @param subject name of a module of spec.support.fuzz
-- @param count number of calls; nil for a subject with its own lines, and
-- @param every runs one of that many of its lines
-- @return {calls, succeeded, runs = tests that the subject counted, remarks = most of them in one
-- process, findings = list of {kind, line, seed, short = one line of Lua}}
function M.run(subject, seed, count, each, every)
   local result = {calls = 0, succeeded = 0, runs = 0, remarks = 0, findings = {}}
   local known = {}
   for first = 0, (count or 1) - 1, each or 1 do
      local words = ('%s %d %d %d'):format(subject, seed,
         count and math.min(each, count - first) or 1e9, every or 1)
      local findings, lines, calls, succeeded = process(words)
      result.calls, result.succeeded = result.calls + calls, result.succeeded + succeeded
      result.runs = result.runs + findings.runs
      result.remarks = math.max(result.remarks, findings.remarks)
      for _, finding in ipairs(findings) do
         if not known[finding.kind] then
            known[finding.kind] = true
            finding.seed = seed
            if #result.findings < 5 then finding.short = M.shortest(subject, lines, finding) end
            table.insert(result.findings, finding)
         end
      end
      seed = seed + 1
   end
   return result
end

--- Describes findings as text: '' if there are none, otherwise a paragraph for each.
function M.report(subject, findings)
   local texts = {}
   for i, finding in ipairs(findings) do
      texts[i] = ('%s (%s, seed %d)\n   %s\n'):format(finding.kind, subject, finding.seed,
         finding.short or finding.line .. ' -- alone it does nothing')
   end
   return table.concat(texts, '\n')
end

--- Raises if calls of a subject have findings. All are run with DPT_TORTURE=full, one of N with
-- DPT_FUZZ=N, otherwise so few that they only test the harness. DPT_SEED repeats a run.
-- @param count total number of calls; nil for a subject with its own lines
function M.check(subject, count)
   local seed = tonumber(os.getenv 'DPT_SEED') or os.time()
   local part = os.getenv 'DPT_TORTURE' == 'full' and 1 or tonumber(os.getenv 'DPT_FUZZ') or 1000
   local result = M.run(subject, seed, count and math.ceil(count / part), 5000, part)
   print(('%s_spec: DPT_SEED=%d: %d calls, %d succeeded, %d runs; messages of LuaJIT: %d')
      :format(subject, seed, result.calls, result.succeeded, result.runs, result.remarks))
   local report = M.report(subject, result.findings)
   if report ~= '' then error('\n' .. report, 0) end
end

return M
