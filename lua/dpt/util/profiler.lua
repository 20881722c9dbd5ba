--- xlua.Profiler([mode [, verbose]]): named stopwatches of real and processor time.
--
-- Invariant: `lap` measures from the last `start` of that name; mode 'off' prints nothing.
local sys = require 'dpt.util.sys'

local Profiler = {}

--- Creates a set of named stopwatches of real and processor time.
-- @function xlua.Profiler
-- @as xluaprofiler
-- @param mode? string: 'off' prints nothing
-- @param verbose? boolean: true: start and lap print
-- @return an object with the methods below
-- @usage type(xlua.Profiler('off').start) --> function
local function new(mode, verbose)
   local self = {events = {}, list = {}, off = mode == 'off', verbose = verbose or false}
   for name, method in pairs(Profiler) do self[name] = method end
   return self
end

local function event(self, name)
   return self.events[name] or error('Profiler: ' .. tostring(name) .. ' was never started', 3)
end

--- Starts or restarts a stopwatch.
-- @function xlua.Profiler:start
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @param fps? string: 'fps' adds 1 / time to the report
-- @return nothing
-- @usage local p = xlua.Profiler()
--    p:start 'one'
--    return p.list[1].name --> one
function Profiler:start(name, fps)
   local e = self.events[name]
   if not e then
      e = {name = name}
      self.events[name] = e
      table.insert(self.list, e)
   end
   e.cpu, e.real, e.fps = os.clock(), sys.clock(), fps == 'fps' or e.fps
   if self.verbose then
      io.write('<', name, '>')
      io.flush()
   end
end

--- Sets the colour of a stopwatch's line in displayAll.
-- @function xlua.Profiler:setColor
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @param color string: a colour of the painter
-- @return nothing
-- @usage local p = xlua.Profiler()
--    p:start 'one'
--    p:setColor('one', 'red')
--    return p.events.one.color --> red
function Profiler:setColor(name, color) event(self, name).color = color end

--- Returns the seconds of processor time since the start.
-- @function xlua.Profiler:cpu
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @param divider? number: divides the result (1)
-- @return a number
-- @usage local p = xlua.Profiler()
--    p:start 'one'
--    torch.rand(10, 10):svd()
--    return p:cpu 'one' -- 0.001, say
function Profiler:cpu(name, divider)
   local e = event(self, name)
   e.cpud = (os.clock() - e.cpu) / (divider or 1)
   return e.cpud
end

--- Returns the seconds since the start.
-- @function xlua.Profiler:real
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @param divider? number: divides the result (1)
-- @return a number
-- @usage local p = xlua.Profiler()
--    p:start 'ten'
--    for _ = 1, 10 do torch.rand(10, 10):svd() end
--    return p:real('ten', 10) -- 0.0001, say
function Profiler:real(name, divider)
   local e = event(self, name)
   e.reald = (sys.clock() - e.real) / (divider or 1)
   return e.reald
end

--- Returns the real and the processor time since the start.
-- @function xlua.Profiler:lap
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @param divider? number: divides the results (1)
-- @return two numbers
-- @usage local p = xlua.Profiler()
--    p:start 'one'
--    return #{p:lap 'one'} --> 2
function Profiler:lap(name, divider)
   local real, cpu = self:real(name, divider), self:cpu(name, divider)
   if self.verbose then
      io.write('\r')
      self:print(name)
   end
   return real, cpu
end

--- Returns a line with a stopwatch's last times.
-- @function xlua.Profiler:format
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @return a string
-- @usage local p = xlua.Profiler()
--    p:start 'one'
--    p:lap 'one'
--    return (p:format('one'):gsub('%d[%d.e-]*', 'n')) --> $ real | cpu: n | n <one>
function Profiler:format(name)
   local e = event(self, name)
   return ('$ real | cpu: %f | %f <%s>'):format(e.reald or -1, e.cpud or -1, name)
end

--- Prints a stopwatch's last times.
-- @function xlua.Profiler:print
-- @as xluaprofiler
-- @param name string: of the stopwatch
-- @return nothing
-- @usage local p, before, out = xlua.Profiler(), print, nil
--    p:start 'one'
--    p:lap 'one'
--    print = function(line) out = line end
--    p:print 'one'
--    print = before
--    return (out:gsub('%d[%d.e-]*', 'n')) --> $ real | cpu: n | n <one>
function Profiler:print(name)
   if not self.off then print(self:format(name)) end
end

local function line(e)
   local text = ('$ real %f | cpu %f <%s>'):format(e.reald or -1, e.cpud or -1, e.name)
   return e.fps and ('%s = %f fps'):format(text, 1 / (e.reald or -1)) or text
end

--- Returns the last times of all stopwatches.
-- @function xlua.Profiler:formatAll
-- @as xluaprofiler
-- @return a string
-- @usage local p = xlua.Profiler()
--    p:start 'one'
--    p:lap 'one'
--    return (p:formatAll():gsub('%s+', ' '):gsub('%d[%d.e-]*', 'n'))
--    --> $ profiler report: $ real n | cpu n <one>
function Profiler:formatAll()
   local lines = {'$ profiler report:'}
   for _, e in ipairs(self.list) do lines[#lines + 1] = line(e) end
   return table.concat(lines, '\n')
end

--- Prints the last times of all stopwatches.
-- @function xlua.Profiler:printAll
-- @as xluaprofiler
-- @return nothing
-- @usage local p, before, out = xlua.Profiler(), print, ''
--    print = function(s) out = s end
--    p:printAll()
--    print = before
--    return out --> $ profiler report:
function Profiler:printAll()
   if not self.off then print(self:formatAll()) end
end

--- Draws the report with an object that has setfont, setcolor, moveto and show (a qt painter).
-- @function xlua.Profiler:displayAll
-- @as xluaprofiler
-- @param args table: painter or win = the object; x, y, font, zoom
-- @return nothing
-- @usage local p, n = xlua.Profiler(), 0
--    p:start 'one'
--    local function f() n = n + 1 end
--    p:displayAll{painter = {setcolor = f, moveto = f, show = f}}
--    return n --> 3
function Profiler:displayAll(args)
   local painter = args.painter or args.win
      or error("Profiler:displayAll: argument 'painter' is nil, wanted a painter", 2)
   local size = args.font or 24 * (args.zoom or 1)
   if self.off then return end
   for i, e in ipairs(self.list) do
      painter:setcolor(e.color or 'black')
      painter:moveto(args.x or 0, (args.y or 0) + (i - 1) * size * 1.5)
      painter:show(line(e))
   end
end

--- Tags shared by the reference entries of xlua.Profiler.
-- @pattern xluaprofiler
-- @within xlua
-- @follows Torch7's xlua.Profiler
-- @raise if the stopwatch was never started

return new
