-- dpt.file.functions: functions in files, with their upvalues.
local dpt = require 'dpt'
local torch = dpt.torch

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
         assert.error_matches(function() object[1](3) end, 'a function was left out when its file'
            .. ' was loaded, .* load it with {functions = true}')
         local file = torch.MemoryFile()
         assert.error_matches(function() file:writeObject(object) end, 'would be lost')
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

   it('keep upvalues, also shared ones and themselves (D7)', function()
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
