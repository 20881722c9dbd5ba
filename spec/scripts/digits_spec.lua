-- examples/digits.lua: --recompute trains the same parameters, in less memory; --precision.
local read = require 'spec.support.read'
local run = require 'spec.support.run'

-- Returns the file that the example saves, the bytes live on the device, and its last line.
local function example(...)
   local name = os.tmpname()
   local words = {'--devices', '1', '--epochs', '1', '--width', '8', '--quiet', '--save', name, ...}
   local text = run.lua(("arg = {%s}\ndofile 'examples/digits.lua'"):format(
      "'" .. table.concat(words, "', '") .. "'"), {DPT_DEVICES = os.getenv 'DPT_DEVICES'})
   local parameters = read(name)
   os.remove(name)
   local rows, live = text:match '\n +1 +(%d+) +(%d+) +%d+\n'
   assert.equal('1500', rows, text)
   return parameters, tonumber(live), text:match 'test accuracy: %d%.%d+\n$'
end

-- Returns the parameters that the example saves.
local function trained(...)
   local values = {}
   for line in example(...):gmatch '[^\n]+' do values[#values + 1] = tonumber(line) end
   assert.equal(table.remove(values, 1), #values)
   return torch.FloatTensor(values)
end

describe('examples/digits.lua', function()
   it('trains the same parameters with --recompute, in less memory', function()
      local plain, before, accuracy = example()
      local parameters, live, same = example '--recompute'
      assert.equal(plain, parameters)
      assert.equal(accuracy, same)
      assert.is_true(live < before / 2, live)
   end)

   it('trains parameters close to those in float with --precision', function()
      local wanted = trained()
      for precision, limit in pairs{bfloat16 = 0.05, half = 0.01} do
         local got = trained('--precision', precision)
         assert.equal(wanted:nElement(), got:nElement())
         local distance = (wanted - got):norm() / wanted:norm()
         assert.is_true(distance > 0 and distance < limit, distance)
      end
   end)
end)
