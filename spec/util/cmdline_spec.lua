local torch = require('dpt').torch

describe('torch.CmdLine', function()
   local cmd
   before_each(function()
      cmd = torch.CmdLine()
      cmd:argument('-file', 'a file')
      cmd:option('-size', 3, 'a size')
      cmd:option('-name', 'abc', 'a name')
      cmd:option('-flag', false, 'a flag')
      function cmd.error(_, message) error(message, 0) end -- instead of exiting
   end)

   it('returns defaults, values and arguments', function()
      assert.same({file = 'f', size = 3, name = 'abc', flag = false}, cmd:parse{'f'})
      assert.same({file = 'f', size = 0.5, name = '-5', flag = true},
         cmd:parse{'-size', '0.5', 'f', '-flag', '-name', '-5'})
   end)

   it('accepts a value after = or as the next word', function()
      cmd:option('--on', true, 'a flag with two dashes')
      cmd:option('-a=b', 'c', 'a name with =')
      assert.same({file = '-x=1', size = 0.5, name = 'b=c', flag = true, on = true, ['a=b'] = 'd'},
         cmd:parse{'-size=0.5', '-name=b=c', '-x=1', '-flag=true', '--on=true', '-a=b', 'd'})
      assert.same({file = 'f', size = 3, name = '', flag = false, on = false, ['a=b'] = 'c'},
         cmd:parse{'f', '-name=', '-flag=false', '--on'})
   end)

   it('reports faults of a command line', function()
      assert.has_error(function() cmd:parse{} end, 'missing argument -file')
      assert.has_error(function() cmd:parse{'f', '-size'} end, 'missing value of option -size')
      assert.has_error(function() cmd:parse{'f', '-size', 'x'} end,
         "option -size is 'x', wanted a number")
      assert.has_error(function() cmd:parse{'f', '-size='} end,
         "option -size is '', wanted a number")
      assert.has_error(function() cmd:parse{'f', '-flag=1'} end,
         "option -flag is '1', wanted true or false")
      assert.has_error(function() cmd:parse{'f', '-none'} end,
         "unknown option or argument '-none'")
   end)

   it('logs words between spaces, into a path or an open file', function()
      local path, before = os.tmpname(), print
      cmd:silent()
      for _, file in ipairs{path, io.open(path, 'w')} do
         cmd:log(file, {size = 3})
         print('loss', 0.5)
         torch.CmdLine.setPrint(before)
         local log = io.open(path)
         local text = log:read '*a'
         log:close()
         assert.matches('\nsize 3 \n[----------------------] \nloss 0.5 \n', text, 1, true)
      end
      os.remove(path)
   end)

   it('reports faults of an option', function()
      assert.has_error(function() cmd:option('-x', nil, 'help') end,
         "CmdLine:option: option '-x' has no default value")
      assert.has_error(function() cmd:option('-x', 5, 'help', 'string') end,
         "CmdLine:option: the default of option '-x' is a number, wanted a string")
   end)

   it('ends the process after help or an error', function()
      local program = [[local cmd = torch.CmdLine() cmd:option('-n', 1, 'count') ]]
      local function run(words)
         local pipe = io.popen(("luajit -ldpt -e %q - %s 2>&1 </dev/null; echo $?"):format(
            program .. 'cmd:parse{' .. words .. "} print 'went on'", ''))
         local text = pipe:read '*a'
         pipe:close()
         return text
      end
      local help = run "'-h'"
      assert.truthy(help:find('count [1]', 1, true))
      assert.equal('0\n', help:sub(-2))
      local wrong = run "'-m'"
      assert.truthy(wrong:find("unknown option or argument '-m'", 1, true))
      assert.equal('1\n', wrong:sub(-2))
      assert.is_nil((help .. wrong):find 'went on')
   end)
end)
