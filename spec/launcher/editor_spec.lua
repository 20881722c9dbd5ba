-- The location of the prompt's history; spec/support/prompt.lua tests the terminal.
local run = require 'spec.support.run'

describe('The editor of lines', function()
   it('stores the history where the environment says, otherwise in the state folder', function()
      local function place(environment)
         return run.lua("print(require('dpt.launcher.editor').historyFile())", environment)
      end
      assert.equal('/a/b\n', place{DPT_HISTORY = '/a/b'})
      assert.equal('nil\n', place{DPT_HISTORY = ''})
      assert.equal('/s/dpt/history\n', place{XDG_STATE_HOME = '/s', HOME = '/h'})
      assert.equal('/h/.local/state/dpt/history\n', place{XDG_STATE_HOME = '', HOME = '/h'})
   end)

   it('silently stores no history if the folder cannot be created', function()
      local text = run.lua("print(type(require('dpt.launcher.editor').open()))",
         {XDG_STATE_HOME = '', HOME = '/proc/none'})
      assert.equal('boolean\n', text)
   end)
end)
