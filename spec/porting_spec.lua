-- docs/porting.md and docs/image.md: their blocks of Lua are programs whose assertions hold.
require 'dpt'
local read = require 'spec.support.read'

for _, path in ipairs{'docs/porting.md', 'docs/image.md'} do
   describe(path, function()
      local text, count = read(path), 0
      for block in text:gmatch '```lua\n(.-)```' do
         count = count + 1
         it(('is right in its block %d #devices2'):format(count), function()
            assert(loadstring(block, '=block'))()
         end)
      end
      it('has blocks', function() assert.is_true(count > 5) end)
   end)
end
