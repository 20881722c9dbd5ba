-- dpt.parallel.dispatch.rendezvous: replicas exchange values during a pass;
-- spec/nn/SyncBatchNormalization_spec.lua tests it with threads.
local dpt = require 'dpt'
local cutorch, nn = dpt.cutorch, dpt.nn
local rendezvous = require 'dpt.parallel.dispatch.rendezvous'
local random = require 'dpt.parallel.dispatch.random'

describe('dpt.parallel.dispatch.rendezvous', function()
   -- Returns a stand-in for a dispatcher of n replicas, all in this Lua state.
   local function dispatcher(n)
      local replicas = {}
      for i = 1, n do replicas[i] = {} end
      return {
         dpt = {gpuAssignments = {1, 1, 1}},
         inReplica = function(_, i, message) return ('replica %d: %s'):format(i, message) end,
         perform = function(_, count, f, argumentsOf, ...)
            local list = {}
            for i = 1, count do list[i] = f(replicas[i], i, argumentsOf(i, ...)) end
            return list
         end,
      }
   end

   -- The answer has the values as decimal digits, in the order of replicas.
   package.loaded['spec.answers'] = {sum = function(values)
      local sum, list = 0, {}
      for _, value in ipairs(values) do sum = sum * 10 + value end
      for i = 1, #values do list[i] = sum end
      return list
   end}
   local function ask(value) return rendezvous.exchange('spec.answers', 'sum', value) end
   local function same(_, ...) return ... end

   it('returns the same answer to all replicas of a pass, at each exchange', function()
      local results = rendezvous.run(dispatcher(3), 3, function(_, i)
         assert.equal(3, rendezvous.replicas())
         return ask(i) + 1000 * ask(4 - i)
      end, same)
      assert.same({321123, 321123, 321123}, results)
      assert.equal(0, rendezvous.replicas())
      assert.same({}, rendezvous.run(dispatcher(3), 0, error, same))
   end)

   it('raises if one replica does not take part, and ends the others', function()
      local ended = 0
      local function pass(_, i)
         local ok, why = pcall(ask, i)
         ended = ended + 1
         error(ok or why, 0)
      end
      local function run(f)
         local ok, why = pcall(rendezvous.run, dispatcher(3), 3, f, same)
         assert.is_false(ok)
         return why
      end
      assert.matches('replica 1: replica 1 waits for the others, of which replica 2 has ended',
         run(function(_, i) return i == 2 and 5 or pass(_, i) end), 1, true)
      assert.equal(2, ended)
      local why = run(function(_, i) return i == 3 and error('on purpose', 0) or pass(_, i) end)
      assert.matches('^replica 3: on purpose', why)
      assert.is_nil(why:find('waits', 1, true))
      assert.equal(4, ended)
      package.loaded['spec.answers'].wrong = function() error('no answer', 0) end
      why = run(function() return rendezvous.exchange('spec.answers', 'wrong', 1) end)
      assert.matches('replica 2: no answer', why, 1, true)
      assert.equal(0, rendezvous.replicas())
   end)

   it("keeps each replica's draws independent", function()
      if cutorch.getDeviceCount() == 0 then return pending 'there is no device' end
      local function draw(meets)
         cutorch.manualSeed(3)
         local passes, list = random.passes(1, {0, 2, 4}, 2), {}
         local function pass(_, i)
            return random.within(passes[i], function()
               assert.equal(i, (random.running()))
               local first = torch.CudaTensor(2, 2):uniform()
               if meets then ask(i) end
               assert.equal(i, (random.running()))
               list[i] = {first:totable(), torch.CudaTensor(2, 2):uniform():totable()}
            end)
         end
         if meets then rendezvous.run(dispatcher(2), 2, pass, same)
         else for i = 1, 2 do pass(nil, i) end end
         assert.is_nil(random.running())
         list[3] = torch.CudaTensor(3):uniform():totable()
         return list
      end
      assert.same(draw(false), draw(true))
   end)

   it('is used by networks with modules that declare it', function()
      local net = nn.Sequential():add(nn.Linear(3, 2))
      assert.is_false(rendezvous.isUsedBy(net))
      assert.is_true(rendezvous.isUsedBy(net:add(nn.SyncBatchNormalization(2))))
      assert.is_false(rendezvous.isUsedBy(nn.MSECriterion()))
   end)
end)
