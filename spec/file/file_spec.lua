-- dpt.file: Torch7's files, both ways; hostile ones give sentences.
local dpt = require 'dpt'
local torch = dpt.torch
local folder = (debug.getinfo(1, 'S').source:match '^@(.*)/[^/]*$') .. '/../golden/t7/'

local function trip(value, mode) return torch.deserialize(torch.serialize(value, mode), mode) end

local function bytesOf(path)
   local file = assert(io.open(path, 'rb'))
   local bytes = file:read '*a'
   file:close()
   return bytes
end

local TYPES = {'Byte', 'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double', 'Cuda',
   'CudaByte', 'CudaLong', 'CudaHalf', 'CudaDouble'}

describe('files', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   for _, mode in ipairs{'binary', 'ascii'} do
      it('keep tensors of every type, views and sharing: ' .. mode, function()
         for _, name in ipairs(TYPES) do
            local x = torch.range(1, 12):resize(3, 4):type('torch.' .. name .. 'Tensor')
            local u = trip({x, x:t(), x:narrow(2, 2, 2), x, x:storage()}, mode)
            assert.equal('torch.' .. name .. 'Tensor', torch.type(u[1]))
            assert.equal(u[1], u[4])
            assert.equal(0, (u[2]:double() - x:t():double()):abs():max())
            u[5]:fill(3)
            assert.equal(12 * 3, u[2]:double():sum())
            assert.equal(6 * 3, u[3]:double():sum())
         end
      end)
      it('keep values, cycles and long integers: ' .. mode, function()
         local t = {1, -0.5, 'a\nb\0', true, false, [2.5] = {}, s = torch.LongStorage(1)}
         t.me = t
         local s = torch.LongStorage{9007199254740993LL, -9007199254740995LL}
         local u = trip({t, s}, mode)
         assert.equal(u[1], u[1].me)
         assert.equal('a\nb\0', u[1][3])
         assert.is_true(u[2]:data()[0] == 9007199254740993LL)
         assert.is_true(u[2]:data()[1] == -9007199254740995LL)
         assert.equal(1 / 0, trip(1 / 0, mode))
         local nan = trip(0 / 0, mode)
         assert.is_true(nan ~= nan)
      end)
   end

   it('write and read numbers as scalars, tables and storages', function()
      for _, mode in ipairs{'binary', 'ascii'} do
         for _, name in ipairs{'Byte', 'Char', 'Short', 'Int', 'Long', 'Float', 'Double'} do
            local f = torch.MemoryFile()
            f[mode](f)
            f['write' .. name](f, 7)
            assert.equal(2, f['write' .. name](f, {65, 66}))
            f['write' .. name](f, torch[name .. 'Storage']{67})
            f:seek(1)
            assert.equal(7, f['read' .. name](f))
            assert.same({65, 66}, f['read' .. name](f, 2):totable())
            local s = torch[name .. 'Storage'](1)
            assert.equal(1, f['read' .. name](f, s))
            assert.equal(67, s[1])
         end
      end
   end)

   it('limit nesting, and are usable after it', function()
      local t = {}
      for _ = 1, 5000 do t = {t} end
      local f = torch.MemoryFile()
      assert.error_matches(function() f:writeObject(t) end, 'nested')
      assert.equal(4, trip(4))
      local deep = {}
      for i = 1, 100000 do deep[i] = '3\n' .. i .. '\n1\n1\n1\n' end
      assert.error_matches(function() torch.deserialize(table.concat(deep), 'ascii') end, 'nested')
   end)

   it('take no memory that the file does not fill', function()
      local bytes = torch.serialize(torch.DoubleStorage(2))
      local first = #bytes - 23 -- the size stands before two Doubles
      local huge = bytes:sub(1, first - 1) .. '\0\0\0\0\0\1\0\0' .. bytes:sub(first + 8)
      assert.error_matches(function() torch.deserialize(huge) end, 'left in the file')
      local f = torch.PipeFile("printf '\\1\\2\\3'"):binary():quiet()
      assert.equal(3, f:readByte(2 ^ 40):size())
      assert.is_true(f:hasError())
   end)

   it('that are damaged give sentences', function()
      local seed = tonumber(os.getenv 'DPT_SEED') or os.time()
      print('file_spec: DPT_SEED=' .. seed)
      math.randomseed(seed)
      local fixtures = {}
      for _, name in ipairs(dpt.paths.dir(folder)) do
         if name:find '%.t7$' then
            fixtures[#fixtures + 1] = {bytesOf(folder .. name), name:match '_(ascii)' or 'binary'}
         end
      end
      table.sort(fixtures, function(a, b) return a[1] < b[1] end)
      local refused = 0
      for _ = 1, 2000 do
         local bytes, mode = unpack(fixtures[math.random(#fixtures)])
         for _ = 1, math.random(3) do
            local at = math.random(#bytes)
            local c = string.char(({0, 255, 127, 128, 1, 8, 45, 57, math.random(0, 255)})[
               math.random(9)])
            bytes = math.random(10) == 1 and bytes:sub(1, at)
               or bytes:sub(1, at - 1) .. c .. bytes:sub(at + 1)
         end
         local file = assert(io.open(path, 'wb'))
         file:write(bytes)
         file:close()
         local ok, why = pcall(torch.load, path, mode)
         if not ok then
            refused = refused + 1
            assert.equal('string', type(why))
         end
      end
      assert.is_true(refused > 200 and refused < 2000)
   end)

   it('hold one replica of nn.DataParallelTable', function()
      local nn, cutorch = dpt.nn, dpt.cutorch
      local gpus = cutorch.getDeviceCount() > 1 and {1, 2} or {1}
      local net = nn.DataParallelTable(1, true):add(nn.Linear(3, 2):cuda(), gpus)
      local x = torch.CudaTensor(4, 3):fill(1)
      local y = net:forward(x):double()
      torch.save(path, net)
      local other = torch.load(path)
      assert.same(gpus, other.gpuAssignments)
      assert.equal(1, #other.modules)
      assert.equal(0, (other:forward(x):double() - y):abs():max())
   end)
end)
