-- dpt.parallel.dispatch.worker: a replica in a worker's Lua state.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local Pool = require 'dpt.threads.pool'
local worker = require 'dpt.parallel.dispatch.worker'
local settings = require 'dpt.parallel.dispatch.state_settings'

describe('dpt.parallel.dispatch.worker', function()
   local pool
   setup(function() pool = Pool.new(1) end)
   teardown(function() pool:close() end)

   local function run(f, ...)
      local values, message = pool:receive(pool:send(1, f, ...))
      if not values then error(message, 0) end
      return values[1]
   end

   it('makes a copy of replica 1 on its device, and runs functions with it #devices2', function()
      cutorch.setDevice(1)
      local net = nn.Linear(3, 2):cuda()
      run(worker.make, nil, 2, 2, net)
      local got = run(worker.run, nil, function(module, i, extra)
         return {i, require('cutorch').getDevice(), module.weight:getDevice(),
            module.weight:sum(), extra}
      end, 'extra')
      assert.same({2, 2, 2, net.weight:sum(), 'extra'}, got)
      assert.equal(1, net.weight:getDevice())
   end)

   it('has the settings of the caller before it calls', function()
      local before = torch.getdefaulttensortype()
      finally(function() torch.setdefaulttensortype(before) end)
      torch.setdefaulttensortype 'torch.FloatTensor'
      run(worker.make, settings.get(), 1, 1, nn.Identity())
      local function default() return require('torch').getdefaulttensortype() end
      assert.equal('torch.FloatTensor', run(worker.run, nil, default))
      torch.setdefaulttensortype 'torch.DoubleTensor'
      assert.equal('torch.FloatTensor', run(worker.run, nil, default))
      assert.equal('torch.DoubleTensor', run(worker.run, settings.get(), default))
   end)
end)
