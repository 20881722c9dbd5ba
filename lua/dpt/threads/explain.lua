--- dpt.threads.explain: names the value that could not be sent, and the path that leads to it.
local torch = require('dpt.class').torch
local named = require 'dpt.threads.named'
local type = require('dpt.ffi').type

--- Returns the path from `v`, called `name`, to the rejected value; nil if there is none.
local function find(v, rejected, name, visited)
   if rawequal(v, rejected) then return name end
   local kind = type(v)
   if kind ~= 'function' and kind ~= 'table' or visited[v] then return nil end
   visited[v] = true
   if named.find(v) then return nil end -- it was sent by name
   local where
   if kind == 'function' then
      local i, upvalue, value = 1, debug.getupvalue(v, 1)
      while upvalue and not where do
         where = find(value, rejected, ("upvalue '%s' of %s"):format(upvalue, name), visited)
         i = i + 1
         upvalue, value = debug.getupvalue(v, i)
      end
      return where
   end
   for k, value in next, v do
      where = find(k, rejected, 'a key of ' .. name, visited)
         or find(value, rejected, ("field '%s' of %s"):format(tostring(k), name), visited)
      if where then return where end
   end
end

--- Returns the error message for an error of dpt.threads.writer.
-- @param why {rejected = value}, or another error, which is returned unchanged
-- @param label function(i): returns the name of the i-th value to be sent
return function(why, label, ...)
   if type(why) ~= 'table' or why.rejected == nil then return why end
   local where = 'a value'
   for i = 1, select('#', ...) do
      local found = find((select(i, ...)), why.rejected, label(i), {})
      if found then
         where = found
         break
      end
   end
   return ('threads: %s is a %s%s, which cannot be sent to another thread'):format(where,
      type(why.rejected) == 'function' and 'C ' or '', torch.type(why.rejected))
end
