--- dpt.launcher.editor: reads lines at a terminal, with history, editing and completion by libedit.
--
-- Invariant: libedit is loaded at run time; without it, lines are read unedited. Its only callback
-- (completion) is called on this thread, by readline, which is never called from compiled code.
-- While a line is read, Ctrl-C is a key and raises no signal: the line becomes editor.INTERRUPT.
-- The history is a file of lines, each appended when it is entered, so that concurrent and killed
-- sessions lose none.
local dptffi = require 'dpt.ffi'
local output = require 'dpt.output'
local complete = require 'dpt.launcher.complete'
local ffi, C = dptffi.ffi, dptffi.ffi.C

local editor = {INTERRUPT = '\3'}

local LINES = 2000 -- of history that a session loads

local DECLARATIONS = [[
char *readline(const char *prompt);
int add_history(const char *line);
int rl_initialize(void);
int rl_parse_and_bind(const char *text);
extern const char *rl_basic_word_break_characters;
extern char *rl_line_buffer;
extern int rl_attempted_completion_over;
extern int rl_completion_append_character;
extern char **(*rl_attempted_completion_function)(const char *text, int first, int last);
char *strdup(const char *text);
void *malloc(size_t size);
void free(void *memory);
typedef struct dpt_termios {
  unsigned int iflag, oflag, cflag, lflag;
  unsigned char line, keys[32];
  unsigned int ispeed, ospeed;
} dpt_termios;
int tcgetattr(int file, dpt_termios *terminal);
int tcsetattr(int file, int when, const dpt_termios *terminal);
]]
local INTERRUPT_KEY, NOW = 0, 0 -- of Linux's termios.h

local library, completion, terminal

--- Returns the path of the history: $DPT_HISTORY, else a file in the user's state folder; nil:
-- none.
function editor.historyFile()
   local named, state, home = os.getenv 'DPT_HISTORY', os.getenv 'XDG_STATE_HOME', os.getenv 'HOME'
   if named then return named ~= '' and named or nil end
   state = state and state ~= '' and state or home and home .. '/.local/state'
   return state and state .. '/dpt/history'
end

local function remember(line)
   if not line:find '%S' or line == editor.last then return end
   editor.last = line
   library.add_history(line)
   if not editor.file then return end
   local file = io.open(editor.file, 'a')
   if not file then return end
   file:write(line, '\n')
   file:close()
end

-- Loads the history of earlier sessions; if there is none, creates its folder, private to the user.
local function recall()
   editor.file = editor.historyFile()
   if not editor.file then return end
   local file = io.open(editor.file)
   if not file then
      local folder = editor.file:match '^(.*)/'
      if folder then -- on failure no history is kept
         os.execute(("mkdir -p -m 700 '%s' 2>/dev/null"):format(folder:gsub("'", "'\\''")))
      end
      return
   end
   local lines = {}
   for line in file:lines() do lines[#lines + 1] = line end
   file:close()
   for i = math.max(1, #lines - LINES + 1), #lines do
      library.add_history(lines[i])
      editor.last = lines[i]
   end
   if #lines <= 2 * LINES then return end
   local text = table.concat(lines, '\n', #lines - LINES + 1) .. '\n'
   pcall(output.replace, 'history', editor.file, text) -- on failure it stays long
end

-- Returns the completions for libedit: the common prefix, then each candidate; libedit frees them.
local function candidates(text, first)
   local list, append = complete.candidates(ffi.string(library.rl_line_buffer, first), text)
   library.rl_attempted_completion_over = 1 -- disables libedit's own file names
   library.rl_completion_append_character = (append or ''):byte() or 0
   if #list == 0 then return nil end
   local result = ffi.cast('char **', C.malloc((#list + 2) * ffi.sizeof 'char *'))
   result[0] = C.strdup(complete.common(list))
   for i = 1, #list do result[i] = C.strdup(list[i]) end
   result[#list + 1] = nil
   return result
end

--- Opens libedit; returns true if it is installed.
function editor.installed()
   library = library or dptffi.optional(DECLARATIONS, 'libedit.so.2', 'libedit.so.0')
   return library ~= nil
end

--- Prepares the terminal. @return true if libedit is installed
function editor.open()
   if not editor.installed() then return false end
   os.setlocale('', 'ctype')
   terminal = ffi.new 'dpt_termios[2]'
   if C.tcgetattr(0, terminal) ~= 0 then terminal = nil end
   library.rl_initialize()
   library.rl_parse_and_bind [[bind -s "^C" "^A^K^V^C\n"]]
   library.rl_parse_and_bind 'bind "^I" rl_complete'
   library.rl_basic_word_break_characters = complete.BREAKS
   completion = ffi.cast('char **(*)(const char *, int, int)', function(text, first)
      local ok, list = pcall(candidates, ffi.string(text), first)
      return ok and list or nil
   end)
   library.rl_attempted_completion_function = completion
   recall()
   return true
end

--- Reads a line. @param prompt its text; text between \1 and \2 has zero width
-- @return the line, editor.INTERRUPT, or nil at the end of the input
function editor.read(prompt)
   if terminal then
      C.tcgetattr(0, terminal)
      terminal[1] = terminal[0]
      terminal[1].keys[INTERRUPT_KEY] = 0
      C.tcsetattr(0, NOW, terminal + 1)
   end
   local text = library.readline(prompt)
   if terminal then C.tcsetattr(0, NOW, terminal) end
   if text == nil then return nil end
   local line = ffi.string(text)
   C.free(text)
   if line == editor.INTERRUPT then return line end
   remember(line)
   return line
end
jit.off(editor.read)
jit.off(candidates)

return editor
