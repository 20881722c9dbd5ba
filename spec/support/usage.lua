-- Runs an example of the reference, and formats its result in one line.
local torch = require('dpt').torch
local type = require('dpt.ffi').type

local usage = {}

local function text(v, depth)
   if type(v) == 'number' then return ('%.4g'):format(v == 0 and 0 or v) end
   if type(v) == 'string' then return v end
   if torch.isStorage(v) then return table.concat(v:totable(), 'x') end
   if torch.isTensor(v) then
      local words = {}
      for _, number in ipairs(v:dim() > 0 and v:contiguous():view(-1):totable() or {}) do
         words[#words + 1] = text(number)
      end
      return '[' .. table.concat(words, ' ') .. ']'
   end
   if type(v) == 'table' and not torch.typename(v) and depth < 3 then
      local words, names = {}, {}
      for i = 1, #v do words[i] = text(v[i], depth + 1) end
      for name in pairs(v) do
         if type(name) == 'string' then names[#names + 1] = name end
      end
      table.sort(names)
      for _, name in ipairs(names) do
         words[#words + 1] = name .. '=' .. text(v[name], depth + 1)
      end
      return '{' .. table.concat(words, ' ') .. '}'
   end
   if type(v) == 'table' then return torch.typename(v) or 'table' end
   return type(v) == 'cdata' and torch.typename(v) or type(v) == 'function' and 'function'
      or tostring(v)
end

--- Returns the value of an expression in one line; '' for statements.
function usage.value(code)
   local chunk = loadstring('return ' .. code, '=example') or assert(loadstring(code, '=example'))
   local words = {}
   local function take(...)
      for i = 1, select('#', ...) do words[i] = text((select(i, ...)), 0) end
   end
   take(chunk())
   return table.concat(words, ', ')
end

--- Runs an example `code --> value`, or `code` alone. @return an error message, or nil
function usage.wrong(example)
   local code, wanted = example:match '^(.-)%s*%-%->%s*(.-)%s*$'
   local ok, got = pcall(usage.value, code or example)
   if not ok then return ('%s: %s'):format(example, got) end
   if wanted and got ~= wanted then return ('%s: got %s'):format(example, got) end
end

return usage
