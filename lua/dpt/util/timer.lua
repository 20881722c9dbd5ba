--- torch.Timer, torch.tic and torch.toc: elapsed time, on a monotonic clock.
local dptffi = require 'dpt.ffi'
local torch = require('dpt.class').torch
local C, ffi, type = dptffi.C, dptffi.ffi, dptffi.type

local Timer = torch.class('torch.Timer')
local user, system = ffi.new('double[1]'), ffi.new('double[1]')

local function now()
   C.dpt_cpu_time(user, system)
   return {real = C.dpt_clock(), user = user[0], sys = system[0]}
end

--- torch.Timer(): creates a running timer.
function Timer:__init() self:reset() end

function Timer:__tostring__()
   return ('torch.Timer [status: %s]'):format(self.stopped and 'stopped' or 'running')
end

--- Resets the time to zero; a stopped timer stays stopped.
-- @function torch.Timer:reset
-- @as timer
-- @return the timer
-- @usage torch.Timer():stop():reset():time().real --> 0
function Timer:reset()
   self.total = {real = 0, user = 0, sys = 0}
   if not self.stopped then self.start = now() end
   return self
end

--- Stops counting.
-- @function torch.Timer:stop
-- @as timer
-- @return the timer
-- @usage local t = torch.Timer():stop()
--    return t:time().real - t:time().real --> 0
function Timer:stop()
   if not self.stopped then
      self.total = self:time()
      self.stopped, self.start = true, nil
   end
   return self
end

--- Resumes counting.
-- @function torch.Timer:resume
-- @as timer
-- @return the timer
-- @usage local t = torch.Timer():stop()
--    sys.sleep(0.001) -- does not count
--    return t:resume():time().real -- 1e-06, say
function Timer:resume()
   if self.stopped then self.stopped, self.start = nil, now() end
   return self
end

--- Returns the seconds counted so far.
-- @function torch.Timer:time
-- @as timer
-- @return {real = , user = , sys = }: elapsed seconds, and processor seconds in the program and
--    in the system
-- @usage torch.Timer():time() -- {real = 1e-06, user = 0, sys = 0}, say
function Timer:time()
   local time, total = {}, self.total
   local moment = not self.stopped and now()
   for key, seconds in pairs(total) do
      time[key] = seconds + (moment and moment[key] - self.start[key] or 0)
   end
   return time
end

--- Returns the current time, for torch.toc. @return seconds
function torch.tic() return C.dpt_clock() end

--- Returns the seconds since the time that torch.tic returned.
function torch.toc(start)
   if type(start) ~= 'number' then
      dptffi.fail('torch.toc: got a %s, wanted the number that torch.tic returned',
         torch.type(start))
   end
   return C.dpt_clock() - start
end

--- Tags shared by the reference entries of timers.
-- @pattern timer
-- @within utilities
-- @follows Torch7's torch.Timer
-- @raise if an argument has the wrong type

return Timer
