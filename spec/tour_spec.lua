-- The pages docs/tour*.md: their changes apply to the files that they name, and the names in them
-- exist. The step `tour` of scripts/test applies them, builds the result and runs its specs.
local tour = require 'spec.support.tour'

local function read(path)
   local file = io.open(path)
   local text = file and file:read '*a'
   if file then file:close() end
   return text
end

describe('The worked examples', function()
   local quoting = read 'docs/tour-dtype.md' -- quotes code that is there
   local text = tour.text '.'
   local changes = tour.changes(text)

   it('have changes that fit the files that they name', function()
      assert.is_true(#changes > 10)
      for _, change in ipairs(changes) do
         local before = read(change.file)
         if change.side then
            assert.truthy(before, change.file)
            assert.equal(#before + #change.text, #tour.changed(before, change))
         else
            assert.is_nil(before, change.file)
         end
      end
   end)

   it('name files and functions that are there, or that they make', function()
      local made, count = {}, 0
      for _, change in ipairs(changes) do
         if not change.side then made[change.file] = true end
      end
      local sources = {}
      for _, change in ipairs(changes) do sources[#sources + 1] = change.text end
      local pipe = io.popen "cat $(find csrc -name '*.[ch]' -o -name '*.def' -o -name '*.cu')"
      sources = table.concat(sources) .. pipe:read '*a'
      pipe:close()
      for name in (text .. quoting):gsub('```.-```', ''):gmatch '`([^`\n]+)`' do
         if name:find '^[%w_]+/[%w_/]+%.%l+$' then
            count = count + 1
            assert.is_true(made[name] or read(name) ~= nil, name)
         elseif name:find '^dpt_[%w_]+$' and not name:find '^dpt__%l+_channel_shuffle$'
            and name ~= 'dpt__host_map' and name ~= 'dpt__cuda_map' then
            count = count + 1
            assert.truthy(sources:find(name, 1, true), name)
         end
      end
      assert.is_true(count > 20)
   end)

   it('quote files as they are', function()
      local count, blocks = 0, select(2, quoting:gsub('\n```c\n', ''))
      for file, code in quoting:gmatch '\nIn `([^`\n]+)`:\n\n```c\n(.-)```\n' do
         count = count + 1
         assert(read(file):find('\n' .. code, 1, true), file .. ' has no ' .. code)
      end
      assert.is_true(count > 8)
      assert.equal(blocks, count)
   end)

   it('raise for a change that fits no line, or several', function()
      local change = {file = 'x', side = 'after', line = 'b', text = 'new\n'}
      assert.equal('a\nb\nnew\nc\n', tour.changed('a\nb\nc\n', change))
      change.side = 'before'
      assert.equal('a\nnew\nb\nc\n', tour.changed('a\nb\nc\n', change))
      assert.error_matches(function() tour.changed('a\n', change) end, '0 lines of x have `b`')
      assert.error_matches(function() tour.changed('b\nab\n', change) end, '2 lines of x')
      assert.error_matches(function() tour.changes '```c\nx\n```\n' end, 'belongs to no file')
   end)
end)
