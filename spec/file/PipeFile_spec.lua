-- torch.PipeFile: the output or the input of a command.
local dpt = require 'dpt'
local torch = dpt.torch

describe('torch.PipeFile', function()
   local path
   before_each(function() path = os.tmpname() end)
   after_each(function() os.remove(path) end)

   it('reads the output of a command or writes its input', function()
      local f = torch.PipeFile('printf "12 13\\nline\\n"')
      assert.same({12, 13}, f:readInt(2):totable())
      assert.equal('line', f:readString '*l')
      assert.error_matches(function() f:seek(1) end, 'pipe')
      f:close()
      f = torch.PipeFile('cat > ' .. path, 'w')
      f:writeObject{1, torch.ones(3)}
      f:close()
      assert.equal(3, torch.load(path, 'ascii')[2]:sum())
      f = torch.PipeFile('cat ' .. path)
      assert.equal(3, f:readObject()[2]:sum())
      f:close()
      for _, mode in ipairs{'r', 'w'} do -- how the command ends is its own affair
         f = torch.PipeFile('exit 3', mode)
         assert.equal(f, f:close())
         assert.equal('torch.PipeFile on <exit 3> [status: closed -- mode '
            .. (mode == 'r' and 'r ' or ' w') .. ']', tostring(f))
      end
      assert.error_matches(function() torch.PipeFile('cat', 'rw') end, "'r' or 'w'")
   end)

   it('rejects what is no command', function()
      assert.error_matches(function() torch.PipeFile(7) end, 'torch.PipeFile')
   end)
end)
