-- Both LuaJITs: the system's, and the one with Lua 5.2's features that scripts/luajit builds.
local function output(command)
   local pipe = assert(io.popen(command .. ' 2>&1'))
   local text = pipe:read '*a'
   pipe:close()
   return text
end

local program = [[
   local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh())
   local net2 = nn.Sequential()
   local pool = require('threads').Threads(1, function() return #nn.Sequential():add(nn.Tanh()) end)
   local a = torch.rand(2, 2)
   print(#net, #net2, (#a)[2] == 2, #torch.FloatStorage(3), type(net:forward(a)))
]]

--- Returns the output of `dpt -e` with that LuaJIT.
local function under(luajit)
   local file = os.tmpname()
   local handle = assert(io.open(file, 'w'))
   handle:write(program)
   handle:close()
   local text = output(("DPT_LUAJIT='%s' scripts/dpt %s"):format(luajit, file))
   os.remove(file)
   return text
end

describe('LuaJIT', function()
   local own = output 'scripts/luajit --where':match '^[^\n]*'

   it('with the features of Lua 5.2 is installed, and dpt runs scripts under it #hostonly',
      function()
      assert.truthy(own:find '/dpt/luajit$')
      assert.equal('', output 'scripts/luajit')
      assert.equal('', output 'scripts/luajit --check')
      assert.equal('1\n', output
         "env -u DPT_LUAJIT scripts/dpt -e 'print(#nn.Sequential():add(nn.Tanh()))'")
   end)

   it('with them returns the number of modules for #net #hostonly', function()
      assert.equal('2\t0\ttrue\t3\tuserdata\n', under(own))
   end)

   it('without them prints one line about it, and #net is 0', function()
      local text = under 'luajit'
      local line, rest = text:match '^(dpt: this LuaJIT lacks[^\n]*\n)(.*)$'
      assert.truthy(line and line:find('write net:size()', 1, true))
      assert.equal('0\t0\ttrue\t3\tuserdata\n', rest)
   end)

   it('is named by doctor', function()
      assert.truthy(output 'env -u DPT_LUAJIT scripts/dpt doctor':find(own, 1, true))
      local text = output 'DPT_LUAJIT=luajit scripts/dpt doctor'
      assert.truthy(text:find('so #net is 0: scripts/setup builds one with them', 1, true))
   end)

   it('with them runs some of the specs #hostonly', function()
      local text = output(own .. ' spec/support/busted.lua spec/class_spec.lua'
         .. ' spec/nn/Module_spec.lua spec/threads/init_spec.lua')
      assert.truthy(text:find(' 0 failures / 0 errors', 1, true), text)
   end)
end)

describe('what th brought', function()
   it("is available to scripts of dpt: Penlight's names", function()
      local text = output [[scripts/dpt -e 'print(path.basename "/a/b", tablex.size{1},
         stringx.strip " x ", List{1, 2}:len(), "%d!" % 5)']]
      assert.equal('b\t1\tx\t2\t5!\n', text)
      assert.equal('nil\n', output [[luajit -e 'require "dpt" print(rawget(_G, "tablex"))']])
   end)
end)
