-- scripts/test.d/steps.sh: a test that passes when it is repeated is unsteady; a crash, a sanitizer
-- report or a wrong recorded value fails at once.

local function write(path, text)
   local file = assert(io.open(path, 'w'))
   file:write(text)
   file:close()
end

-- Runs spec files as a step does: name -> code, in which `first` is true in the first run.
-- Returns the output of the step, its counts of passed and failed tests, and its record.
local function step(files)
   local names, folder = {}, os.tmpname()
   os.remove(folder)
   assert(os.execute('mkdir ' .. folder) == 0)
   for name, code in pairs(files) do
      local path = ('%s/%s_spec.lua'):format(folder, name)
      write(path, ("local first = not io.open '%s.ran' io.open('%s.ran', 'w'):close()\n%s")
         :format(path, path, code))
      names[#names + 1] = path
   end
   table.sort(names)
   write(folder .. '/step.sh', ([[
      unset DPT_SPEC_RECORD
      export DPT_SEED=5
      . scripts/test.d/steps.sh
      run_planted() { export DPT_DEVICES=host:3; specs %s; }
      run planted %s/planted
      cd %s && cut -d' ' -f1,2 planted/counts && cat failures notes 2>/dev/null
   ]]):format(table.concat(names, ' '), folder, folder))
   local pipe = io.popen('bash ' .. folder .. '/step.sh 2>&1 </dev/null')
   local text = pipe:read '*a'
   pipe:close()
   os.execute('rm -r ' .. folder)
   return (text:gsub(folder .. '/', ''))
end

local function spec(title, body)
   return ("describe('A thing', function() it('%s', function() %s end) end)\n"):format(title, body)
end

describe('A step of scripts/test #noasan #hostonly', function()
   it('passes if a spec that failed passes alone, and names it', function()
      local text = step{late = spec('holds', 'assert(not first)') .. spec('is', ''),
         other = spec('is', '')}
      assert.matches('^3 0\nUNSTEADY late_spec.lua: A thing holds %(planted/1.log, alone:', text)
   end)

   it('prints a failure with the command that repeats it', function()
      local text = step{wrong = spec('holds', 'assert.equal(1, 2)') .. spec('is', '')}
      assert.matches('^1 1\n%-%- planted: wrong_spec.lua: A thing holds %(planted/1.log%)\n', text)
      assert.matches('\nagain: DPT_SEED=5 DPT_DEVICES=host:3 busted wrong_spec.lua\n$', text)
      assert.not_matches('UNSTEADY', text)
   end)

   it('names the file that ended its process', function()
      local text = step{before = spec('is', ''), crash = spec('holds', [[
         local ffi = require 'ffi'
         ffi.cdef 'void abort(void);'
         if first then ffi.C.abort() end]])}
      assert.matches('^0 1\n%-%- planted: crash_spec.lua ended the process', text)
      assert.matches('\nagain: .* busted crash_spec.lua\n$', text)
   end)

   for what, body in pairs{
      ['a report of a sanitizer'] = "error 'x.c:3: ERROR: AddressSanitizer: heap-use-after-free'",
      ['a race'] = "error 'WARNING: ThreadSanitizer: data race'",
      ['undefined behaviour'] = "error 'x.c:3:5: runtime error: signed integer overflow'",
      ['a crash of a program'] = "error 'bash: line 1: 12 Segmentation fault'",
      ['the status of a signal'] = "assert.equal('0', 'some output\\n139')",
      ['a hang'] = "error 'rank 1 hangs'",
   } do
      it('fails at once on ' .. what, function()
         local text = step{once = spec('holds', 'if first then ' .. body .. ' end')}
         assert.matches('^0 1\n%-%- planted: once_spec.lua: A thing holds', text)
         assert.not_matches('UNSTEADY', text)
      end)
   end

   it('fails at once on a wrong recorded value', function()
      local text = step{once = spec('holds #recorded', 'assert(not first)')}
      assert.matches('^0 1\n%-%- planted: once_spec.lua: A thing holds #recorded', text)
   end)
end)
