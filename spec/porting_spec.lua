-- docs/porting.md: its blocks of Lua are programs whose assertions hold.
require 'dpt'
local read = require 'spec.support.read'

describe('docs/porting.md', function()
   local text, count = read 'docs/porting.md', 0
   for block in text:gmatch '```lua\n(.-)```' do
      count = count + 1
      it(('is right in its block %d #devices2'):format(count), function()
         assert(loadstring(block, '=block'))()
      end)
   end
   it('has blocks', function() assert.is_true(count > 5) end)
end)
