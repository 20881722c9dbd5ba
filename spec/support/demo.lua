--- Creates a folder of made-up runs, as scripts/demo leaves it for scripts/demo.d/report.lua.
local demo = {}

local PRINTED = [[
30 parameters, 1500 images to learn from, 297 to test, on N devices
epoch  1: loss 2.5000, %d images/s

epochs   last loss   images/s    seconds   training accuracy
     2      0.5000 %10d       12.5              0.9100

test accuracy: %s
]]

local PROFILE = [[{"otherData": {"started": 0}, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "device 1"}},
{"ph": "X", "pid": 1, "tid": 0, "cat": "forward", "ts": 0, "dur": 900, "name": "linear",
 "args": {"kind": "kernel", "module": "1", "class": "nn.Linear"}}]}
]]

--- Returns the text of machine.N: the CPU time that the run used on some cores in 10 s.
-- @param cores as '0,1' @param own seconds of CPU time @param busy list of core -> seconds worked
function demo.machine(cores, own, busy)
   local function lines(worked)
      local text = {'cpu  9 9 9 9 9 9 9 9 9 9'}
      for core = 0, 2 do
         local ticks = 100 * (worked[core] or 0)
         text[#text + 1] = ('cpu%d %d 30 40 %d 60 70 80 90 0 0'):format(core, 1000 + ticks,
            2000 + (worked[core] and 1000 or 0) - ticks)
      end
      return table.concat(text, '\n') .. '\n'
   end
   return ('cores %s\n%sseconds %.3f 0.250 10.000\n%s'):format(cores, lines{}, own - 0.25,
      lines(busy))
end

--- Writes the files of runs on 1 and 2 devices.
-- @param folder that exists
-- @param changes name of a file -> text
function demo.write(folder, changes)
   local losses = 'loss\t\n 2.5000e+00\t\n %s\t\n'
   local files = {['run.1'] = PRINTED:format(100, 100, '0.9500'),
      ['run.2'] = PRINTED:format(150, 150, '0.9600'),
      ['losses.1'] = losses:format '5.0000e-01', ['losses.2'] = losses:format '5.0100e-01',
      ['machine.1'] = demo.machine('0', 9.5, {[0] = 9.8, 9.9}),
      ['machine.2'] = demo.machine('0,1', 12, {[0] = 10, 9}), ['profile.2.json'] = PROFILE}
   for name, text in pairs(changes or {}) do files[name] = text end
   for name, text in pairs(files) do
      local file = assert(io.open(folder .. '/' .. name, 'w'))
      file:write(text)
      file:close()
   end
end

--- Runs the report. @return its output, stdout and stderr; true if its status is 0
function demo.report(folder)
   local pipe = io.popen(("scripts/dpt scripts/demo.d/report.lua '%s' 1 2 2>&1; echo $?")
      :format(folder))
   local text, status = pipe:read('*a'):match '^(.-)(%d+)\n$'
   pipe:close()
   return text, status == '0'
end

return demo
