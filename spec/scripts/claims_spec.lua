--- spec/support/claims.lua, with which scripts/gpu-check divides spec files among processes.
local files = {
   a = [[it('passes', function() print 'said' end) it('fails', function() assert.equal(1, 2) end)]],
   b = [[it('dies', function() io.write 'said' require('ffi').cast('int *', 8)[0] = 1 end)]],
   c = [[describe('c', function() setup(function() error 'wrong' end) it('', function() end) end)]],
   d = [[it('passes', function() end) pending 'a thing' error 'wrong']],
   e = [[it('passes', function() os.execute 'echo said' end) pending 'a thing']],
   f = [[it('passes', function() end)]],
}

local function read(name)
   local file = io.open(name)
   local text = file and file:read '*a'
   if file then file:close() end
   return text
end

describe('Processes of busted that share spec files #noasan', function()
   local folder, run

   setup(function()
      folder = os.tmpname()
      os.remove(folder)
      assert.equal(0, os.execute(("mkdir -p '%s/claims'"):format(folder)))
      for name, text in pairs(files) do
         local file = io.open(('%s/%s_spec.lua'):format(folder, name), 'w')
         file:write(text)
         file:close()
      end
      run = ("DPT_SPEC_CLAIMS='%s/claims' DPT_DEVICES=host:1 luajit spec/support/busted.lua"
         .. " -o gtest '%s'/*_spec.lua >/dev/null 2>&1"):format(folder, folder)
   end)
   teardown(function() os.execute(("rm -r '%s'"):format(folder)) end)

   local function of(name, what)
      return read(('%s/claims%s.%s'):format(folder, (folder .. '/' .. name .. '_spec.lua')
         :gsub('/', '-'):gsub('^', '/'), what))
   end

   it('begin each file once, and continue after one that failed or ended its process', function()
      local statuses = {}
      for i = 1, 6 do
         local pipe = io.popen(run .. '; echo $?')
         statuses[i] = pipe:read '*n'
         pipe:close()
      end
      assert.same({1, 139, 1, 1, 0, 0}, statuses)
      for name, counts in pairs{a = '1 successes / 1 failures / 0 errors / 0 pending : ',
         b = 'process ', c = '0 successes / 0 failures / 1 errors / 0 pending : ',
         d = '0 successes / 0 failures / 1 errors / 0 pending : ',
         e = '1 successes / 0 failures / 0 errors / 1 pending : ',
         f = '1 successes / 0 failures / 0 errors / 0 pending : '} do
         assert.equal(counts, of(name, 'status'):sub(1, #counts))
      end
      for _, name in ipairs{'a', 'b', 'e'} do assert.matches('said', of(name, 'txt')) end
      assert.matches('dies', of('b', 'txt'))
      assert.matches('wrong', of('c', 'txt'))
   end)

   it('share files that they were given at once', function()
      os.execute(("rm '%s'/claims/* '%s'/[abcd]_spec.lua"):format(folder, folder))
      assert.equal(0, os.execute(('(%s) & (%s) & wait'):format(run, run)))
      local pipe = io.popen(("cat '%s'/claims/*.status | grep -c '1 successes / 0 failures'")
         :format(folder))
      assert.equal(2, pipe:read '*n')
      pipe:close()
   end)
end)
