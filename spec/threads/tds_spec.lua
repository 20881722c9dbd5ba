local dpt = require 'dpt'
local raises = require 'spec.support.raises'
local run = require 'spec.support.run'
local tds = require 'tds'
local torch = dpt.torch

describe('tds.Hash', function()
   it('holds numbers, strings, booleans, tensors and containers', function()
      local hash = tds.Hash()
      hash[1], hash.name, hash[true], hash[-0] = 2.5, 'x\0y', false, 'zero'
      hash.tensor, hash.inner = torch.range(1, 3), tds.Hash{deep = tds.Vec(7)}
      assert.equal(6, #hash)
      assert.equal(2.5, hash[1])
      assert.equal('x\0y', hash.name)
      assert.equal(false, hash[true])
      assert.equal('zero', hash[0])
      assert.equal(7, hash.inner.deep[1])
      assert.is_nil(hash.nothing)
      assert.equal('tds.Hash', torch.type(hash))
      hash.tensor:mul(2)
      assert.equal(12, hash.tensor:sum())
      hash.name = string.rep('long', 1000)
      assert.equal(4000, #hash.name)
   end)

   it('removes an entry by nil, also while iterating', function()
      local hash = tds.Hash()
      for i = 1, 300 do hash['key' .. i] = i end
      local n = 0
      for key, value in pairs(hash) do
         assert.equal('key' .. value, key)
         if value % 2 == 0 then hash[key] = nil end
         n = n + 1
      end
      assert.equal(300, n)
      assert.equal(150, #hash)
      hash.key2 = nil
      for i = 1, 300 do assert.equal(i % 2 == 1 and i or nil, hash['key' .. i]) end
      for i = 1, 300 do hash[i] = string.rep('k', i) end
      for key, value in pairs(hash) do
         assert.equal(type(key) == 'number' and ('k'):rep(key) or value, value)
      end
      assert.equal(450, #hash)
   end)

   it('is made from tables, also nested ones', function()
      local hash = tds.Hash{list = {1, 2, {3}}, map = {a = {b = 'c'}}, [5] = true}
      assert.equal(3, hash.list[3][1])
      assert.equal('tds.Vec', torch.type(hash.list))
      assert.equal('c', hash.map.a.b)
      raises('tds.Hash: got a number, wanted a table or nothing', function() tds.Hash(3) end)
   end)

   it('accepts containers as keys, by identity', function()
      local hash, key = tds.Hash(), tds.Vec(1)
      hash[key] = 'found'
      assert.equal('found', hash[key])
      assert.is_nil(hash[tds.Vec(1)])
      hash.key = key
      assert.is_true(hash.key == key and hash.key ~= tds.Vec(1))
   end)

   it('rejects unsupported values', function()
      local hash = tds.Hash()
      raises('tds.Hash: a function cannot be a value: wanted a number, string, boolean, tensor,'
         .. ' tds.Hash or tds.Vec', function() hash.f = print end)
      raises('tds.Hash: a nil cannot be a key: wanted a number, string, boolean, tds.Hash or'
         .. ' tds.Vec', function() hash[nil] = 1 end)
      raises('tds.Hash: a key is NaN', function() hash[0 / 0] = 1 end)
      raises('tds.Hash: a torch.DoubleTensor cannot be a key: wanted a number, string, boolean,'
         .. ' tds.Hash or tds.Vec', function() hash[torch.Tensor(1)] = 1 end)
      assert.equal(0, #hash)
   end)

   it('prints its entries, at most 20', function()
      local pair = tds.Hash{a = 1}
      pair.b = tds.Vec(1, 2, 3)
      assert.equal('tds.Hash[2]{\na : 1\nb : tds.Vec[3]{\n        1 : 1\n        2 : 2\n'
         .. '        3 : 3\n    }\n}', tostring(pair))
      local long = ('x'):rep(200)
      assert.matches('\na' .. (' '):rep(199) .. ' : 2\n', tostring(tds.Hash{[long] = 1, a = 2}), 1,
         true)
      local many = tds.Hash()
      for i = 1, 30 do many[i] = i end
      assert.matches('\n20 : 20\n%.%.%.\n}$', tostring(many))
   end)
end)

describe('tds.Vec', function()
   it('is a list with nils', function()
      local vec = tds.Vec{1, 'two', {3}}
      assert.equal(3, #vec)
      vec[5] = true
      assert.equal(5, #vec)
      assert.is_nil(vec[4])
      assert.is_nil(vec[6])
      vec[5] = nil
      assert.equal(5, #vec)
      local seen = 0
      for i, value in ipairs(tds.Vec(4, 5, 6)) do seen = seen + i * value end
      for i, value in pairs(tds.Vec(4, 5, 6)) do seen = seen + i * value end
      assert.equal(2 * (4 + 10 + 18), seen)
      assert.equal('tds.Vec[2]{\n    1 : a\n    2 : b\n}', tostring(tds.Vec('a', 'b')))
   end)

   it('inserts, removes, resizes, concatenates and sorts', function()
      local vec = tds.Vec(3, 1, 2)
      vec:insert(4)
      vec:insert(1, 0)
      assert.equal('0,3,1,2,4', vec:concat(','))
      vec:remove(2)
      vec:remove()
      assert.equal('012', vec:concat())
      assert.equal('12', vec:concatstorage('', 2, 3):string())
      vec:sort(function(a, b) return a > b end)
      assert.equal('2 1 0', vec:concat ' ')
      vec:resize(1)
      assert.equal('2', vec:concat())
      vec:resize(3)
      assert.equal(3, #vec)
      vec:resize(0)
      vec:remove()
      assert.equal(0, #vec)
      vec:insert(3, 'x')
      assert.equal(3, #vec)
   end)

   it('requires integers from 1', function()
      local vec = tds.Vec()
      for _, key in ipairs{0, -1, 1.5, 1e300} do
         assert.has_error(function() vec[key] = 1 end)
         assert.has_error(function() return vec[key] end)
      end
      raises('tds.Vec: the index is 0, wanted a whole number from 1 on',
         function() vec[0] = 1 end)
      raises('tds.Vec: got the key push, wanted an index or the name of a method',
         function() vec:push(1) end)
   end)
end)

describe('tds', function()
   it('is saved and loaded, with shared parts and cycles', function()
      local hash = tds.Hash{list = {1, 2}, text = 'x'}
      hash.again, hash.self, hash.tensor = hash.list, hash, torch.range(1, 3)
      hash.holes = tds.Vec()
      hash.holes[3] = 'end'
      local copy = torch.deserialize(torch.serialize{hash, hash})
      assert.is_true(copy[1] == copy[2] and copy[1].self == copy[1])
      assert.is_true(copy[1].again == copy[1].list and copy[1] ~= hash)
      assert.equal('1 2', copy[1].list:concat ' ')
      assert.equal(6, copy[1].tensor:sum())
      assert.equal(3, #copy[1].holes)
      hash.self, copy[1].self = nil, nil
      local counter = tds.AtomicCounter()
      counter:set(41)
      assert.equal(41, torch.deserialize(torch.serialize(counter)):inc())
      assert.equal('tds.AtomicCounter=41', tostring(counter))
   end)

   it('is one for the threads of a pool', function()
      local pool = dpt.threads.Threads(3, function() require 'tds' end)
      local hash, vec, counter = tds.Hash(), tds.Vec(), tds.AtomicCounter()
      vec:resize(60)
      for i = 1, 60 do
         pool:addjob(function()
            counter:inc()
            vec[i] = tostring(i)
            for k = 1, 20 do
               local key = 'key' .. (i + k) % 7
               hash[key] = string.rep('v', i * k)
               local value = hash[key]
               assert(value == nil or value == string.rep('v', #value))
               if k % 5 == 0 then hash[key] = nil end
            end
            for _, value in pairs(hash) do assert(#value > 0) end
            return vec
         end, function(back) assert(back == vec) end)
      end
      pool:synchronize()
      pool:terminate()
      assert.equal(60, counter:get())
      for i = 1, 60 do assert.equal(tostring(i), vec[i]) end
   end)

   it('ends chains of containers however long they are', function()
      local chain = tds.Hash()
      for _ = 1, 50000 do
         local link = tds.Hash()
         link.next, chain = chain, link
      end
      assert.equal('tds.Hash', torch.type(chain.next.next))
   end)

   it('frees its memory #noasan', function()
      local before = tonumber(run.lua [[
         require 'dpt'
         local tds = require 'tds'
         local function used()
            collectgarbage() collectgarbage()
            for line in io.lines '/proc/self/statm' do return tonumber(line:match '%d+ (%d+)') end
         end
         local function fill()
            local hash = tds.Hash()
            for i = 1, 2000 do hash[i] = string.rep('x', 1000) end
            for i = 1, 2000 do hash[i] = tds.Vec(string.rep('y', 1000)) end
            hash = nil
            collectgarbage() collectgarbage()
         end
         for _ = 1, 3 do fill() end
         local first = used()
         for _ = 1, 20 do fill() end
         print(used() - first)
      ]])
      assert.is_true(before * 4096 < 20 * 4e6 / 10, before) -- of the bytes of all fills
   end)
end)
