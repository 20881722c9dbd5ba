local dpt = require 'dpt'
local run = require 'spec.support.run'
local xlua, torch = dpt.xlua, dpt.torch

describe('xlua', function()
   it('formats times', function()
      assert.equal('0ms', xlua.formatTime(0))
      assert.equal('40ms', xlua.formatTime(0.04))
      assert.equal('3s140ms', xlua.formatTime(3.14))
      assert.equal('1h1m', xlua.formatTime(3661.5))
      assert.equal('2D', xlua.formatTime(2 * 86400))
   end)

   -- Returns the output of a program on a terminal of 100 columns, or as set up by `before`.
   local function onTerminal(code, before)
      local file = os.tmpname()
      local f = io.open(file, 'w')
      f:write("require 'dpt' " .. code)
      f:close()
      local pipe = io.popen(("script -qec '%s; luajit %s' /dev/null </dev/null 2>/dev/null")
         :format(before or 'stty cols 100', file))
      local text = pipe:read('*a'):gsub('\r\n', '\n')
      pipe:close()
      os.remove(file)
      return text
   end

   it('prints a line for each tenth of a loop where stdout is no terminal', function()
      local text = run.lua "require 'dpt' for i = 1, 1000 do xlua.progress(i, 1000) end"
      local lines = {}
      for line in text:gmatch '[^\n]+' do lines[#lines + 1] = line end
      assert.equal(10, #lines, text)
      assert.matches('^ 10 %% 100/1000 ETA: %S+ | Step: %S+$', lines[1])
      assert.matches('^ 100 %% 1000/1000 Tot: ', lines[10])
      text = run.lua "require 'dpt' for _ = 1, 2 do for i = 1, 3 do xlua.progress(i, 3) end end"
      local _, count = text:gsub('\n', '')
      assert.equal(6, count)
   end)

   it('draws a progress bar on a terminal that ends with a new line', function()
      local text = onTerminal 'for i = 1, 40 do xlua.progress(i, 40) end'
      assert.truthy(text:find('\r %[>%.+'))
      assert.truthy(text:find(' 20/40 ', 1, true))
      assert.truthy(text:find(' 40/40 ', 1, true))
      assert.truthy(text:find('ETA: ', 1, true))
      assert.equal('\n', text:sub(-1))
      local _, lines = text:gsub('\n', '')
      assert.equal(1, lines)
   end)

   it('draws over its line on a terminal of any width', function()
      local loops = [[for _, goal in ipairs{60000, 40, 5} do
         for i = goal - 3, goal do xlua.progress(i, goal) end end]]
      for columns, settings in pairs{[115] = {'stty cols 115'}, [80] = {'stty cols 80'},
         [40] = {'stty cols 40', 'stty cols 100; export COLUMNS=40'}, [20] = {'stty cols 20'},
         [8] = {'stty cols 8'}, [100] = {'stty cols 100; export COLUMNS=0'}} do
         for _, before in ipairs(settings) do
            local text, count = onTerminal(loops, before), 0
            for line in text:gmatch '\r([^\r\n]+)' do
               count = count + 1
               assert.equal(columns - 1, #line, text)
               assert.equal(columns >= 80, line:find ' ETA: %S+ | Step: %S+ *$' ~= nil
                  or line:find ' Tot: %S+ | Step: %S+ *$' ~= nil, line)
               assert.matches(columns >= 20 and ' %d+/%d+ ' or '^ %d+/%d* *$', line)
            end
            assert.equal(12, count, text)
            assert.matches(columns < 20 and ' 5/5 ' or '%[=*=? 5/5 [=>]+%]', text)
         end
      end
   end)

   it('treats a loop without steps as done', function()
      assert.matches('^\r %[=+ 0/0 =+>%] Tot: 0ms | Step: 0ms *\n$',
         onTerminal 'xlua.progress(0, 0)')
   end)

   it('begins a new bar after the last', function()
      local text = onTerminal 'for _ = 1, 2 do for i = 1, 3 do xlua.progress(i, 3) end end'
      local _, lines = text:gsub('\n', '')
      assert.equal(2, lines)
   end)

   it('reads settings from the environment', function()
      torch.setenv('DPT_SPEC_RATE', '0.5')
      torch.setenv('DPT_SPEC_FLAG', 'true')
      local params = xlua.envparams{DPT_SPEC_RATE = 1, DPT_SPEC_FLAG = false, DPT_SPEC_NAME = 'x'}
      assert.same({DPT_SPEC_RATE = 0.5, DPT_SPEC_FLAG = true, DPT_SPEC_NAME = 'x'}, params)
      torch.setenv('DPT_SPEC_RATE', 'fast')
      assert.has_error(function() xlua.envparams{DPT_SPEC_RATE = 1} end,
         "xlua.envparams: the variable DPT_SPEC_RATE is 'fast', wanted a number")
      torch.setenv('DPT_SPEC_RATE', nil)
      torch.setenv('DPT_SPEC_FLAG', nil)
   end)

   it('reads arguments by name or in order, with defaults', function()
      local function f(...)
         local args, x, y, z = xlua.unpack({...}, 'f', 'adds',
            {arg = 'x', type = 'number', req = true}, {arg = 'y', type = 'number', default = 7},
            {arg = 'z', type = 'number', defaulta = 'x'})
         assert.same({x, y, z}, {args.x, args.y, args.z})
         return x, y, z
      end
      assert.same({1, 7, 1}, {f(1)})
      assert.same({1, 2, 3}, {f(1, 2, 3)})
      assert.same({1, 7, 3}, {f{x = 1, z = 3}})
      local object = {}
      xlua.unpack_class(object, {{a = 5}}, 'g', 'is made', {arg = 'a', type = 'number'})
      assert.equal(5, object.a)
      local print_, lines = print, {}
      _G.print = function(...) lines[#lines + 1] = tostring((...)) end
      local ok = pcall(f, nil, 2)
      _G.print = print_
      assert.is_false(ok)
      assert.truthy(table.concat(lines):find('missing argument: x', 1, true))
      assert.truthy(table.concat(lines):find('[y = number]', 1, true))
   end)

   it('writes tables as text', function()
      assert.equal('{1,"two",{3},x="y"}', xlua.table2string{1, 'two', {3}, x = 'y'})
      assert.equal('{[" "]=4}', xlua.table2string{[' '] = 4})
      assert.equal('{\n   1\n   x : 2\n}', xlua.table2string({1, x = 2}, true))
   end)

   it('reads a command line by OptionParser', function()
      local before = arg
      local op = xlua.OptionParser '%prog [options]'
      op:option{'-n', '--number', dest = 'number', default = 3, help = 'how many'}
      op:option{'-f', dest = 'flag', action = 'store_true', help = 'on'}
      _G.arg = {[0] = 'prog', '--number=5', '-f', 'file'}
      local options, others = op:parse()
      _G.arg = before
      assert.same({number = '5', flag = true, __main__ = true}, options)
      assert.same({'file'}, others)
      assert.equal('-n=5,-f=true', op:tostring(true))
      assert.equal('-n NUMBER, --number=NUMBER', op:flags(op.option_of['-n']))
   end)

   it('measures by Profiler', function()
      local p = xlua.Profiler('off')
      p:start('work', 'fps')
      local real, cpu = p:lap 'work'
      assert.is_true(real >= 0 and cpu >= 0)
      assert.truthy(p:formatAll():find '<work> = .* fps')
      assert.error_matches(function() p:lap 'rest' end, 'rest was never started')
   end)

   it('removes globals by clear', function()
      rawset(_G, 'specGlobal', 1)
      xlua.clear 'specGlobal'
      assert.is_nil(rawget(_G, 'specGlobal'))
   end)

   it('names the types of wrong arguments', function()
      for _, case in ipairs{
         {function() xlua.usage() end, "usage: argument 'name' is nil, wanted a string"},
         {function() xlua.usage('f', {}) end, "argument 'description' is a table"},
         {function() xlua.usage('f', 'd', 'e', 3) end, "argument 'descriptions' is a number"},
         {function() xlua.usage_module('x', 'y') end, "argument 'package' is a string"},
         {function() xlua.unpack(3) end, "unpack: argument 'args' is a number, wanted a table"},
         {function() xlua.unpack({1}, 'f', 'd', {}) end, "argument 'arg' is nil, wanted a string"},
         {function() xlua.table2string 'x' end, "argument 'value' is a string, wanted a table"},
         {function() xlua.formatTime 'x' end, "argument 'seconds' is a string, wanted a number"},
         {function() xlua.installed() end, "argument 'package' is nil, wanted a string"},
         {function() xlua.require(3) end, "argument 'name' is a number, wanted a string"},
         {function() xlua.envparams 'x' end, "argument 'defaults' is a string, wanted a table"},
         {function() xlua.trycatch(print) end, "argument 'catch' is nil, wanted a function"},
         {function() sys.split 'x' end, "argument 'pattern' is nil, wanted a string"},
         {function() paths.thisfile(nil, 'x') end, "argument 'level' is x"},
         {function() paths.dofile(3) end, "argument 'path' is a number, wanted a string"},
         {function() paths.findprogram {} end, "argument 'path' is a table, wanted a string"},
         {function() paths.basename('x', 3) end, "argument 'suffix' is a number"},
         {function() torch.include('nn', {}) end, "argument 'file' is a table, wanted a string"},
         {function() torch.packageLuaPath(3) end, "argument 'name' is a number, wanted a string"},
      } do
         assert.error_matches(case[1], case[2], 1, true)
      end
   end)
end)
