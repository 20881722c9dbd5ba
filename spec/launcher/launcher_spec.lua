-- The command `dpt`, the prompt, the doctor and Ctrl-C, each in a child process.
local dpt = require 'dpt'
local paths = dpt.paths
local repl = require 'dpt.launcher.repl'
local processes = require 'spec.support.run'

local root = paths.dirname(paths.dirname(paths.dirname(paths.thisfile())))
local command = root .. '/scripts/dpt'
-- The version is defined only there.
local version = io.open(root .. '/CMakeLists.txt'):read '*a':match 'project%(dpt VERSION (%S+)'

--- Runs a shell command; returns its output and exit status.
local function run(text)
   local pipe = io.popen('{ ' .. text .. '\n} 2>&1; echo " status $?"')
   local output = pipe:read '*a'
   pipe:close()
   local written, status = output:match('^(.*) status (%d+)\n$')
   return written, tonumber(status)
end

--- Writes a program into a file that `clean` removes after each test.
local files = {}
local function clean()
   for _, name in ipairs(files) do os.remove(name) end
   files = {}
end
local function program(text)
   local name = os.tmpname()
   files[#files + 1] = name
   local file = assert(io.open(name, 'w'))
   file:write(text)
   file:close()
   return name
end

describe('The launcher', function()
   after_each(clean)

   it('runs a file with arg as luajit sets it', function()
      local name = program [[print(arg[0] == (...), #arg, arg[2], select('#', ...), torch ~= nil)]]
      local text, status = run(("cd / && %s %s %s 'b c'"):format(command, name, name))
      assert.equal('true\t2\tb c\t2\ttrue\n', text)
      assert.equal(0, status)
   end)

   it('prints the fields of tables, as th did', function()
      local name = program 'print("opt", {b = {1}, a = true}, nil) print(nn.Tanh(), {})'
      assert.equal('opt\t{\n  a : true\n  b : {\n    1 : 1\n  }\n}\tnil\nnn.Tanh\t{\n}\n',
         (run(command .. ' ' .. name)))
   end)

   it('runs through a link, from any directory', function()
      local link = os.tmpname()
      os.remove(link)
      assert.equal(0, os.execute(("ln -s '%s' '%s'"):format(command, link)))
      files[#files + 1] = link
      assert.equal(version .. '\n', (run(("cd / && %s -e 'print(torch.version())'"):format(link))))
   end)

   it('ends with status 1 and a traceback after an error', function()
      local name = program 'local function inner() error "wrong" end\ninner()'
      local text, status = run(command .. ' ' .. name)
      assert.equal(1, status)
      assert.truthy(text:find('^dpt: ' .. name .. ':1: wrong\nstack traceback:\n'))
      assert.truthy(text:find(name .. ":1: in function 'inner'", 1, true))
      assert.is_nil(text:find('launcher', 1, true))
   end)

   it('suggests a name for a misspelt one after the error', function()
      local name = program 'print(nn.Linaer == nil)\nnn.Sequential()\n   :add(nn.Linaer(2, 2))'
      local text, status = run(command .. ' ' .. name)
      assert.equal(1, status)
      assert.equal(('true\ndpt: %s:3: attempt to call field \'Linaer\' (a nil value); did you mean'
         .. ' nn.Linear?\nstack traceback:\n\t%s:3: in main chunk\n'):format(name, name), text)
   end)

   it('prints topics, and entries that mention words, by dpt help', function()
      local text, status = run(command .. ' help')
      assert.equal(0, status)
      assert.matches('\nnn convolution +%l', text)
      text, status = run(command .. ' help learning rate')
      assert.equal(0, status)
      assert.matches("^No entry 'learning rate'%. Its words are in:\n .*optim%.adam ", text)
      text, status = run(command .. ' help nn.Lineer')
      assert.equal("No entry 'nn.Lineer'. Did you mean nn.Linear?\n", text)
      assert.equal(1, status)
   end)

   it('reports errors in its own command line', function()
      local text, status = run(command .. ' --nonsense')
      assert.equal(2, status)
      assert.truthy(text:find("unknown option '--nonsense'", 1, true))
      text, status = run("LUA_INIT='torch = {}' " .. command .. ' -e 1')
      assert.equal(1, status)
      assert.matches("^dpt: 'torch' is loaded from elsewhere already", text)
      text, status = run(command .. ' --profile /nonexistent/program.lua')
      assert.equal(2, status)
      assert.matches("--profile wants a file to write, and then the program: got '/nonexistent/",
         text, 1, true)
      text, status = run(command .. ' /nonexistent.lua')
      assert.equal(1, status)
      assert.truthy(text:find('cannot open /nonexistent.lua', 1, true))
   end)

   it('runs code, modules and the standard input', function()
      assert.equal('1\n2\n', (run(command .. " -e 'x = 1 print(x)' -e 'print(x + 1)'")))
      assert.equal('table\n', (run(command .. " -l nn -e 'print(type(nn))'")))
      assert.equal('table\n2\n', (run(command .. " -l=nn -e='print(type(nn))' -e1+1")))
      assert.equal('5\n', (run("echo 'print(5)' | " .. command)))
      assert.equal('3\nb\n', (run(command .. [[ -e '1 + 2, "b"']])))
      assert.equal('dpt ' .. version .. '\n', (run(command .. ' --version')))
   end)

   it('defines the global cudnn once it is required, like th, also in workers', function()
      local saved, name = program '', program [[
         local saved, required = ...
         local function has() return cudnn ~= nil end
         local function worker()
            local pool, found = require('threads').Threads(1), nil
            pool:addjob(function()
               local before = cudnn ~= nil
               require 'cudnn'
               return {before, cudnn ~= nil}
            end, function(list) found = list end)
            pool:terminate()
            return found[1], found[2]
         end
         local loaded = torch.typename(torch.load(saved))
         io.write(loaded, ' ', tostring(cutorch ~= nil), ' ', tostring(has()))
         for _, seen in ipairs{worker()} do io.write(' ', tostring(seen)) end
         require(required)
         io.write(' ', tostring(has()))
         for _, seen in ipairs{worker()} do io.write(' ', tostring(seen)) end
         print()]]
      local made = run(("%s -e 'torch.save(\"%s\", cudnn.ReLU())'"):format(command, saved))
      assert.equal('', made)
      for required, has in pairs{cudnn = true, cunn = true, dpt = true, nn = false,
         image = false} do
         assert.equal(('cudnn.ReLU true false false true %s %s true\n'):format(has, has),
            (run(('%s %s %s %s'):format(command, name, saved, required))), required)
      end
      name = program 'io.write(tostring(cudnn ~= nil), " ")'
      local text = run(("%s -l cudnn %s; %s -e 'has = cudnn ~= nil' %s; %s <%s; "
         .. "echo 'print(cudnn ~= nil, has)' | %s -i -e 'has = cudnn ~= nil' %s"):format(command,
         name, command, name, command, name, command, name))
      assert.equal('true false false false true\ttrue\n', text)
   end)

   it('loads dok, if it is installed, when a program names it or requires image', function()
      local folder = program ''
      os.remove(folder)
      local name = program [[
         local early = package.loaded.dok
         print(early, ... and require 'image' and rawget(_G, 'dok') ~= nil, dok and dok.word)]]
      assert.equal('nil\tnil\tnil\n', (run(command .. ' ' .. name)))
      local text = run(([[mkdir -p '%s/dok'
         echo 'dok = {} require "dok.inline"' >'%s/dok/init.lua'
         echo 'dok.word = 5' >'%s/dok/inline.lua'
         export LUA_PATH='%s/?.lua;%s/?/init.lua;;'
         %s %s; %s %s image
         rm -r '%s']]):format(folder, folder, folder, folder, folder, command, name, command, name,
         folder))
      assert.equal('nil\tnil\t5\nnil\ttrue\t5\n', text)
   end)

   it('returns the exit status of the program', function()
      local _, status = run(command .. " -e 'os.exit(7)'")
      assert.equal(7, status)
   end)

   it('warns in the doctor if ranks cannot be connected', function()
      local text, status = run('DPT_TIMEOUT=soon ' .. command .. ' doctor')
      assert.equal(1, status)
      assert.matches("PROBLEM +DPT_TIMEOUT: got 'soon', wanted [^\n]+\n[op]", text)
   end)

   it('warns in the doctor if products are slow, with the remedy', function()
      if not io.open '/proc/cpuinfo':read '*a':find(' avx2 ', 1, true) then return end
      local text, status = run('DPT_DEVICES=host:3 OPENBLAS_CORETYPE=Prescott ' .. command
         .. ' doctor')
      assert.equal(1, status)
      assert.matches('Prescott kernels %(as OPENBLAS_CORETYPE says%)', text)
      assert.matches('products +%d+ GFLOP/s on one core, which can do %d+ with AVX', text)
      assert.matches('PROBLEM +products take more than twice the time .*unset it', text)
      assert.matches('problems: 1\n$', text)
      local _, memories = text:gsub('GiB free', '')
      assert.equal(1, memories) -- devices on one CPU share a memory
   end)

   it('prints devices and libraries in the doctor, also if the library is missing', function()
      -- a user's own setting must not affect this spec
      local text, status = run('env -u OPENBLAS_CORETYPE ' .. command .. ' doctor')
      assert.equal(0, status)
      for _, word in ipairs{'LuaJIT', 'OpenBLAS', 'oneDNN', 'SLEEF', 'OpenMP',
         'ranks      not running as part of a multi-process job', 'all is well'} do
         assert.truthy(text:find(word, 1, true), word)
      end
      if not paths.filep('/dev/nvidiactl') then
         assert.matches('CUDA       no GPU can be used: %S', text) -- followed by the reason
      end
      text, status = run('DPT_LIBRARY=/nonexistent.so ' .. command .. ' doctor')
      assert.equal(1, status)
      assert.truthy(text:find('PROBLEM    dpt cannot be loaded', 1, true))
   end)
end)

describe('The prompt', function()
   it('prints values as th did', function()
      local typed = [[1 + 1
= 'x'
{1, 'a', k = {2}}
for i = 1, 2 do
print(i)
end
nil
y = 3
y]]
      local quoted = "'" .. typed:gsub("'", "'\\''") .. "'"
      local text = run(("printf '%%s\\n' %s | %s -i"):format(quoted, command))
      assert.equal('2\nx\n{\n  1 : 1\n  2 : "a"\n  k : {\n    1 : 2\n  }\n}\n1\n2\nnil\n3\n', text)
   end)

   it('summarizes tensors of many elements, which a script prints whole', function()
      local code = 'x = torch.ones(101, 100) print(x, 3) print(#tostring(x))'
      local whole = #tostring(dpt.torch.ones(101, 100))
      assert.equal(whole + #'\t3\n' + #(whole .. '\n'), #run(command .. ' ' .. program(code)))
      local text = run(("printf '%%s\n' '%s' 'x' '{x}' '= x[1][1]'| %s -i"):format(code, command))
      local shown = ((' 1  1  1  ...  1  1  1\n'):rep(3) .. ' ...\n'):rep(2):sub(1, -6)
         .. '[torch.DoubleTensor of size 101x100]\n'
         .. 'corners of 10100 elements: io.write(tostring(x)) writes all\n'
      assert.equal(shown .. '\t3\n' .. whole .. '\n' .. shown .. '\n'
         .. '{\n  1 : DoubleTensor - size: 101x100\n}\n1\n', text)
   end)

   it('names a class, with how to read about it', function()
      local typed = 'nn.Linear\ntorch.FloatTensor\n{nn.Abs}\nlocal _ = torch.class "Mine"\nMine\n'
      assert.equal('class nn.Linear; ? nn.Linear prints its reference\n'
         .. 'class torch.FloatTensor; ? torch.FloatTensor prints its reference\n'
         .. '{\n  1 : class nn.Abs\n}\nclass Mine\n',
         (run("printf '" .. typed .. "' | " .. command .. ' -i')))
   end)

   it('continues after an error', function()
      local typed = 'error(\"boo\")\\n5\\nx = = 1\\n6\\nnn.Linaer()\\n'
      local text, status = run("printf '" .. typed .. "' | " .. command .. ' -i')
      assert.equal(0, status)
      assert.truthy(text:find('stdin:1: boo\nstack traceback:', 1, true))
      assert.truthy(text:find('5\n', 1, true))
      assert.truthy(text:find('unexpected symbol near', 1, true))
      assert.truthy(text:find('6\n', 1, true))
      assert.truthy(text:find("'Linaer' (a nil value); did you mean nn.Linear?\n", 1, true))
   end)

   it('detects incomplete input', function()
      local chunk, why = repl.compile 'for i = 1, 2 do'
      assert.is_nil(chunk)
      assert.equal('more', why)
      assert.equal('more', select(2, repl.compile 'x = {1,'))
      assert.equal('function', type(repl.compile 'x = {1,\n2}'))
      assert.equal('function', type(repl.compile '= 1, 2 -- two'))
   end)

   it('keeps locals of earlier lines unless Lua or dpt uses the name', function()
      local typed = [[require 'dpt'
local a, b = 1, 2
a + b
local function f(n) return n < 1 and 'end' or f(n - 1) end
f(3)
local c =
7
c
local type, d = 5, 6
type(d)]]
      local text = run(("printf '%%s\\n' \"%s\" | %s -i"):format(typed, command))
      assert.equal('3\nend\n7\nnil\n', text)
   end)

   it('runs neither bytecode nor the codes of keys', function()
      local code = ('x'):rep(3) .. '\27[A'
      assert.matches('code of a key', select(2, repl.compile(code)))
      assert.matches('bytecode', select(2, repl.compile(string.dump(function() return 1 end))))
      assert.is_function(repl.compile '\tx = "\195\164"')
   end)

   it('runs a shell command after $, and prints help after ?', function()
      local text = run("printf '$ echo from the shell\\n?\\n' | " .. command .. ' -i')
      assert.matches('^from the shell\n%? NAME ', text)
   end)

   it('answers help, and leaves at quit or exit, as words and as calls', function()
      for _, word in ipairs{'quit', ' exit ', 'exit()', 'quit( )'} do
         assert.equal('1\n', (run(("printf '1\n%s\n2\n' | %s -i"):format(word, command))))
      end
      local text = run("printf 'help\nhelp()\nhelp nn.Linear\nquit = 4\nquit\n' | " .. command
         .. ' -i')
      local _, count = text:gsub('%? NAME ', '')
      assert.equal(2, count)
      assert.matches('\nnn%.Linear%(inputSize.*\n4\n$', text)
   end)

   it('interrupts the running line at Ctrl-C, and continues', function()
      local name = program '' -- input comes from a pipe, and signals go only to the prompt
      local text = run(([[{ echo 'while true do io.open("%s.ready", "w"):close() end'
         for i in $(seq 2400); do [ -e %s.ready ] && break; sleep 0.05; done
         kill -INT $(cat %s) && echo '6 * 7'; } |
         sh -c 'echo $$ > %s; exec "$@"' - env -u DPT_LUAJIT %s -i; rm -f %s.ready]]):format(name,
         name, name, name, command, name))
      assert.matches('interrupted!', text)
      assert.matches('\n42\n$', text)
   end)

   it('prints tensors in tables by type and size, and recursive tables', function()
      local t = {dpt.torch.FloatTensor(2, 3), dpt.torch.LongStorage(4)}
      t.me = t
      local text = repl.format(t)
      assert.truthy(text:find('1 : FloatTensor - size: 2x3', 1, true))
      assert.truthy(text:find('2 : LongStorage - size: 4', 1, true))
      assert.truthy(text:find('me : table: ', 1, true))
   end)
end)

describe('Ctrl-C ends the process within a second', function()
   after_each(clean)
   local function interrupt(text)
      local name = program("io.stdout:setvbuf 'no' " .. text)
      local status, inTime, output = processes.interrupt(command .. ' ' .. name)
      assert.equal(130, status)
      assert.equal('ready\n', output)
      assert.is_true(inTime)
   end

   it('in compiled Lua', function()
      interrupt "print 'ready' local n = 0 while true do n = n + 1 end"
   end)

   it('in a kernel', function()
      interrupt [[
         local a = torch.FloatTensor(3000, 3000):fill(1)
         print 'ready'
         while true do a:mm(a, a) end]]
   end)

   it('in a wait for a device', function()
      interrupt [[
         local a = torch.CudaTensor(3000, 3000):fill(1)
         local b = torch.CudaTensor(3000, 3000)
         print 'ready'
         for i = 1, 1000 do b:mm(a, a) end
         cutorch.synchronize()]]
   end)

   it('while it reads', function() interrupt "print 'ready' io.popen('sleep 99'):read()" end)
end)
