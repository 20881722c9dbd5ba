--- examples/char_lm.lua: its output on one device and two, and the files that it saves.
local run = require 'spec.support.run'
local most = math.min(2, require('dpt').cutorch.getDeviceCount())

local function example(devices, ...)
   local words = {'--devices', tostring(devices), '--hidden', '24', '--batch', '8', ...}
   local text = run.lua(("arg = {%s}\ndofile 'examples/char_lm.lua'"):format(
      "'" .. table.concat(words, "', '") .. "'"), {DPT_DEVICES = os.getenv 'DPT_DEVICES'})
   local curve = {}
   for training, validation in text:gmatch 'training ([%d.]+), validation ([%d.]+) bits' do
      table.insert(curve, tonumber(training))
      table.insert(curve, tonumber(validation))
   end
   return curve, text, tonumber(text:match 'validation bits per character: (%d%.%d%d%d)\n$')
end

describe('examples/char_lm.lua', function()
   it('learns the same on two devices as on one, to 1e-3', function()
      local one, text, last = example(1, '--epochs', '3', '--sample', '40')
      assert.equal(6, #one, text)
      assert.is_true(last < 4 and last < one[2], text)
      local two = example(most, '--epochs', '3', '--sample', '0')
      for i, bits in ipairs(one) do assert.near(bits, two[i], 1e-3) end
   end)

   it('resumes from its checkpoint', function()
      local name = os.tmpname()
      finally(function() os.remove(name) end)
      local _, text, saved = example(most, '--epochs', '1', '--save', name, '--sample', '0')
      assert.is_true(saved ~= nil, text)
      local curve, again = example(1, '--epochs', '1', '--load', name, '--lr', '0', '--sample', '0')
      assert.near(saved, curve[2], 1e-3, again)
   end)

   it('learns in bfloat16 what it learns in float, and its checkpoint is one of floats', function()
      local name = os.tmpname()
      finally(function() os.remove(name) end)
      local wanted = example(most, '--epochs', '1', '--sample', '0')
      local got, text = example(most, '--epochs', '1', '--precision', 'bfloat16', '--save', name,
         '--sample', '10')
      assert.equal(2, #got, text)
      assert.near(wanted[2], got[2], 0.02)
      assert.is_true(wanted[1] ~= got[1] or wanted[2] ~= got[2])
      assert.equal('torch.CudaTensor', torch.load(name).net:get(1).weight:type())
      for _, precision in ipairs{'float', 'bfloat16'} do
         local curve, again = example(1, '--epochs', '1', '--load', name, '--lr', '0', '--sample',
            '0', '--precision', precision)
         assert.near(got[2], curve[2], 0.01, again)
      end
   end)
end)
