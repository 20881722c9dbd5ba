--- xlua.Profiler([mode [, verbose]]): named stop watches of real and processor time.
--
-- Invariant: `lap` measures from the last `start` of that name; mode 'off' prints nothing.
local sys = require 'dpt.util.sys'

local Profiler = {}

local function new(mode, verbose)
   local self = {events = {}, list = {}, off = mode == 'off', verbose = verbose or false}
   for name, method in pairs(Profiler) do self[name] = method end
   return self
end

local function event(self, name)
   return self.events[name] or error('Profiler: ' .. tostring(name) .. ' was never started', 3)
end

--- Starts a watch. @param fps 'fps': the report has 1 / time, too
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

function Profiler:setColor(name, color) event(self, name).color = color end

--- Seconds of processor time, and of real time, since the start. @param divider of the result
function Profiler:cpu(name, divider)
   local e = event(self, name)
   e.cpud = (os.clock() - e.cpu) / (divider or 1)
   return e.cpud
end

function Profiler:real(name, divider)
   local e = event(self, name)
   e.reald = (sys.clock() - e.real) / (divider or 1)
   return e.reald
end

--- @return real seconds, processor seconds
function Profiler:lap(name, divider)
   local real, cpu = self:real(name, divider), self:cpu(name, divider)
   if self.verbose then
      io.write('\r')
      self:print(name)
   end
   return real, cpu
end

function Profiler:format(name)
   local e = event(self, name)
   return ('$ real | cpu: %f | %f <%s>'):format(e.reald or -1, e.cpud or -1, name)
end

function Profiler:print(name)
   if not self.off then print(self:format(name)) end
end

local function line(e)
   local text = ('$ real %f | cpu %f <%s>'):format(e.reald or -1, e.cpud or -1, e.name)
   return e.fps and ('%s = %f fps'):format(text, 1 / (e.reald or -1)) or text
end

function Profiler:formatAll()
   local lines = {'$ profiler report:'}
   for _, e in ipairs(self.list) do lines[#lines + 1] = line(e) end
   return table.concat(lines, '\n')
end

function Profiler:printAll()
   if not self.off then print(self:formatAll()) end
end

--- Writes the report by an object with setfont, setcolor, moveto and show (a qt painter).
function Profiler:displayAll(args)
   local painter = args.painter or args.win or error('Profiler:displayAll: wants a painter', 2)
   local size = args.font or 24 * (args.zoom or 1)
   if self.off then return end
   for i, e in ipairs(self.list) do
      painter:setcolor(e.color or 'black')
      painter:moveto(args.x or 0, (args.y or 0) + (i - 1) * size * 1.5)
      painter:show(line(e))
   end
end

return new
