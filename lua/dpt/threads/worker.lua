--- dpt.threads.worker: the main loop of a worker's thread: takes jobs and answers them until its
-- pool ends it.
--
-- Invariant: every job is answered, whatever it does; an error is a message with the traceback of
-- this state. Before it sleeps, a worker releases the memory of finished jobs.
local dptffi = require 'dpt.ffi'
local core = require 'dpt.tensor.core'
local write = require 'dpt.threads.writer'
local read = require 'dpt.threads.reader'
local scope = require 'dpt.device.scope'
local C, lib = dptffi.C, dptffi.lib

--- Returns an error's text with its traceback. An undefined name is often a global of the caller's
-- state.
local function handler(message)
   message = tostring(message)
   local name = message:match "global '([^']*)' %(a nil value%)"
   if name then
      message = ("%s (globals are not carried to other threads: define '%s' in the pool's init"
         .. ' function, or pass it as an upvalue or argument)'):format(message, name)
   end
   if message:find('\nstack traceback:', 1, true) then return message end
   local text = debug.traceback(message, 2) -- no tail call: it would hide where the error was
   return text
end

local function call(values, count)
   scope.wrapMethods()
   return values[1](unpack(values, 2, count))
end

local function label(i) return 'result ' .. i - 1 end

--- Runs the main loop.
-- @param share true if tensors in answers are shared
return function(share)
   local function answer(...)
      local bytes, size, references, count, held = write(share, label, ...)
      lib.worker_answer(bytes, size, references, count)
      core.keepAlive(held)
   end

   local function respond(ok, ...)
      if ok then
         local sent, why = pcall(answer, true, ...)
         if not sent then answer(false, why) end
      else
         answer(false, (...))
      end
   end

   answer(true)
   local mail = C.dpt_worker_receive()
   while mail ~= nil do
      local ok, values, count = pcall(read, mail)
      C.dpt_mail_free(mail)
      if ok then
         respond(xpcall(call, handler, values, count))
      else
         answer(false, values)
      end
      core.collectIfDue()
      mail = C.dpt_worker_receive()
   end
end
