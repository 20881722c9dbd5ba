--- Applies the changes of the pages docs/tour*.md to a tree: `luajit spec/support/tour.lua FOLDER`.
-- Prints the specs that it has written.
--
-- Invariant: a block of code belongs to the last line before it that names a file in one of three
-- forms: "New file `FILE`:", "In `FILE`, after the line with `TEXT`:" and "... before the line with
-- `TEXT`:". Exactly one line of the file contains TEXT. Anything else raises.
local read = require 'spec.support.read'

-- pages: in the order in which their changes are applied.
local M = {pages = {'docs/tour.md', 'docs/tour-kernel.md', 'docs/tour-layer.md'}}

--- Returns the text of all pages of a tree.
function M.text(folder)
   local texts = {}
   for i, page in ipairs(M.pages) do texts[i] = read(folder .. '/' .. page) end
   return table.concat(texts)
end

--- Returns the changes of a text: a list of {file, text = the block, side = 'after', 'before' or
-- nil for a new file, line = text that the line contains}.
function M.changes(pages)
   local list, change, block = {}, nil, nil
   for line in pages:gmatch '([^\n]*)\n' do
      if block then
         if line == '```' then
            change.text = table.concat(block, '\n') .. '\n'
            list[#list + 1] = change
            change, block = nil, nil
         else
            block[#block + 1] = line
         end
      elseif line:find '^```' then
         assert(change, 'tour: a block of code belongs to no file: ' .. line)
         block = {}
      else
         local file, side, text = line:match 'In `([^`]+)`, (%a+) the line with `([^`]+)`:$'
         local new = line:match '^New file `([^`]+)`:$'
         if new then change = {file = new} end
         if file then change = {file = file, side = side, line = text} end
      end
   end
   return list
end

--- Returns the text of a file with a change applied.
function M.changed(text, change)
   local out, found = {}, 0
   for line in text:gmatch '([^\n]*)\n' do
      local here = line:find(change.line, 1, true) ~= nil
      if here and change.side == 'before' then out[#out + 1] = change.text end
      out[#out + 1] = line .. '\n'
      if here and change.side == 'after' then out[#out + 1] = change.text end
      found = found + (here and 1 or 0)
   end
   assert(found == 1, ('tour: %d lines of %s have `%s`, wanted one'):format(found, change.file,
      change.line))
   return table.concat(out)
end

if arg and arg[0] and arg[0]:find 'spec/support/tour%.lua$' then
   local folder = assert(arg[1], 'usage: luajit spec/support/tour.lua FOLDER')
   for _, change in ipairs(M.changes(M.text(folder))) do
      local path = folder .. '/' .. change.file
      local text = change.side and M.changed(read(path), change) or change.text
      local file = assert(io.open(path, 'w'))
      file:write(text)
      file:close()
      if change.file:find '_spec%.lua$' then print(change.file) end
   end
end

return M
