-- dpt.launcher.options: command lines of dpt's commands.
local options = require 'dpt.launcher.options'

describe('dpt.launcher.options', function()
   local known = {['-n'] = 'number', ['-e'] = 'text', ['--log'] = 'text', ['--tag'] = 'flag'}

   local function read(words, mixed)
      local list = {}
      for word in words:gmatch '%S+' do list[#list + 1] = word end
      return options.read(list, known, mixed)
   end

   it('reads a value from the next word or from the same', function()
      for _, words in ipairs{'-n 2 --log a', '-n2 --log=a', '-n=2 --log a'} do
         local found, others = read(words .. ' --tag file --log b')
         assert.same({{'-n', 2}, {'--log', 'a'}, {'--tag', true}, ['-n'] = 2, ['--log'] = 'a',
            ['--tag'] = true}, found, words)
         assert.same({'file', '--log', 'b'}, others)
      end
      assert.same({{'-e', 'x=1'}, {'-e', '=2'}, {'-e', '-n'}, ['-e'] = '-n'},
         (read '-ex=1 -e==2 -e -n'))
      assert.same({{'--log', 'a=b'}, {'--log', ''}, ['--log'] = ''}, (read '--log=a=b --log='))
   end)

   it('accepts options after other words if allowed', function()
      local found, others = read('a --log=x - b -n 1', true)
      assert.same({{'--log', 'x'}, {'-n', 1}, ['--log'] = 'x', ['-n'] = 1}, found)
      assert.same({'a', '-', 'b'}, others)
   end)

   it('reports errors', function()
      for words, why in pairs{['--tags file'] = "unknown option '--tags'",
         ['--lo=3'] = "unknown option '--lo=3'", ['-x'] = "unknown option '-x'",
         ['--tag=no'] = "option '--tag' takes no value: '--tag=no'",
         ['-n 2 --log'] = "option '--log' wants a value after it",
         ['-n two'] = "option '-n' is 'two', wanted a number"} do
         local found, what = read(words)
         assert.is_nil(found)
         assert.equal(why, what)
      end
   end)

   it('prints the usage of every command', function()
      for command in ('launch flight timeline help doctor'):gmatch '%a+' do
         local pipe = io.popen(('scripts/dpt %s --help 2>&1; scripts/dpt %s --nonsense=1 2>&1; '
            .. 'printf $?'):format(command, command))
         local text = pipe:read '*a'
         pipe:close()
         local usage = text:match("^(usage: dpt " .. command .. '.*)dpt ' .. command
            .. ": unknown option '%-%-nonsense=1'\n")
         assert.is_string(usage, text)
         assert.equal(usage .. '2', text:sub(-#usage - 1))
      end
   end)
end)
