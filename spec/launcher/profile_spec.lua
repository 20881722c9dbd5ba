-- `dpt --profile=FILE program.lua`, in child processes.
local paths = require 'dpt.util.paths'
local json = require 'dpt.profiler.json'

local root = paths.dirname(paths.dirname(paths.dirname(paths.thisfile())))

-- Runs a program with a profile. Returns its output, its status and the file's content.
-- @param format of the option, with the file's name
local function profile(code, format)
   local file, target = os.tmpname(), os.tmpname()
   local f = io.open(file, 'w')
   f:write(code)
   f:close()
   local pipe = io.popen(("DPT_DEVICES=host:2 %s/scripts/dpt %s %s 2>&1; printf $?")
      :format(root, (format or '--profile=%s'):format(target), file))
   local text = pipe:read '*a'
   pipe:close()
   f = io.open(target)
   local content = f:read '*a'
   f:close()
   os.remove(file)
   os.remove(target)
   return text:match '^(.*)(%d+)$', tonumber(text:match '(%d+)$'), content
end

describe('dpt --profile', function()
   for how, ending in pairs{['by os.exit'] = 'os.exit(3)', ['by an error'] = 'error "wrong"',
      ['at its end'] = ''} do
      it('writes the profile of a program that ends ' .. how, function()
         local text, status, content = profile('local a = torch.CudaTensor(10):fill(2)\n'
            .. 'print(a:sum())\n' .. ending)
         assert.equal(ending:find 'exit' and 3 or ending ~= '' and 1 or 0, status, text)
         assert.matches('20\n', text, 1, true)
         assert.matches('ms from the first item to the last', text, 1, true)
         local names = {}
         for _, e in ipairs(json.decode(content, 'it').traceEvents) do names[e.name] = true end
         assert.is_true(names.fill)
         assert.is_true(names['live bytes'])
      end)
   end

   it('does not replace the profile of a program that records its own', function()
      local text, status, content = profile([[
         local p = require('dpt').profiler
         print(p.isRunning(), pcall(p.stop))
         torch.CudaTensor(10):fill(2)
         if p.isRunning() then p.stop '' end]], '--profile %s')
      assert.equal(0, status, text)
      assert.matches('^false\tfalse\t[^\n]*profiler: it does not run\n', text)
      assert.matches('"fill"', content, 1, true)
   end)

   it('ends when the program starts its own profile', function()
      local text, status, content = profile [[
         local p = require('dpt').profiler
         torch.CudaTensor(10):fill(2)
         print(p.isRunning())
         p.start()
         torch.CudaTensor(10):add(2)
         print(p.isRunning())
         p.stop()
         for _, e in ipairs(p.events()) do if e.name == 'fill' then print 'too much' end end
         torch.CudaTensor(10):mul(2)
         print(p.isRunning(), p.count())]]
      assert.equal(0, status, text)
      assert.matches('false\n', text)
      assert.matches('\ntrue\n', text)
      assert.matches('\nfalse\t2\t0\n', text)
      assert.matches('the program takes a profile of its own: %S+ ends before it', text)
      assert.not_matches('too much', text)
      assert.matches('"fill"', content, 1, true)
      assert.not_matches('"add"', content, 1, true)
      assert.not_matches('"mul"', content, 1, true)
   end)

   it('ends before the program if the file cannot be written, and with status 1 if it fails later',
      function()
         local function run(words)
            local pipe = io.popen(('DPT_DEVICES=host:1 %s/scripts/dpt --profile=%s 2>&1;'
               .. ' printf " %%d" $?'):format(root, words))
            local text, status = pipe:read('*a'):match '^(.*) (%d+)$'
            pipe:close()
            return text, tonumber(status)
         end
         local file = os.tmpname()
         local f = io.open(file, 'w')
         f:write 'print "it ran" os.exit(tonumber((...)))'
         f:close()
         local text, status = run('/nowhere/step.json ' .. file)
         assert.equal('dpt: --profile: cannot write /nowhere/step.json: no such file or'
            .. ' directory\n', text)
         assert.equal(1, status)
         for given, wanted in pairs{[''] = 1, ['0'] = 1, ['5'] = 5} do
            text, status = run(('/dev/full %s %s'):format(file, given))
            assert.matches('it ran\ndpt: no profile: .*cannot write /dev/full: no space left', text)
            assert.equal(wanted, status)
         end
         os.remove(file)
      end)

   it('is in the help', function()
      local pipe = io.popen(root .. '/scripts/dpt --help')
      assert.matches('--profile PROFILE', pipe:read '*a', 1, true)
      pipe:close()
   end)
end)
