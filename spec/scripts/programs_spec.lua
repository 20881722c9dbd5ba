-- scripts/programs: its command line. Running it clones the programs themselves.
local paths = require('dpt').paths

local root = paths.dirname(paths.dirname(paths.dirname(paths.thisfile())))

local function run(words)
   local pipe = io.popen(("'%s/scripts/programs' %s 2>&1; echo \" status $?\""):format(root, words))
   local output, status = pipe:read('*a'):match '^(.*) status (%d+)\n$'
   pipe:close()
   return output, tonumber(status)
end

describe('scripts/programs #noasan #hostonly', function()
   it('names the required contents of its folder', function()
      local text, status = run '--help'
      assert.equal(0, status)
      assert.truthy(text:find('fb.resnet.torch  char-rnn  torch-rnn  OpenNMT', 1, true))
      text, status = run ''
      assert.equal(2, status)
      assert.truthy(text:find('usage: scripts/programs', 1, true))
   end)

   it('names the clone that is missing', function()
      local folder = os.tmpname()
      os.remove(folder)
      assert(paths.mkdir(folder))
      local text, status = run(folder)
      paths.rmall(folder, 'yes')
      assert.equal(2, status)
      assert.equal(('programs: %s/fb.resnet.torch is not a git clone\n'):format(folder), text)
   end)
end)
