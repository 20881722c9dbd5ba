--- dpt.profiler.json: reads and writes JSON for the profiler's files.
--
-- Invariant: the output is valid JSON for any bytes in a string (invalid UTF-8 is replaced);
-- numbers that JSON cannot represent are null; a table is a list if it has t[1] or is empty.
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local json = {}

local escapes = {['"'] = '\\"', ['\\'] = '\\\\', ['\n'] = '\\n', ['\t'] = '\\t', ['\r'] = '\\r'}

local function text(value)
   value = value:gsub('[%c"\\]', function(c)
      return escapes[c] or ('\\u%04x'):format(c:byte())
   end)
   -- bytes that remain after removing well-formed sequences are invalid UTF-8
   local rest = value:gsub('[%z\1-\127]', ''):gsub('[\194-\223][\128-\191]', '')
      :gsub('[\224-\239][\128-\191][\128-\191]', '')
      :gsub('[\240-\244][\128-\191][\128-\191][\128-\191]', '')
   if rest ~= '' then value = value:gsub('[\128-\255]', '?') end
   return '"' .. value .. '"'
end

local function number(value)
   if value ~= value or value == math.huge or value == -math.huge then return 'null' end
   return (value % 1 == 0 and '%.0f' or '%.3f'):format(value)
end

--- Encodes a value as JSON, with keys sorted.
function json.encode(value)
   local kind = type(value)
   if kind == 'string' then return text(value) end
   if kind == 'number' then return number(value) end
   if kind ~= 'table' then return kind == 'boolean' and tostring(value) or 'null' end
   local parts = {}
   if value[1] ~= nil or next(value) == nil then
      for i, element in ipairs(value) do parts[i] = json.encode(element) end
      return '[' .. table.concat(parts, ',') .. ']'
   end
   local keys = {}
   for key in pairs(value) do keys[#keys + 1] = key end
   table.sort(keys)
   for i, key in ipairs(keys) do parts[i] = text(key) .. ':' .. json.encode(value[key]) end
   return '{' .. table.concat(parts, ',') .. '}'
end

local function utf8(code)
   if code < 0x80 then return string.char(code) end
   if code < 0x800 then return string.char(0xc0 + math.floor(code / 64), 0x80 + code % 64) end
   return string.char(0xe0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64,
      0x80 + code % 64)
end

local plain = {b = '\b', f = '\f', n = '\n', r = '\r', t = '\t'}

local function readText(source, at)
   local parts = {}
   while true do
      local stop = source:find('["\\]', at)
      if not stop then return nil end
      parts[#parts + 1] = source:sub(at, stop - 1)
      if source:sub(stop, stop) == '"' then return table.concat(parts), stop + 1 end
      local letter = source:sub(stop + 1, stop + 1)
      local code = letter == 'u' and source:match('^%x%x%x%x', stop + 2)
      parts[#parts + 1] = code and utf8(tonumber(code, 16)) or plain[letter] or letter
      at = stop + (code and 6 or 2)
   end
end

local words = {['true'] = true, ['false'] = false}
local read

-- Reads a list or an object whose first character was read.
local function readMany(source, at, isObject)
   local close, result = isObject and '}' or ']', {}
   at = source:match('^%s*()', at)
   if source:sub(at, at) == close then return result, at + 1 end
   while true do
      local key = #result + 1
      if isObject then
         local quote = source:match('^%s*"()', at)
         if not quote then return nil end
         key, at = readText(source, quote)
         at = at and source:match('^%s*:()', at)
         if not at then return nil end
      end
      result[key], at = read(source, at)
      if not at then return nil end
      local mark, after = source:match('^%s*([,%]}])()', at)
      if mark == close then return result, after end
      if mark ~= ',' then return nil end
      at = after
   end
end

function read(source, at)
   at = source:match('^%s*()', at)
   local first = source:sub(at, at)
   if first == '"' then return readText(source, at + 1) end
   if first == '{' or first == '[' then return readMany(source, at + 1, first == '{') end
   local digits, after = source:match('^(-?%d[%d.eE+-]*)()', at)
   if digits then return tonumber(digits), after end
   local word, behind = source:match('^(%l+)()', at)
   if word == 'null' then return nil, behind end
   if word == 'true' or word == 'false' then return words[word], behind end
end

--- Decodes a JSON text; null becomes nil. @param name of its file, for the error message
function json.decode(source, name)
   local value, at = read(source, 1)
   if not at or source:find('%S', at) then
      fail('%s: wanted JSON, got a syntax error at byte %d of %d', name, at or 0, #source)
   end
   return value
end

return json
