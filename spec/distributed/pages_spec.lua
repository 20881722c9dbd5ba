-- The Lua blocks of the pages that are programs of several ranks. spec/pages_spec.lua also runs
-- each as one process.
local pages = require 'spec.support.pages'
local ranks = require 'spec.support.ranks'

describe('Blocks of Lua', function()
   local count = 0
   for _, page in ipairs(pages.list) do
      for _, block in ipairs(pages.blocks(page)) do
         if block.ranks then
            count = count + 1
            it(('run as %s ranks, at %s:%d'):format(block.ranks, page, block.line), function()
               if ranks.missing() then return pending(ranks.missing()) end
               local status, out, err = pages.run(block.code, 'dpt launch -n ' .. block.ranks)
               assert.equal(0, status, out .. err)
            end)
         end
      end
   end

   it('are marked', function() assert.is_true(count > 2) end)
end)
