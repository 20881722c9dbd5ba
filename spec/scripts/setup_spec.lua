-- scripts/setup on systems that lack something, and checks that prevent build failures.
local paths = require('dpt').paths

local root = paths.dirname(paths.dirname(paths.dirname(paths.thisfile())))

--- Runs a shell command; returns its output and exit status.
local function run(text)
   local pipe = io.popen('{ ' .. text .. '\n} 2>&1; echo " status $?"')
   local output, status = pipe:read('*a'):match('^(.*) status (%d+)\n$')
   pipe:close()
   return output, tonumber(status)
end

describe('scripts/setup #noasan #hostonly', function()
   local bin
   before_each(function() -- a PATH with few commands
      bin = os.tmpname()
      os.remove(bin)
      assert(paths.mkdir(bin))
      for _, name in ipairs{'sh', 'id', 'uname', 'tr', 'cat', 'dirname', 'gcc'} do
         local link = ("ln -s '%s' '%s/%s'"):format(paths.findprogram(name), bin, name)
         assert.equal(0, os.execute(link))
      end
   end)
   after_each(function() assert(paths.rmall(bin, 'yes')) end)

   local function setup(words)
      return run(("PATH='%s' '%s/scripts/setup' %s"):format(bin, root, words or ''))
   end

   it('I5: names missing programs and libraries', function()
      local text, status = setup '--check'
      assert.equal(1, status)
      assert.truthy(text:find('missing: .*luajit .*cmake .*ninja%-build'))
      assert.is_nil(text:find(' gcc ', 1, true))
   end)

   it('I5: lists what to install by hand without apt-get', function()
      local text, status = setup()
      assert.equal(1, status)
      assert.truthy(text:find('no apt-get', 1, true))
      assert.truthy(text:find('LuaJIT 2.1', 1, true))
   end)

   it('I5: changes nothing if everything is installed', function()
      local text, status = run(("'%s/scripts/setup'"):format(root))
      assert.equal(0, status)
      assert.equal('setup: everything that dpt needs is installed\n', text)
   end)

   it('rejects unknown words', function()
      local text, status = setup 'nonsense'
      assert.equal(2, status)
      assert.truthy(text:find('usage', 1, true))
   end)
end)

describe('the C sources #noasan #hostonly', function()
   -- scripts/test builds with gcc; any other compiler that is installed also reads the files
   for _, compiler in ipairs{'clang', 'gcc-13', 'gcc-14'} do
      local found = paths.findprogram(compiler)
      if found then
         it('I4: compile without a warning with ' .. compiler, function()
            -- with cmake's flags, but only up to the compiler's warnings
            local commands = io.open(root .. '/build/compile_commands.json'):read '*a'
            -- omp.h, which clang may lack, without gcc's other headers
            local include = os.tmpname()
            os.remove(include)
            local script = {("mkdir %s && ln -s $(gcc -print-file-name=include/omp.h) %s"):format(
               include, include)}
            for command, file in commands:gmatch '"command": "(.-)",\n%s*"file": "([^"]+)"' do
               if file:find('/csrc/', 1, true) and file:find '%.c$' then -- .cu files are not C
                  local flags = command:gsub('\\(.)', '%1'):gsub('^.-(%-[DIf])', '%1', 1)
                  flags = flags:gsub(' %-o .*$', ''):gsub('%-isystem %S+/gcc/%S+', '')
                  script[#script + 1] = ('%s %s -fsyntax-only -Werror -Wno-pass-failed'
                     .. ' -Wno-unknown-warning-option -idirafter %s %s'):format(found, flags,
                     include, file)
               end
            end
            assert.is_true(#script > 30)
            local name = os.tmpname()
            local file = assert(io.open(name, 'w'))
            file:write(table.concat(script, '\n'), '\n')
            file:close()
            local text = run(('cd %s/build && sh %s'):format(root, name))
            os.remove(name)
            assert(paths.rmall(include, 'yes'))
            assert.equal('', text)
         end)
      end
   end
end)
