-- dpt.tensor.seeding: whether a script has chosen the seeds of generators.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local seeding = require 'dpt.tensor.seeding'

describe('dpt.tensor.seeding', function()
   local devices = math.min(2, cutorch.getDeviceCount())

   -- Asserts which seeds are chosen: of the default generator, of the devices', and of device 2's.
   local function are(host, device, second)
      assert.equal(host, seeding.isChosen(0))
      for i = 1, devices do
         if i == 2 then assert.equal(second or false, seeding.isChosen(2))
         else assert.equal(device, seeding.isChosen(i)) end
      end
   end

   before_each(function()
      torch.seed()
      cutorch.seedAll()
   end)

   it('is by chance until a script seeds', function()
      are(false, false)
      torch.manualSeed(torch.Generator(), 4)
      are(false, false)
      torch.manualSeed(torch._gen, 4) -- only the default generator
      are(true, false)
      torch.seed()
      are(false, false)
      torch.manualSeed(4)
      are(true, true, true)
   end)

   it('is the choice of a script that seeds a device', function()
      if devices < 2 then return pending 'there are no two devices' end
      cutorch.manualSeed(5, 2)
      are(false, false, true)
      cutorch.manualSeed(5)
      are(false, true, true)
      cutorch.seed(2)
      are(false, true, false)
      cutorch.manualSeedAll(6)
      are(false, true, true)
   end)

   it('is the choice of a script that sets a state, unless that state was random', function()
      local g = torch.Generator()
      torch.manualSeed(g, 7)
      local host, states = torch.getRNGState(), cutorch.getRNGStateAll()
      torch.manualSeed(7)
      torch.setRNGState(host)
      cutorch.setRNGStateAll(states)
      are(false, false)
      torch.setRNGState(torch.getRNGState(g))
      are(true, false)
      torch.manualSeed(8)
      host, states = torch.getRNGState(), cutorch.getRNGStateAll()
      torch.seed()
      cutorch.seedAll()
      torch.setRNGState(host)
      cutorch.setRNGStateAll(states)
      are(true, true, true)
   end)
end)
