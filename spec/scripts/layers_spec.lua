--- scripts/layers.d/calls.lua, with which scripts/layers checks the order of C files.
local calls = dofile 'scripts/layers.d/calls.lua'

-- Returns the lines of nm for objects: {['device/a'] = 'DEFINED ... > USED ...'}.
local function objects(files)
   local lines = {}
   for file, symbols in pairs(files) do
      local kind = 'T 0 1'
      for word in symbols:gmatch '%S+' do
         if word == '>' then
            kind = 'U'
         else
            lines[#lines + 1] = ('build/x.dir/csrc/%s.c.o: %s %s'):format(file, word, kind)
         end
      end
   end
   return lines
end

local rank = {base = 1, device = 2}

-- Returns the violations of the files, sorted, one a line.
local function faults(files)
   local list = {}
   calls.check(calls.uses(objects(files)), {
      sees = function(folder, other)
         return folder == other or folder == 'host' or (rank[other] or 3) < (rank[folder] or 0)
      end,
      tables = {host_table = true},
      files = {device = {counter = 1, stream = 2, copy = 3}},
   }, function(...) list[#list + 1] = string.format(...) end)
   table.sort(list)
   return table.concat(list, '\n')
end

describe('The order of C files', function()
   it('allows files to use lower ones, and the table of a backend', function()
      assert.equal('', faults{['base/text'] = 'say > malloc', ['device/counter'] = 'count > say',
         ['device/stream'] = 'queue > count say host_table',
         ['host/backend'] = 'host_table kernel > count say'})
   end)

   it('reports each use of a higher folder or file', function()
      assert.equal('csrc/base/text.c: uses count of csrc/device/counter.c, which stands above it\n'
         .. 'csrc/device/counter.c: uses queue of csrc/device/stream.c, which stands above it\n'
         .. 'csrc/device/stream.c: uses kernel of csrc/host/rows.c, which stands above it',
         faults{['base/text'] = 'say > count', ['device/counter'] = 'count > queue',
            ['device/stream'] = 'queue > kernel', ['host/rows'] = 'kernel'})
   end)

   it('has no circles', function()
      local files = {['nn/call'] = 'call > planes', ['nn/planes'] = 'planes > pool',
         ['nn/pool'] = 'pool > call', ['nn/loss'] = 'loss > call'}
      assert.equal('csrc/nn: call planes pool: use each other in a circle: call > planes (planes), '
         .. 'planes > pool (pool), pool > call (call)', faults(files))
      files['nn/call'] = 'call > planes loss'
      assert.matches('csrc/nn: call loss planes pool: use', faults(files), 1, true)
      files['nn/call'] = 'call'
      assert.equal('', faults(files))
   end)
end)
