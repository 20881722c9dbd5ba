-- dpt.parallel.dispatch.devices: checks lists of devices for replicas.
local dpt = require 'dpt'
local cutorch = dpt.cutorch
local devices = require 'dpt.parallel.dispatch.devices'

describe('dpt.parallel.dispatch.devices', function()
   local count = cutorch.getDeviceCount()

   it('lists all devices', function()
      local list = devices.all()
      assert.equal(count, #list)
      for i, device in ipairs(list) do assert.equal(i, device) end
   end)

   it('returns nil and the list of new devices for a number or a list', function()
      assert.same({nil, {1}}, {devices.check({}, 1)})
      local more = {count}
      assert.equal(more, select(2, devices.check({}, more)))
   end)

   it('returns the fault of other devices', function()
      for wanted, more in pairs{
         ['wants a device number or a table of them as argument 2, got string'] = 'one',
         ['wants a device number or a table of them as argument 2, got table'] = {},
         [('got device %d as entry 1 of argument 2, wanted 1 to %d'):format(count + 1, count)] =
            count + 1,
         [('got device 1.5 as entry 1 of argument 2, wanted 1 to %d'):format(count)] = {1.5},
         [('got device x as entry 2 of argument 2, wanted 1 to %d'):format(count)] = {1, 'x'},
         ['got device 1 twice'] = {1, 1},
      } do
         assert.equal(wanted, (devices.check({}, more)))
      end
      assert.equal('got device 1 twice', (devices.check({1}, {1})))
   end)
end)
