-- dpt.file.object on arbitrary bytes: an error message or a value, never a crash, in bounded time
-- and memory.
--
-- With AddressSanitizer, this shows that reads stay in bounds.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local class = require 'dpt.class'
local spoiled = require 'spec.support.spoiled'
local torture = require 'spec.support.torture'
local random = math.random
describe('A file that is damaged', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   it('raises one error message or is read #devices2', function()
      local seed = tonumber(os.getenv 'DPT_SEED') or os.time()
      print('object_hostile_spec: DPT_SEED=' .. seed)
      math.randomseed(seed)
      local list, rejected, loaded, slowest = spoiled.fixtures(), 0, 0, 0
      local count = torture(100000)
      for i = 1, count do
         local bytes, mode = spoiled.one(random, list)
         local file = spoiled.open(bytes, mode, i % 2 == 0 and path or nil)
         if random(10) == 1 then file:referenced(false) end
         local begin = dpt.sys.clock()
         local ok, result = pcall(file.readObject, file)
         if ok then spoiled.touch(result) end
         slowest = math.max(slowest, dpt.sys.clock() - begin)
         file:close()
         if ok then
            loaded = loaded + 1
         else
            rejected = rejected + 1
            assert.equal('string', type(result))
         end
      end
      print(('object_hostile_spec: %d raise, %d load, slowest in %.0f ms'):format(rejected, loaded,
         slowest * 1e3))
      assert.is_true(rejected > count / 3 and loaded > count / 50)
      assert.equal(1, dpt.cutorch.getDevice())
   end)

   -- Returns a file that contains an object of a class with the given content.
   local function object(name, inside)
      local f = torch.MemoryFile():binary()
      f:writeInt(4)
      f:writeInt(1000)
      for _, text in ipairs{'V 1', name} do
         f:writeInt(#text)
         f:writeChar(torch.CharStorage():string(text))
      end
      for _, value in ipairs(inside) do f:writeObject(value) end
      return f:seek(1)
   end

   it('may name any class without a crash', function()
      local names = {'', 'nn', 'nn.', '.', 'nn.lib', 'nn.utils', 'optim.sgd', 'torch', 'io.popen',
         'torch.File', 'torch.DiskFile', 'torch.MemoryFile', 'torch.PipeFile', 'torch.save'}
      for name in pairs(nn) do names[#names + 1] = 'nn.' .. name end
      for name in pairs(class.classes) do names[#names + 1] = name end
      for _, name in ipairs(names) do
         for _, inside in ipairs{{}, {5}, {{}}, {{'x', weight = 5, modules = 7}}, {{1, 2}, {}},
            {{modules = {{}}, gpuAssignments = {1}}}} do
            local ok, result = pcall(torch.File.readObject, object(name, inside))
            assert.is_true(ok or type(result) == 'string')
         end
      end
      for _, name in ipairs{'torch.DiskFile', 'torch.PipeFile', 'torch.MemoryFile', 'torch.File'} do
         assert.error_matches(function() object(name, {{}}):readObject() end, '')
      end
      assert.error_matches(function() object('my.Class', {{}}):readObject() end,
         "class 'my.Class' is unknown")
   end)

   local function tensor(name, sizes, steps, first, n)
      local f = object('torch.' .. name .. 'Tensor', {})
      f:seekEnd()
      f:writeInt(#sizes)
      f:writeLong(sizes)
      f:writeLong(steps)
      f:writeLong(first)
      f:writeObject(torch[name .. 'Storage'](n))
      return f:seek(1)
   end

   it('cannot make a tensor exceed its storage', function()
      local huge = 4611686018427387904LL
      for _, name in ipairs{'Float', 'Long', 'Cuda'} do
         for _, bad in ipairs{{{4}, {1}, 1, 3}, {{2, 2}, {2, 1}, 2, 4}, {{3}, {1}, 0, 3},
            {{3}, {-1}, 3, 3}, {{-1}, {1}, 1, 3}, {{huge, 4}, {0, 0}, 1, 3}, {{2}, {huge}, 1, 3},
            {{3}, {1}, huge, 3}, {{huge, huge, huge, huge}, {huge, huge, huge, huge}, 1, 3},
            {{2, 2}, {huge, huge}, 1, 3}, {{2 ^ 31, 2 ^ 31}, {0, 0}, 1, 1}} do
            local f = tensor(name, unpack(bad))
            assert.error_matches(function() f:readObject() end, 'do not fit')
         end
         assert.equal(6, tensor(name, {2, 3}, {0, 1}, 1, 3):readObject():nElement())
         assert.equal(0, tensor(name, {2, 0}, {9, 9}, 1, 3):readObject():nElement())
      end
      local f = object('torch.FloatTensor', {})
      f:seekEnd()
      f:writeInt(13)
      assert.error_matches(function() f:seek(1):readObject() end, '13 dimensions')
   end)

   it('allocates no memory beyond its data', function()
      local bytes = torch.serialize(torch.DoubleStorage(2))
      local first = #bytes - 23 -- the size precedes two Doubles
      for _, size in ipairs{'\0\0\0\0\0\1\0\0', '\255\255\255\255\255\255\255\127',
         '\0\0\0\0\0\0\0\128', '\0\0\0\0\0\0\0\32', '\3\0\0\0\0\0\0\0'} do
         local huge = bytes:sub(1, first - 1) .. size .. bytes:sub(first + 8)
         assert.has_error(function() torch.deserialize(huge) end)
         local f = torch.PipeFile(('printf %q'):format(huge:gsub('.', function(c)
            return ('\\%03o'):format(c:byte())
         end))):binary()
         assert.has_error(function() f:readObject() end)
         f:close()
      end
      local f = torch.PipeFile("printf '\\1\\2\\3'"):binary():quiet()
      assert.equal(3, f:readByte(2 ^ 40):size())
      assert.is_true(f:hasError())
      f:close()
   end)

   it('cannot nest endlessly, and the file is usable after it', function()
      local t = {}
      for _ = 1, 100000 do t = {t} end
      local f = torch.MemoryFile()
      assert.error_matches(function() f:writeObject(t) end, 'nested')
      f:seek(1)
      f:writeObject(4)
      assert.equal(4, f:seek(1):readObject())
      local deep = {}
      for i = 1, 100000 do deep[i] = '3\n' .. i .. '\n1\n1\n1\n' end
      assert.error_matches(function() torch.deserialize(table.concat(deep), 'ascii') end, 'nested')
      -- also with a deep call stack
      local function inside(n)
         if n > 0 then return (inside(n - 1)) end
         return torch.deserialize(table.concat(deep), 'ascii')
      end
      for _, n in ipairs{1000, 5000, 20000} do
         assert.error_matches(function() inside(n) end, 'nested')
      end
      local shallow = {}
      for i = 1, 1000 do shallow = {shallow, i} end
      assert.equal(1000, torch.deserialize(torch.serialize(shallow))[2])
   end)

   it('nests deeper than a stack of Lua is, also in coroutines', function()
      local function through()
         local t, module = {}, nn.Identity()
         for i = 1, 5000 do
            t = {t, i}
            module = nn.Sequential():add(module)
         end
         local got, inner = unpack(torch.deserialize(torch.serialize{t, module}))
         for i = 5000, 1, -1 do
            assert.equal(i, got[2])
            got, inner = got[1], inner:get(1)
         end
         assert.equal('nn.Identity', torch.type(inner))
         t[2] = coroutine.create(print) -- at the first level and at the deepest writable one
         for _, value in ipairs{t, {{{coroutine.create(print)}}}} do
            assert.error_matches(function() torch.serialize(value) end, 'cannot be written')
         end
      end
      through()
      coroutine.wrap(through)()
   end)

   it('cannot put a network inside itself', function()
      local words = '4 1 3 V_3 20 nn.DataParallelTable 3 2 1 1 1 1 1 3 3 1 2 7 modules 3 4 1 1 1 4'
         .. ' 1'
      local file = words:gsub(' ', '\n'):gsub('_', ' ') .. '\n'
      assert.error_matches(function() torch.deserialize(file, 'ascii') end,
         'nn.DataParallelTable: the file holds it inside itself')
      local one = nn.DataParallelTable(1):add(nn.Linear(2, 1):cuda(), {1})
      one.modules[1] = one
      assert.error_matches(function() one:parameters() end, 'stack overflow')
   end)
end)
