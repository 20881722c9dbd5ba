-- dpt.file.functions: functions saved in files with their upvalues.
local dpt = require 'dpt'
local torch = dpt.torch
local run = require 'spec.support.run'

local function trip(value) return torch.deserialize(torch.serialize(value)) end

describe('Functions in files', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   it('are left out on disk and in pipes, and read from memory', function()
      local n = 2
      local function f(x) return x + n end
      torch.save(path, {f, 'rest'})
      local function without(object)
         assert.equal('rest', object[2])
         assert.error_matches(function() object[1](3) end, 'a function was left out when .*'
            .. path .. '.* was loaded, .* load it with {functions = true}')
         local file = torch.MemoryFile()
         assert.error_matches(function() file:writeObject(object) end, 'torch.MemoryFile: a'
            .. ' function that was left out when .*' .. path .. '.* was loaded cannot be copied')
      end
      without(torch.load(path))
      local pipe = torch.PipeFile('cat ' .. path):binary()
      without(pipe:readObject())
      pipe:close()
      local file = torch.DiskFile(path):binary()
      without(file:readObject())
      file:close()
      file = torch.DiskFile(path):binary():allowFunctions(true)
      assert.equal(5, file:readObject()[1](3))
      file:close()
      file = torch.DiskFile(path):binary():allowFunctions(false)
      assert.error_matches(function() file:readObject() end, 'holds a Lua function')
      file:close()
      assert.error_matches(function() torch.load(path, {functions = false}) end,
         'holds a Lua function')
      assert.equal(5, torch.load(path, 'binary', true, {functions = true})[1](3))
      assert.equal(5, torch.load(path, {functions = true})[1](3))
      local skipped = torch.load(path, {functions = 'skip'})[1]
      assert.error_matches(function() skipped(3) end, 'left out')
      assert.equal(5, trip(f)(3))
      for _, bad in ipairs{{functions = 'all'}, {functions = 1}, {function_ = true}} do
         assert.error_matches(function() torch.load(path, bad) end, 'wanted')
      end
   end)

   it('are saved unchanged if they were omitted when loading', function()
      local n, more = 0, {}
      local function up() n = n + 1 return n end
      local function down() n = n - 1 return n, more end
      more.up = up
      torch.save(path, {up, {down = down}, up})
      local left = torch.load(path)
      assert.equal(left[1], left[3])
      local other = path .. '.other'
      torch.save(other, function() return 'of the other' end)
      left.other = torch.load(other)
      for _ = 1, 2 do -- repeatedly
         for _, mode in ipairs{'binary', 'ascii'} do
            torch.save(path, left, mode)
            left = torch.load(path, mode)
         end
      end
      assert.error_matches(function() left[1]() end, 'left out when ' .. path .. ' was loaded')
      torch.save(other, {left, up}) -- together with a function of this program
      left = unpack(torch.load(other, {functions = true}))
      os.remove(other)
      assert.equal(left[1], left[3])
      assert.equal(string.dump(up), string.dump(left[1]))
      left[1]()
      assert.equal(2, left[3]())
      local value, upvalue = left[2].down()
      assert.equal(1, value)
      assert.equal(left[1], upvalue.up)
      assert.equal('of the other', left.other())
      assert.equal(0, n)
      local pipe = torch.PipeFile('cat >' .. path, 'w'):binary()
      torch.save(path .. '.x', up)
      pipe:writeObject(torch.load(path .. '.x')):close()
      os.remove(path .. '.x')
      assert.equal(1, torch.load(path, {functions = true})())
   end)

   it('are saved unchanged if an older file lacks the names of upvalues', function()
      local a, b = 4, 5
      local code = string.dump(function() return a + b end)
      for _, id in ipairs{6, 7} do
         local file = torch.DiskFile(path, 'w'):binary()
         file:writeInt(id)
         if id == 7 then file:writeInt(1000) end
         file:writeInt(#code)
         file:writeChar(torch.CharStorage():string(code))
         file:writeObject{10, 20}
         file:close()
         torch.save(path, torch.load(path))
         assert.equal(30, torch.load(path, {functions = true})())
      end
   end)

   it('are never loaded from memory if a file did not allow them', function()
      torch.save(path, {function() error 'it ran' end})
      local left = torch.load(path)
      for _, copy in ipairs{torch.serialize, torch.serializeToStorage} do
         assert.error_matches(function() copy(left) end, 'cannot be copied')
      end
      local file = torch.MemoryFile():binary():allowFunctions(false)
      assert.error_matches(function() file:writeObject(left) end, 'cannot be copied')
      assert.equal(left[1], require 'dpt.clone'(left)[1])
   end)

   it('are loaded by programs that run with DPT_FUNCTIONS=1', function()
      torch.save(path, {function() return 'ran' end})
      local code = ([[
         local torch, threads = require('dpt').torch, require 'threads'
         print(select(2, pcall(torch.load(%q)[1])):match '^ran$')
         print(pcall(torch.load, %q, {functions = false}))
         print(select(2, pcall(torch.load(%q, {functions = 'skip'})[1])):match 'left out')
         local pool = threads.Threads(1)
         pool:addjob(function() return pcall(torch.load(%q)[1]) end,
            function(_, text) print(text:match '^ran$') end)
         pool:synchronize()
      ]]):gsub('%%q', ('%q'):format(path))
      local text = run.lua(code, {DPT_FUNCTIONS = '1', DPT_DEVICES = 'none'})
      assert.matches('^ran\nfalse\t.*torch.load: ' .. path .. ' holds a Lua function.*\nleft out'
         .. '\nran\n$', text)
      text = run.lua(code, {DPT_FUNCTIONS = '0', DPT_DEVICES = 'none'})
      assert.matches('^nil\nfalse\t.*\nleft out\nnil\n$', text)
   end)

   it('keep upvalues, also shared and recursive ones (D7)', function()
      local n, t = 0, {}
      local function up() n = n + 1 return n, t end
      local function down() n = n - 1 return n, t end
      local function fact(k) return k == 0 and 1 or k * fact(k - 1) end
      local pair = trip{up = up, down = down, fact = fact, t = t}
      pair.up()
      pair.up()
      assert.equal(1, (pair.down()))
      assert.equal(select(2, pair.up()), select(2, pair.down()))
      assert.equal(pair.t, select(2, pair.up()))
      assert.equal(120, pair.fact(5))
      assert.equal(0, n)
      torch.save(path, {up, down})
      local a, b = unpack(torch.load(path, {functions = true}))
      a()
      assert.equal(0, (b()))
   end)

   it('are read from older files without names of upvalues, or without an index', function()
      local n, m = 4, 5
      local function f() return n + m end
      local code = string.dump(f)
      for _, id in ipairs{6, 7} do
         local file = torch.MemoryFile():binary()
         file:writeInt(id)
         if id == 7 then file:writeInt(1000) end
         file:writeInt(#code)
         file:writeChar(torch.CharStorage():string(code))
         file:writeObject{10, 20}
         assert.equal(30, file:seek(1):readObject()())
      end
   end)

   it('raise if they are of another build of Lua', function()
      local bytes = torch.serialize(function() return 1 end)
      local bad = bytes:gsub('\27LJ', '\27Lx')
      assert.error_matches(function() torch.deserialize(bad) end, 'another build of Lua')
      local file = torch.MemoryFile(torch.CharStorage():string(bad .. '\0'), 'r'):binary()
      file:allowFunctions 'skip'
      assert.equal('function', type(file:readObject()))
   end)
end)
