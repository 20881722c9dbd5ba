--- scripts/messages: lists the error messages of the sources.
local function run(pattern)
   local pipe = io.popen("scripts/messages '" .. (pattern or '') .. "' 2>&1")
   local list = {}
   for line in pipe:lines() do list[#list + 1] = line end
   pipe:close()
   return list
end

describe('scripts/messages', function()
   local list
   setup(function() list = run() end)

   -- Returns the first entry that contains a text, without its line number.
   local function find(text)
      for _, entry in ipairs(list) do
         if entry:find(text, 1, true) then return (entry:gsub('^([^:]*):%d+ ', '%1 ')) end
      end
   end

   it('prints messages of C, CUDA and Lua with their files', function()
      assert.equal('csrc/tensor/view.c permute: dimension %d is named twice', find 'is named twice')
      assert.matches('^csrc/cuda/library.cu ', find 'cannot be opened')
      assert.matches('^lua/dpt/optim/sgd.lua optim.sgd: nesterov ', find 'optim.sgd: nesterov')
      assert.is_true(#list > 1000)
   end)

   it('joins literals and marks what is computed at run time', function()
      assert.matches('<torch.type%(self%)>: backward', find '<torch.type(self)>: backward')
   end)

   it('prints only messages that match a pattern', function()
      local found = run 'optim%.sgd'
      assert.is_true(#found > 0 and #found < 20)
      for _, entry in ipairs(found) do assert.matches('optim%.sgd', entry) end
   end)
end)
