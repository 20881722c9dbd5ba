-- torch.save replaces a file atomically or not at all, even if the process is killed.
local dpt = require 'dpt'
local torch, paths = dpt.torch, dpt.paths
local torture = require 'spec.support.torture'

-- Saves tables repeatedly; all elements of a table are its number.
local SAVER = [[
   package.path = './lua/?.lua;./lua/?/init.lua;' .. package.path
   local torch = require('dpt').torch
   local path, n = ..., 0
   local ok, before = pcall(torch.load, path)
   if ok then n = before.n end
   while true do
      n = n + 1
      local list = {n = n}
      for i = 1, 8 do list[i] = torch.DoubleTensor(32768):fill(n) end
      torch.save(path, list)
   end
]]

describe('torch.save', function()
   local folder, path
   before_each(function()
      folder = os.tmpname()
      os.remove(folder)
      paths.mkdir(folder)
      path = folder .. '/model.t7'
   end)
   after_each(function() os.execute('rm -rf ' .. folder) end)

   local function names()
      local list = {}
      for _, name in ipairs(paths.dir(folder)) do
         if name ~= '.' and name ~= '..' then list[#list + 1] = name end
      end
      return list
   end

   local function checked()
      local list = torch.load(path)
      for i = 1, 8 do
         assert.equal(list.n, list[i]:min())
         assert.equal(list.n, list[i]:max())
      end
      return list.n
   end

   it('leaves the old file or the new one if it is killed at any moment #noasan', function()
      local saver = folder .. '/saver.lua'
      local file = assert(io.open(saver, 'w'))
      file:write(SAVER)
      file:close()
      torch.save(path, {n = 0, torch.zeros(1), torch.zeros(1), torch.zeros(1), torch.zeros(1),
         torch.zeros(1), torch.zeros(1), torch.zeros(1), torch.zeros(1)})
      local last, left, seconds, rounds = 0, 0, 0.1, 0
      repeat
         rounds = rounds + 1
         -- two savers on one path
         local saves = {}
         for i = 1, 2 do
            -- --foreground makes timeout wait for the killed process
            saves[i] = ('timeout --foreground -s KILL %.3f luajit %s %s &'):format(
               seconds * (0.5 + math.random()), saver, path)
         end
         os.execute(table.concat(saves, ' ') .. ' wait')
         local n = checked()
         if #names() > 2 then left = left + 1 end
         assert.is_true(#names() <= 4)
         if n == last then seconds = 1.5 * seconds end -- too slow now to finish a save
         last = math.max(last, n)
      until rounds >= torture(100) and last > 5 or seconds > 60
      print(('atomic_spec: %d saves, %d times something was left'):format(last, left))
      assert.is_true(last > 5)
      -- the next save removes remaining temporary files
      torch.save(path, 'new')
      assert.same({'model.t7', 'saver.lua'}, names())
      assert.equal('new', torch.load(path))
   end)

   it('keeps the old file after an error', function()
      torch.save(path, 'old')
      assert.has_error(function()
         torch.save(path, {torch.ones(1000), coroutine.create(print)})
      end)
      assert.equal('old', torch.load(path))
      assert.has_error(function() torch.save(path, 'new', 'wrong') end)
      assert.equal('old', torch.load(path))
      assert.same({'model.t7'}, names())
      assert.error_matches(function() torch.save('/dev/full', torch.ones(10)) end, 'space')
      assert.error_matches(function() torch.save('/nowhere/at/all', 1) end, 'cannot write')
      assert.error_matches(function() torch.save(folder, 1) end, '')
      assert.error_matches(function() torch.save(('x'):rep(9000), 1) end, 'the path has 9000')
   end)

   it('keeps links and permissions, and the files of running savers', function()
      torch.save(path, 'old')
      os.execute(('chmod 640 %s; ln -s model.t7 %s/link'):format(path, folder))
      torch.save(folder .. '/link', 'new')
      assert.equal('new', torch.load(path))
      local pipe = io.popen(('stat -c "%%a %%F" %s %s/link'):format(path, folder))
      assert.equal('640 regular file\n777 symbolic link\n', pipe:read '*a')
      pipe:close()
      -- a temporary file of a dead process, and one of a running save: this one, in its own save
      local Slow = torch.class('dptspec.SavesWithin', {})
      function Slow.__write(_, f)
         torch.save(path, 'inner')
         f:writeObject 'x'
      end
      local dead = assert(io.open(path .. '.dpt-0.tmp', 'w'))
      dead:close()
      torch.save(path, torch.factory 'dptspec.SavesWithin'())
      assert.same({'link', 'model.t7'}, names())
   end)
end)
