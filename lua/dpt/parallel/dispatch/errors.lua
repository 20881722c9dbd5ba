--- dpt.parallel.dispatch.errors: joins the errors of replicas into one message.
--
-- Invariant: a message has one traceback, of the place where the error was raised, and names every
-- replica that failed, with its device. A single error that is not a string is raised unchanged.
local type = require('dpt.ffi').type

local errors = {}

--- Handler for xpcall: adds a traceback if there is none yet.
function errors.handler(message)
   if type(message) ~= 'string' or message:find('\nstack traceback:', 1, true) then
      return message
   end
   local text = debug.traceback(message, 2) -- no tail call: it would hide the frame of the error
   return text
end

--- Returns a message that names the replica and its device.
-- @param name class name of the owner
function errors.inReplica(message, i, devices, name)
   if type(message) ~= 'string' then return message end
   return ('In replica %d of %d on device %d of %s:\n%s'):format(i, #devices, devices[i], name,
      message)
end

--- Raises the errors of the list: a single one unchanged, several as one string.
function errors.raise(list)
   if #list == 1 then error(list[1], 0) end
   local texts = {}
   for i, message in ipairs(list) do texts[i] = tostring(message) end
   error(table.concat(texts, '\n\n'), 0)
end

return errors
