--- dpt.parallel.dispatch.errors: what replicas raise, as one message.
--
-- Invariant: a message has the traceback of where it was raised, once, and says for every
-- replica that failed which one it is and on which device. A single error that is no
-- string is raised unchanged.
local type = require('dpt.ffi').type

local errors = {}

--- For xpcall: adds a traceback if there is none yet.
function errors.handler(message)
   if type(message) ~= 'string' or message:find('\nstack traceback:', 1, true) then
      return message
   end
   local text = debug.traceback(message, 2) -- no tail call: it would hide where the error was
   return text
end

--- A message that names the replica and its device.
-- @param name of the owner's class
function errors.inReplica(message, i, devices, name)
   if type(message) ~= 'string' then return message end
   return ('In replica %d of %d on device %d of %s:\n%s'):format(i, #devices, devices[i], name,
      message)
end

--- Raises what the list holds: one value as it is, several as one text.
function errors.raise(list)
   if #list == 1 then error(list[1], 0) end
   local texts = {}
   for i, message in ipairs(list) do texts[i] = tostring(message) end
   error(table.concat(texts, '\n\n'), 0)
end

return errors
