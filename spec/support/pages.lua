--- Reads the pages of documentation: their blocks of Lua, and the text between them.
--
-- Invariant: each block is a program. A block for two ranks follows the line `<!-- ranks 2 -->`,
-- which GitHub does not show. The blocks of the pages docs/tour*.md are changes of files, which the
-- step `tour` applies.
local folder = require 'spec.support.folder'
local read = require 'spec.support.read'
local tour = require 'spec.support.tour'

local pages = {list = {}}

local pipe = io.popen "find README.md CONTRIBUTING.md docs examples spec -name '*.md' | sort"
for path in pipe:lines() do pages.list[#pages.list + 1] = path end
pipe:close()

-- Calls f(line, number, language) for each line; language is that of its code block, or nil.
local function lines(path, f)
   local language, number = nil, 0
   for line in (read(path) .. '\n'):gmatch '(.-)\n' do
      number = number + 1
      local fence = line:match '^%s*```(.*)$'
      if fence then
         language = not language and fence or nil
      else
         f(line, number, language)
      end
   end
end

--- Returns the blocks of Lua: a list of {line, code, ranks}, where `ranks` is nil or a number.
function pages.blocks(path)
   local blocks, before, block = {}, '', nil
   for _, page in ipairs(tour.pages) do
      if path == page then return blocks end
   end
   lines(path, function(line, number, language)
      if language == 'lua' then
         if not block then
            block = {line = number, code = '', ranks = before:match '^<!%-%- ranks (%d+) %-%->$'}
            blocks[#blocks + 1] = block
         end
         block.code = block.code .. line .. '\n'
      else
         block, before = nil, line
      end
   end)
   return blocks
end

--- Returns the text, with empty lines in place of code blocks.
function pages.text(path)
   local text = {}
   lines(path, function(line, _, language) text[#text + 1] = language and '' or line end)
   return table.concat(text, '\n') .. '\n'
end

-- Reads a file, without dpt's warning about a LuaJIT that lacks Lua 5.2's features.
local function output(path)
   return (read(path):gsub("dpt: this LuaJIT lacks Lua 5.2's features[^\n]*\n", ''))
end

--- Runs a program in an empty folder, in its own process.
-- @param command words before its file's name; `dpt` is this tree's
-- @return its exit status, its stdout, and its stderr
function pages.run(code, command)
   local root = require('lfs').currentdir()
   return folder(function()
      local file = assert(io.open('block.lua', 'w'))
      file:write(code)
      file:close()
      local status = os.execute(('PATH=%s/scripts:$PATH; timeout -k 1 300 %s block.lua >out 2>err')
         :format(root, command or 'dpt'))
      return status, output 'out', output 'err'
   end)
end

return pages
