--- dpt.launcher.repl: the interactive prompt.
--
-- Invariant: a line that is an expression (or begins with `=`) prints its values as Torch7's `th`
-- did: tables with their fields, tensors in full unless they have more than 10,000 elements (a
-- script prints those, too). For an incomplete line the prompt asks for more. An error prints a
-- traceback and the prompt continues; so does Ctrl-C, which interrupts the running code. Input is
-- text: bytecode and key codes are never run. Input is not compiled to machine code, which would
-- not react to Ctrl-C; the functions that it calls are compiled. Code blocks of the documentation
-- work line by line: a `local` outlives its line.
local torch = require('dpt.class').torch
local core = require 'dpt.tensor.core'
local dptffi = require 'dpt.ffi'
local editor = require 'dpt.launcher.editor'
local sys = require 'dpt.util.sys'
local constructed = require('dpt.launcher.names').constructed

local repl = {}

local atPrompt = false -- true: tensors of many elements are summarized

local function byName(a, b)
   if type(a) == type(b) and (type(a) == 'number' or type(a) == 'string') then return a < b end
   return type(a) < type(b)
end

local function show(value)
   local name = constructed(value)
   return type(value) == 'string' and ('%q'):format(value) or name and 'class ' .. name
      or tostring(value)
end

--- Formats the fields of a table, one per line; nested tables down to a depth of 3.
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
         text = torch.typename(field):match 'torch%.(.*)' .. ' - size: ' .. sizes
      elseif torch.isStorage(field) then
         text = torch.typename(field):match 'torch%.(.*)' .. ' - size: ' .. field:size()
      else
         text = show(field)
      end
      lines[#lines + 1] = ('%s  %s : %s'):format(indent, tostring(name), text)
   end
   seen[value] = nil
   return ('{\n%s%s%s}'):format(table.concat(lines, '\n'), #lines > 0 and '\n' or '', indent)
end

--- Returns the text that the prompt prints for a value.
function repl.format(value)
   local name = constructed(value)
   if name then
      local known = atPrompt and require('dpt.launcher.help').has(name)
      return 'class ' .. name .. (known and '; ? ' .. name .. ' prints its reference' or '')
   end
   if type(value) == 'table' and not (getmetatable(value) or {}).__tostring then
      return fields(value, 0, {})
   end
   if atPrompt and (torch.isTensor(value) or torch.isStorage(value)) then
      return core.summary(value) or tostring(value)
   end
   return tostring(value)
end

--- Returns a print that shows the fields of tables, as Torch7's `th` provided to scripts.
-- @param print function that prints the texts
function repl.printer(print)
   return function(...)
      local values = {...}
      for i = 1, select('#', ...) do
         if type(values[i]) ~= 'string' then values[i] = repl.format(values[i]) end
      end
      print(unpack(values, 1, select('#', ...)))
   end
end

-- Removes a leading `local`, whose names would be lost at the line's end. Keeps it if Lua or dpt
-- uses one of the names: `local type = 1` must not replace `type` for them.
local function kept(text, own)
   local space, rest = text:match '^(%s*)local%s+(.*)$'
   local names = rest and (rest:match '^function%s+([%w_]+)' or rest:match '^([%w_,%s]+)=')
   for name in (names or ''):gmatch '[%w_]+' do names = names and not own[name] and names end
   return names and space .. rest or text
end

-- `require 'name'`, whose value is not printed.
local REQUIRE = [=[^%s*require%s*%(?%s*["'][^"']*["']%s*%)?%s*$]=]

--- Compiles input: as an expression, else as statements.
-- @param own optional, globals that a `local` may not change, by name; without it, `local` is kept
-- @return function(pack), which passes an expression's values to pack; or nil and 'more' if the
-- text is incomplete; or nil and the error
function repl.compile(text, own)
   if text:find '[%z\1-\8\14-\31]' then
      return nil, 'stdin: got bytecode, or the code of a key that the prompt does not support'
   end
   local expression = text:match('^%s*=(.*)$') or text
   -- not a tail call, which would hide the expression's line from tracebacks
   local chunk = not text:find(REQUIRE)
      and load('local pack = ... pack(' .. expression .. '\n)', '=stdin', 't')
   if chunk then return chunk end
   if own then text = kept(text, own) end
   local why
   chunk, why = load(text, '=stdin', 't')
   if chunk then return chunk end
   return nil, why:find("'<eof>'", 1, true) and 'more' or why
end

local typed -- source of the running input

local function explain(why)
   why = tostring(why)
   if why:find('(a nil value)', 1, true) then
      why = require('dpt.launcher.help').explain(why, typed)
   end
   return (debug.traceback(why, 2):gsub('\n[^\n]*dpt/launcher/repl.lua.*$', ''))
end

-- Returns the terminal's colours, by purpose; functions without effect if there are none.
local function colours(prompts)
   local term = os.getenv 'TERM'
   local plain = os.getenv 'NO_COLOR'
   local on = prompts and dptffi.C.dpt_terminal(1) > 0 and (not plain or plain == '') and term
      and term ~= 'dumb'
   local function colour(code)
      return on and function(text) return '\27[' .. code .. 'm' .. text .. '\27[0m' end
         or function(text) return text end
   end
   return {prompt = colour '1;34', wrong = colour '31', time = colour '2', on = on}
end

local function wrong(look, why)
   io.stdout:flush()
   io.stderr:write(look.wrong(why), '\n')
end

--- Runs compiled input and prints its values, or its error. @return false if Ctrl-C ended it
function repl.evaluate(chunk, look)
   look = look or colours(false)
   local results = {n = 0}
   local began = sys.clock()
   local ok, why = xpcall(function()
      chunk(function(...) results = {n = select('#', ...), ...} end)
   end, explain)
   local seconds = sys.clock() - began
   if ok then
      ok, why = xpcall(function()
         for i = 1, results.n do print(repl.format(results[i])) end
      end, explain)
   end
   if not ok then wrong(look, why) end
   if look.on then print(look.time(('[%.4fs]'):format(seconds))) end
   return ok or not why:find('interrupted!', 1, true)
end

-- Calls repl.evaluate so that Ctrl-C interrupts the chunk: its error may occur at any line up to
-- the end of this.
local function interruptible(chunk, look)
   jit.off(chunk, true)
   dptffi.C.dpt_interrupt_prompt(1)
   return repl.evaluate(chunk, look)
end

--- Compiles the text of `dpt -e`, which prints the values of an expression or runs statements.
-- @return a function, or nil and the error
function repl.command(text)
   local chunk = load('local pack = ... pack(' .. text .. '\n)', '=(command line)', 't')
   if not chunk then return load(text, '=(command line)', 't') end
   return function()
      chunk(function(...)
         for i = 1, select('#', ...) do print(repl.format((select(i, ...)))) end
      end)
   end
end

-- Returns a line's only word, such as `quit` or `quit()`, unless it is the name of a global.
local function lone(line)
   local word = line:match '^%s*(%a+)%s*$' or line:match '^%s*(%a+)%s*%(%s*%)%s*$'
   return word and rawget(_G, word) == nil and word
end

-- Handles lines that are not Lua: `? name` (`help`, `help name`) and `$ command`. @return true if
-- this was one
local function other(line)
   local mark, rest = line:match '^%s*([?$])%s*(.-)%s*$'
   if lone(line) == 'help' then
      mark, rest = '?', ''
   elseif not mark and rawget(_G, 'help') == nil then
      rest = line:match '^%s*help%s+([%w_.:]+)%s*$'
      mark = rest and '?'
   end
   if mark == '?' then
      print((require('dpt.launcher.help').text(rest)))
   elseif mark == '$' then
      io.stdout:flush()
      os.execute(rest)
   end
   return mark ~= nil
end

--- Reads and evaluates until the input ends. @param prompts true to print prompts
function repl.run(prompts)
   local look = colours(prompts)
   local edits = prompts and editor.open()
   local function ask(prompt)
      -- text between \1 and \1 has zero width
      if edits then return editor.read((look.prompt(prompt):gsub('\27%[[%d;]*m', '\1%0\1'))) end
      if prompts then io.write(prompt) io.flush() end
      return io.read()
   end
   if prompts then
      print(('dpt %s on %s; ? is help, Ctrl-D leaves'):format(require('dpt')._VERSION, jit.version))
   end
   local text, interrupted, own = nil, -math.huge, {}
   atPrompt = true
   for name in pairs(_G) do own[name] = true end
   while true do
      local line = ask(text and '..> ' or 'dpt> ')
      if not line then break end
      local word = not text and lone(line)
      if word == 'quit' or word == 'exit' then return end
      if line == editor.INTERRUPT then
         if sys.clock() - interrupted < 2 then os.exit(130, true) end
         text, line = nil, ''
      elseif not text and other(line) then
         line = ''
      end
      text = text and text .. '\n' .. line or line
      if text:find('%S') then
         typed = text
         local chunk, why = repl.compile(text, own)
         if chunk then
            local ok, done = pcall(interruptible, chunk, look)
            debug.sethook()
            dptffi.C.dpt_interrupt_prompt(0)
            if not (ok and done) then interrupted = sys.clock() end
         elseif why ~= 'more' then
            wrong(look, why)
         end
         if why ~= 'more' then text = nil end
      else
         text = nil
      end
   end
   if prompts then print() end
end

return repl
