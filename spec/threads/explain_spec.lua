-- dpt.threads.explain: the path to a value that cannot be sent to another thread.
local explain = require 'dpt.threads.explain'
local threads = require 'threads'

describe('dpt.threads.explain', function()
   local pool
   before_each(function() pool = threads(1) end)
   after_each(function() pool:terminate() end)

   it('names the way to a value that cannot be sent', function()
      local file = io.tmpfile()
      local inner = {deep = {file = file}}
      local function helper() return inner end
      assert.error_matches(function() pool:addjob(function() return helper() end) end,
         "field 'file' of field 'deep' of upvalue 'inner' of upvalue 'helper' of the function is a"
         .. ' userdata, which cannot be sent')
      assert.error_matches(function()
         pool:addjob(function() end, nil, 1, coroutine.create(print))
      end, 'argument 2 is a thread')
      assert.error_matches(function() pool:addjob(function() end, nil, {[file] = 1}) end,
         'a key of argument 1 is a userdata')
      assert.error_matches(function() pool:addjob(function() end, nil, {pool = pool.pool_}) end,
         "field 'workers_' of field 'pool' of argument 1 is a cdata")
      pool:addjob(function() return {x = coroutine.create(print)} end)
      assert.error_matches(function() pool:synchronize() end, "field 'x' of result 1 is a thread")
      file:close()
   end)

   it('returns any other error as it is, and names a value that no way leads to', function()
      assert.equal('oops', explain('oops', tostring))
      local rejected = {}
      assert.equal('threads: a value is a table, which cannot be sent to another thread',
         explain({rejected = rejected}, tostring, 1, {2}))
      local loop = {}
      loop.loop, loop.found = loop, rejected
      assert.matches("field 'found' of argument 1 is a table", explain({rejected = rejected},
         function(i) return 'argument ' .. i end, loop))
   end)
end)
