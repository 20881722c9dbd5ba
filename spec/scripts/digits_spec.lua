-- examples/digits.lua: --recompute trains the same parameters, in less memory.
local read = require 'spec.support.read'
local run = require 'spec.support.run'

describe('examples/digits.lua', function()
   it('trains the same parameters with --recompute, in less memory', function()
      local name = os.tmpname()
      finally(function() os.remove(name) end)
      local function example(...)
         local words = {'--devices', '1', '--epochs', '1', '--width', '8', '--quiet', '--save',
            name, ...}
         local text = run.lua(("arg = {%s}\ndofile 'examples/digits.lua'"):format(
            "'" .. table.concat(words, "', '") .. "'"), {DPT_DEVICES = os.getenv 'DPT_DEVICES'})
         local rows, live = text:match '\n +1 +(%d+) +(%d+) +%d+\n'
         assert.equal('1500', rows, text)
         return read(name), tonumber(live), text:match 'test accuracy: %d%.%d+\n$'
      end
      local plain, before, accuracy = example()
      local parameters, live, same = example '--recompute'
      assert.equal(plain, parameters)
      assert.equal(accuracy, same)
      assert.is_true(live < before / 2, live)
   end)
end)
