-- torch.PipeFile: the output or input of a command.
local dpt = require 'dpt'
local torch = dpt.torch
local read = require 'spec.support.read'
local run = require 'spec.support.run'

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
      for _, mode in ipairs{'r', 'w'} do -- the exit status of the command does not matter
         f = torch.PipeFile('exit 3', mode)
         assert.equal(f, f:close())
         assert.equal('torch.PipeFile on <exit 3> [status: closed -- mode '
            .. (mode == 'r' and 'r ' or ' w') .. ']', tostring(f))
      end
      assert.error_matches(function() torch.PipeFile('cat', 'rw') end, "'r' or 'w'")
   end)

   it('raises if its program has ended, and no signal ends the process', function()
      local text = run.ended [[
         local dpt = require 'dpt'
         local torch, path = dpt.torch, os.tmpname()
         local write = io.write
         local function try(f, ...)
            local ok, why = pcall(f, ...)
            write(tostring(ok), ' ', (tostring(why):gsub('^%S-:%d+: ', ''):gsub(path, '')), '\n')
         end
         local function ended()
            local file = torch.PipeFile('exec true', 'w')
            os.execute 'sleep 0.1'
            return file
         end
         local file = ended()
         try(file.writeString, file, 'one')
         try(file.writeObject, file, {'one'})
         try(file.writeObject, file, {torch.ones(30000), coroutine.create(print)})
         try(function() return file:synchronize():close():isOpened() end)
         file = ended():quiet()
         write(file:writeString 'one', ' ', tostring(file:hasError()), '\n')
         file:writeObject{'one'}
         io.popen('true'):close() -- flushes all files
         file = ended():quiet():writeObject{'one'} -- is collected, not closed
         file = nil
         collectgarbage()
         collectgarbage()
         -- the same of a named pipe whose reader goes at once
         local name = path .. '.png'
         local function fifo(open)
            os.execute(('rm -f %s; mkfifo %s; (exec <%s) &'):format(name, name, name))
            local result = open(name)
            os.execute 'sleep 0.1'
            return result
         end
         local disk = fifo(function() return torch.DiskFile(name, 'w') end)
         try(disk.writeInt, disk, 1)
         local logger = fifo(dpt.optim.Logger)
         try(logger.add, logger, {1})
         local log = fifo(function() return io.open(name, 'w') end)
         log:setvbuf 'no'
         local cmd = torch.CmdLine()
         cmd:silent()
         try(cmd.log, cmd, log)
         try(fifo, function() dpt.nn.safetensors.save(name, {a = torch.zeros(100000)}) end)
         try(fifo, function() torch.save(name, torch.zeros(100000)) end)
         try(fifo, function() require('image').save(name, torch.rand(3, 300, 300)) end)
         os.execute(('rm -f %s %s'):format(name, path))
         -- the signal is neither blocked nor pending afterwards
         for line in io.lines '/proc/thread-self/status' do
            local name, bits = line:match '^(S%a+Pnd):%s+%x+(%x%x%x%x)$'
            if not name then name, bits = line:match '^(SigBlk):%s+%x+(%x%x%x%x)$' end
            if name then write(name, ' ', bit.band(tonumber(bits, 16), 4096), '\n') end
         end]]
      local command = "false torch.PipeFile: cannot write to 'exec true': its program has ended"
         .. ' (broken pipe)\n'
      local pipe = ': cannot write .png: broken pipe\n'
      assert.equal(command .. command .. command .. 'true false\n3 true\n'
         .. 'false torch.DiskFile' .. pipe .. 'false optim.Logger' .. pipe
         .. 'false CmdLine:log: cannot write the log: broken pipe\n'
         .. 'false safetensors.save' .. pipe .. 'false torch.save' .. pipe
         .. 'false image.save' .. pipe .. 'SigPnd 0\nShdPnd 0\nSigBlk 0\n0', text)
   end)

   it('leaves the end of a program whose output nobody reads to the signal', function()
      local code = [[require 'dpt' io.stdout:setvbuf 'no'
         for i = 1, 1e5 do io.write 'a line\n' torch.DiskFile('/dev/null', 'w'):writeInt(1) end]]
      local program = os.tmpname()
      local file = io.open(program, 'w')
      file:write(code)
      file:close()
      local pipe = io.popen(('{ %s luajit %s; echo $? >%s; } 2>%s.err | head -n 1'):format(run.path,
         program, path, path))
      assert.equal('a line\n', pipe:read '*a')
      pipe:close()
      assert.equal('141\n', read(path))
      assert.is_nil(read(path .. '.err'):match 'pipe')
      os.remove(path .. '.err')
      os.remove(program)
   end)

   it('rejects values that are not commands', function()
      assert.error_matches(function() torch.PipeFile(7) end, 'torch.PipeFile')
   end)
end)
