-- dpt.output: a failed write raises an error with the path, and the old file remains.
local dpt = require 'dpt'
local paths = dpt.paths
local output = require 'dpt.output'
local bad = require 'spec.support.raises'
local read = require 'spec.support.read'
local run = require 'spec.support.run'

describe('dpt.output', function()
   local folder, path
   before_each(function()
      folder = os.tmpname()
      os.remove(folder)
      paths.mkdir(folder)
      path = folder .. '/file'
   end)
   after_each(function() os.execute('rm -rf ' .. folder) end)

   local function names()
      local pipe = io.popen('ls -A ' .. folder)
      local text = pipe:read '*a'
      pipe:close()
      return text
   end

   it('replaces a file as a whole', function()
      output.replace('f', path, 'old')
      assert.equal('old', read(path))
      output.replace('f', path, function(write)
         write 'n'
         assert.equal('old', read(path))
         write 'ew'
      end, true)
      assert.equal('new', read(path))
      assert.equal('file\n', names())
      output.check('f', path)
      output.check('f', folder .. '/another')
      assert.equal('new', read(path))
      assert.equal('file\n', names())
   end)

   it('keeps the old file if the new one is not finished', function()
      output.replace('f', path, 'old')
      assert.has_error(function()
         output.replace('f', path, function(write)
            write 'new'
            error('half of it', 0)
         end)
      end, 'half of it')
      assert.equal('old', read(path))
      assert.equal('file\n', names())
   end)

   it('raises with the path and the reason', function()
      os.execute('ln -s /dev/full ' .. path)
      bad(('f: cannot write %s: no space left on device'):format(path),
         function() output.replace('f', path, 'text') end)
      local handle = output.log('f', path, 'w')
      bad(('f: cannot write %s: no space left on device'):format(path),
         function() output.add('f', path, handle, 'text') end)
      handle:close()
      bad('f: cannot write /nowhere/x: no such file or directory',
         function() output.replace('f', '/nowhere/x', 'text') end)
      bad('f: cannot write /nowhere/x: no such file or directory',
         function() output.check('f', '/nowhere/x') end)
      bad('f: cannot write /nowhere/x: no such file or directory',
         function() output.log('f', '/nowhere/x', 'w') end)
   end)

   it('keeps the old file on a full disk, whoever writes it, and says so', function()
      local text = run.ended(([[
         local dpt = require 'dpt'
         local torch, image, stdout = dpt.torch, require 'image', io.stdout
         local folder = '%s/'
         local function write(...) stdout:write(...) end
         local function tell(ok, why)
            local text = tostring(why):gsub('^%%S-:%%d+: ', ''):gsub(folder, '')
            write(tostring(ok), ' ', text, '\n')
         end
         local function try(name, f)
            local path = folder .. name
            local file = io.open(path, 'w')
            file:write 'old'
            file:close()
            tell(pcall(f, path))
            file = io.open(path)
            if file:read '*a' ~= 'old' then write('lost: ', name, '\n') end
            file:close()
         end
         local many = torch.range(1, 5000)
         try('save', function(path) torch.save(path, many) end)
         try('weights', function(path) dpt.nn.safetensors.save(path, {a = many}) end)
         try('x.png', function(path) image.save(path, torch.rand(3, 64, 64)) end)
         try('x.ppm', function(path) image.save(path, torch.rand(3, 64, 64)) end)
         dpt.profiler.start()
         for i = 1, 200 do torch.CudaTensor(2):fill(1) end
         try('step', dpt.profiler.stop)
         local function fill(f)
            local ok, why
            for i = 1, 200 do
               ok, why = pcall(f)
               if not ok then break end
            end
            tell(ok, why)
         end
         local logger = dpt.optim.Logger(folder .. 'log')
         fill(function() logger:add{1, 2, 3, 4} end)
         write(logger.symbols[1][100] and 'noted late' or 'noted at once', '\n')
         local disk = torch.DiskFile(folder .. 'disk', 'w')
         fill(function() disk:writeString(('x'):rep(100)) end)
         local quiet = torch.DiskFile(folder .. 'quiet', 'w'):quiet()
         fill(function() quiet:writeString(('x'):rep(100)) end)
         write(tostring(quiet:hasError()), '\n')
         for _, method in ipairs{'synchronize', 'close'} do
            local last = torch.DiskFile(folder .. method, 'w')
            last:writeString(('x'):rep(4000))
            last:synchronize()
            last:writeString(('x'):rep(100))
            tell(pcall(last[method], last))
         end
         local log, before = torch.CmdLine(), print
         log:silent()
         log:log(folder .. 'cmdline')
         fill(function() print(('x'):rep(100)) end)
         torch.CmdLine.setPrint(before)
         dpt.xlua.log(folder .. 'xlua')
         io.output '/dev/null'
         fill(function() io.write(('x'):rep(100)) end)
      ]]):format(folder), "trap '' XFSZ; ulimit -f 8; export DPT_DEVICES=host:1")
      local kept = ': file too large; the previous file is unchanged\n'
      assert.equal('false torch.save: cannot write save' .. kept
         .. 'false safetensors.save: cannot write weights' .. kept
         .. 'false image.save: cannot write x.png' .. kept
         .. 'false image.save: cannot write x.ppm' .. kept
         .. 'false profiler: cannot write step' .. kept
         .. 'false optim.Logger: cannot write log: file too large\nnoted at once\n'
         .. 'false torch.DiskFile: cannot write disk: file too large\n'
         .. 'true nil\ntrue\n'
         .. 'false torch.DiskFile: cannot write synchronize: file too large\n'
         .. 'false torch.DiskFile: cannot write close: file too large\n'
         .. 'false CmdLine:log: cannot write cmdline: file too large\n'
         .. 'false xlua.log: cannot write xlua: file too large\n0', text)
   end)
end)
