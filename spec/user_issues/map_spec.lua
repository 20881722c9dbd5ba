-- docs/user-issues.md maps the id of every user issue to a spec: the spec must exist, with the id
-- in a title.
local read = require 'spec.support.read'

-- Returns true if a title (the text of a test in C or CUDA) contains the id as a word.
local function holds(path, id)
   local word = '%f[%w]' .. id .. '%f[%W]'
   local text = read(path)
   if path:find '%.cu?$' then return text:find(word) ~= nil end
   for line in text:gmatch '[^\n]+' do
      for _, title in ipairs{'it%(+', 'describe%(', 'dispatched%('} do
         if line:find('%f[%w]' .. title .. "['\"][^'\"]*" .. word) then return true end
      end
   end
   return false
end

describe('docs/user-issues.md', function()
   local text = read 'docs/user-issues.md'

   it('names specs that are there, with the id in a title', function()
      local count = 0
      for id, rest in text:gmatch '\n| (%u%d+) |([^\n]+)' do
         local found = 0
         for path in rest:gmatch '`(spec/[^`]+)`' do
            assert.is_true(holds(path, id), path .. ' has no title with ' .. id)
            found = found + 1
         end
         assert.is_true(found > 0, id .. ' has no spec')
         count = count + 1
      end
      assert.is_true(count > 10)
   end)

   it('has every id, but for five at most, with a line each', function()
      local missing = {}
      for letter, last in pairs{A = 22, B = 8, C = 7, D = 14, E = 6, F = 10, G = 20} do
         for i = 1, last do
            local id = letter .. i
            -- B3, B7 and G2 are for GPUs
            if id ~= 'B3' and id ~= 'B7' and id ~= 'G2' and not text:find('\n| ' .. id .. ' |') then
               assert.truthy(text:find('\n%- ' .. id .. ': '), id .. ' is not there')
               missing[#missing + 1] = id
            end
         end
      end
      assert.truthy(text:find('\n| H22 |'))
      assert.is_true(#missing <= 5, table.concat(missing, ' '))
   end)
end)
