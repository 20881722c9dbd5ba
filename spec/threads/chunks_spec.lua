-- dpt's modules in workers: each is compiled once per process.
local Pool = require 'dpt.threads.pool'

local function inWorker(f, ...)
   local pool = Pool.new(1)
   local results, message = pool:receive(pool:send(1, f, ...))
   pool:close()
   return assert(results, message)
end

-- Returns a function that writes modules of dpt to a folder searched first, and its cleanup.
local function modules()
   local folder, path = os.tmpname(), package.path
   os.remove(folder)
   assert(os.execute(("mkdir -p '%s/dpt'"):format(folder)))
   package.path = folder .. '/?.lua;' .. path
   local function write(name, text)
      local file = assert(io.open(('%s/dpt/%s.lua'):format(folder, name), 'w'))
      file:write(text)
      file:close()
   end
   return write, function()
      package.path = path
      os.execute(("rm -r '%s'"):format(folder))
   end
end

describe('Workers', function()
   it('load chunks that one of them has compiled', function()
      local write, done = modules()
      finally(done)
      local function probe() return require 'dpt.probe_of_chunks' end
      write('probe_of_chunks', 'return 1')
      assert.equal(1, inWorker(probe)[1])
      write('probe_of_chunks', 'return 2') -- never happens while a process uses it
      assert.equal(1, inWorker(probe)[1])
      assert.equal(1, inWorker(function() -- a worker's workers do not compile it either
         local inner = require 'dpt.threads.pool'.new(1)
         local results = inner:receive(inner:send(1, function()
            return require 'dpt.probe_of_chunks'
         end))
         inner:close()
         return results[1]
      end)[1])
   end)

   it('report the error of a module that does not compile', function()
      local write, done = modules()
      finally(done)
      write('broken_of_chunks', 'return = 1')
      local message = inWorker(function()
         return select(2, pcall(require, 'dpt.broken_of_chunks'))
      end)[1]
      assert.matches("broken_of_chunks.lua:1: unexpected symbol near '='", message, 1, true)
   end)

   it('have the names and lines of sources', function()
      local function where()
         local info = debug.getinfo(require 'dpt.nn'.Linear.updateOutput, 'S')
         local ok, message = pcall(require 'dpt.nn'.Linear, 'a', 2)
         return info.source, info.linedefined, ok, (message:gsub('^.-: ', ''))
      end
      inWorker(where)
      assert.same({where()}, inWorker(where))
   end)
end)
