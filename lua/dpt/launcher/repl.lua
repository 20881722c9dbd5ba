--- dpt.launcher.repl: the interactive prompt.
--
-- Invariant: a line that is an expression (or begins with `=`) prints its values as Torch7's `th`
-- did: tensors whole, tables with their fields. A line that is not yet complete asks for more. An
-- error prints a traceback and the prompt goes on.
local torch = require('dpt.class').torch

local repl = {}

local function show(value)
   return type(value) == 'string' and ('%q'):format(value) or tostring(value)
end

local function byName(a, b)
   if type(a) == type(b) and (type(a) == 'number' or type(a) == 'string') then return a < b end
   return type(a) < type(b)
end

--- The fields of a table, one a line; tables inside down to a depth of 3.
local function fields(value, depth, seen)
   if seen[value] or depth > 3 then return tostring(value) end
   seen[value] = true
   local names, lines, indent = {}, {}, ('  '):rep(depth)
   for name in pairs(value) do names[#names + 1] = name end
   table.sort(names, byName)
   for _, name in ipairs(names) do
      local field = value[name]
      local text
      if type(field) == 'table' and not (getmetatable(field) or {}).__tostring then
         text = fields(field, depth + 1, seen)
      elseif torch.isTensor(field) then
         local sizes = field:dim() > 0 and table.concat(field:size():totable(), 'x') or 'empty'
         text = torch.typename(field) .. ' - size: ' .. sizes
      else
         text = show(field)
      end
      lines[#lines + 1] = ('%s  %s : %s'):format(indent, tostring(name), text)
   end
   seen[value] = nil
   return ('{\n%s%s%s}'):format(table.concat(lines, '\n'), #lines > 0 and '\n' or '', indent)
end

--- What the prompt prints for a value.
function repl.format(value)
   if type(value) == 'table' and not (getmetatable(value) or {}).__tostring then
      return fields(value, 0, {})
   end
   return tostring(value)
end

--- A print that shows the fields of tables, as Torch7's `th` gave one to scripts.
-- @param print what prints the texts
function repl.printer(print)
   return function(...)
      local values = {...}
      for i = 1, select('#', ...) do
         if type(values[i]) == 'table' then values[i] = repl.format(values[i]) end
      end
      print(unpack(values, 1, select('#', ...)))
   end
end

--- Compiles what was typed: as an expression, else as statements.
-- @return function(pack), which hands an expression's values to pack; or nil and 'more' if the
-- text is not complete; or nil and the error
function repl.compile(text)
   local expression = text:match('^%s*=(.*)$') or text
   -- not a tail call, which would leave the expression's line out of tracebacks
   local chunk = loadstring('local pack = ... pack(' .. expression .. '\n)', '=stdin')
   if chunk then return chunk end
   local why
   chunk, why = loadstring(text, '=stdin')
   if chunk then return chunk end
   return nil, why:find("'<eof>'", 1, true) and 'more' or why
end

local function explain(why)
   return (debug.traceback(tostring(why), 2):gsub('\n[^\n]*dpt/launcher/repl.lua.*$', ''))
end

--- Runs what was typed and prints its values, or its error.
function repl.evaluate(chunk)
   local results = {n = 0}
   local ok, why = xpcall(function()
      chunk(function(...) results = {n = select('#', ...), ...} end)
   end, explain)
   if ok then
      ok, why = xpcall(function()
         for i = 1, results.n do print(repl.format(results[i])) end
      end, explain)
   end
   if not ok then
      io.stdout:flush()
      io.stderr:write(why, '\n')
   end
end

--- Reads and evaluates until the input ends. @param prompts whether to print prompts
function repl.run(prompts)
   if prompts then
      print(('dpt %s on %s; Ctrl-D leaves'):format(require('dpt')._VERSION, jit.version))
   end
   local text
   while true do
      if prompts then io.write(text and '..> ' or 'dpt> ') io.flush() end
      local line = io.read()
      if not line then break end
      text = text and text .. '\n' .. line or line
      if text:find('%S') then
         local chunk, why = repl.compile(text)
         if chunk then
            repl.evaluate(chunk)
         elseif why ~= 'more' then
            io.stderr:write(why, '\n')
         end
         if why ~= 'more' then text = nil end
      else
         text = nil
      end
   end
   if prompts then print() end
end

return repl
