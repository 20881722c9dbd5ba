--- dpt.threads.thread: threads.Thread: a thread that runs a Lua program in its own Lua state.
--
-- Invariant: the thread has ended when free returns, and free is called at the latest when the
-- object is collected or this Lua state ends. An error is written to stderr by the thread.
local dptffi = require 'dpt.ffi'
local Pool = require 'dpt.threads.pool'
local ffi, fail, type = dptffi.ffi, dptffi.fail, dptffi.type

local Thread = {}
Thread.__index = Thread

-- Runs in the thread.
local function run(code)
   local program, why = loadstring(code)
   local ok = program ~= nil
   if ok then ok, why = xpcall(program, debug.traceback) end
   if not ok then io.stderr:write('threads.Thread: ', tostring(why), '\n') end
end

--- Returns a number that is unique in the process while the thread exists.
-- @function threads.Thread:id
-- @as shared
-- @return a number
-- @usage local thread = require('threads').Thread ''
--    local id = thread:id()
--    thread:free()
--    return type(id) --> number
function Thread:id()
   local pool = self.pool or fail 'threads.Thread: the thread was freed'
   return tonumber(ffi.cast('intptr_t', pool.workers_))
end

function Thread:__tostring()
   return self.pool and ('threads.Thread <%x>'):format(self:id()) or 'threads.Thread: freed'
end

--- Waits until the thread has ended. Later calls do nothing.
-- @function threads.Thread:free
-- @as shared
-- @return nothing
-- @usage local thread = require('threads').Thread ''
--    thread:free()
--    return tostring(thread) --> threads.Thread: freed
function Thread:free()
   if not self.pool then return end
   self.finish()
   self.pool = nil
end

--- Starts a thread that runs a Lua program, given as a string. The program calls `require
-- 'threads'` itself, and finds objects shared with this state by their numbers: threads.Mutex(id).
-- @function threads.Thread
-- @as shared
-- @param code string: the program
-- @return the thread
-- @usage local n = require('threads').AtomicCounter()
--    local thread = require('threads').Thread("require('threads').AtomicCounter(" ..
--       n:id() .. "):inc()")
--    thread:free()
--    return n:get() --> 1
return function(code)
   if type(code) ~= 'string' then
      fail('threads.Thread: got a %s, wanted the text of a program', type(code))
   end
   local pool = Pool.new(1)
   local job = pool:send(1, run, code)
   local function finish()
      if not job then return end
      pool:receive(job)
      pool:close()
      job = nil
   end
   local collected = newproxy(true)
   getmetatable(collected).__gc = finish
   return setmetatable({pool = pool, finish = finish, collected = collected}, Thread)
end
