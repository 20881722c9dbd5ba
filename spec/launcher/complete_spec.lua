-- Completion of the word before the cursor.
local dpt = require 'dpt'
local complete = require 'dpt.launcher.complete'
local folder = require 'spec.support.folder'

local function words(before, text) return table.concat(complete.candidates(before, text), ' ') end

describe('Completion', function()
   it('lists the names of a package after a dot', function()
      assert.equal('nn.LogSigmoid nn.LogSoftMax', words('net = ', 'nn.LogS'))
      assert.equal('nn.SeqLSTM', words('', 'nn.SeqL')) -- not a field of nn before its first use
      assert.equal('torch.rand torch.randn torch.random torch.randperm', words('(', 'torch.rand'))
      assert.equal('', words('', 'torch.nosuch.x'))
      assert.equal('', words('', 'nosuch.x'))
   end)

   it('lists the methods of an object after a colon, including inherited ones', function()
      _G.completed = dpt.nn.Linear(2, 3)
      assert.equal('completed:updateAddBuffer', words('', 'completed:updateA'))
      assert.equal('completed:forward', words('x = ', 'completed:forw'))
      assert.equal('completed.weight', words('', 'completed.wei'))
      assert.equal('', words('', 'completed:wei'))
      assert.equal('completed.weight:narrow', words('', 'completed.weight:narr'))
      _G.completed = nil
   end)

   it('lists globals and keywords, names that begin with _ only on request', function()
      assert.equal('repeat require return', words('', 're'))
      assert.equal('nn.Linear.__typename', words('', 'nn.Linear.__typ'))
      assert.is_nil(words('', 'nn.'):find '__')
   end)

   it('lists files in a string and after $', function()
      folder(function()
         assert(io.open('one.t7', 'w')):close()
         assert(io.open("two'.lua", 'w')):close()
         assert.equal('one.t7', words("torch.load './", 'o'))
         assert.equal('one.t7', words("torch.load '", 'o'))
         assert.equal("one.t7 two'.lua", words('torch.load("./', ''))
         assert.equal('or', words("x = 'closed' .. ", 'or'))
         assert.equal('one.t7', words('$ ls ./', 'on'))
      end)
   end)

   it('returns the common prefix of words', function()
      assert.equal('nn.LogS', complete.common{'nn.LogSigmoid', 'nn.LogSoftMax'})
      assert.equal('', complete.common{'a', 'b'})
   end)
end)
