--- Returns the fault of an error message, as one line without numbers that differ between runs, or
-- nil.
--
-- Invariant: an error must be a message for the script's author. A message by LuaJIT about a line
-- of dpt's own sources is a fault; so is a value that is not a string. In the modules below that is
-- a finding ('own: '). Elsewhere, where fields of objects are not checked at every call, it is only
-- counted ('remark: '). A message that begins with 'wrong' reports a wrong result.
local type = type -- Lua's own

--- Beginnings of LuaJIT's own messages.
local own = {'attempt to', 'bad argument', 'cannot convert', "'for' ", 'stack overflow',
   'missing declaration', 'has no member', 'table overflow', 'string length overflow',
   'invalid order function', 'unable to dump', 'table index is', 'invalid key', 'number expected',
   'too many', 'invalid value', 'wrong type', 'assertion failed'}

--- Modules whose functions check all their arguments.
local checked = {tensor = true, device = true, file = true, threads = true, class = true,
   parallel = true, comm = true, util = true}

--- @param message the error @param tampered true if fields of objects were overwritten before
return function(message, tampered)
   if type(message) ~= 'string' then return 'no message but a ' .. type(message) end
   local wrong = message:match '(wrong: [^\n]*)'
   if wrong then return wrong end
   for place, text in message:gmatch 'lua/dpt/([%w_/]+%.lua:%d+): ([^\n]*)' do
      for _, start in ipairs(own) do
         if text:find(start, 1, true) then
            local strict = checked[place:match '^%w+'] and not tampered
            return ('%s: %s: %s'):format(strict and 'own' or 'remark', place, text)
         end
      end
   end
   if message:find('stack overflow', 1, true) then return 'remark: stack overflow' end
end
