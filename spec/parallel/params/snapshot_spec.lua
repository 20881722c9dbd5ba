local dpt = require 'dpt'
local nn, torch = dpt.nn, dpt.torch
local Snapshot = require 'dpt.parallel.params.snapshot'

describe('dpt.parallel.params.snapshot', function()
   local net, snapshot

   before_each(function()
      net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Sequential():add(nn.Dropout(0.5)))
      net.config = {sizes = {1, 2}, name = 'a'}
      snapshot = Snapshot.new()
      snapshot:take(net)
   end)

   -- Returns the results of snapshot:changes, with the settings as text.
   local function changes()
      local changed, settings = snapshot:changes(net)
      local lines = {}
      for i, s in ipairs(settings or {}) do
         local path = table.concat(s.path, '.')
         lines[i] = ('%s%s%s=%s'):format(path, path ~= '' and '.' or '', s.key, tostring(s.value))
      end
      table.sort(lines)
      return changed, settings and lines
   end

   it('differs from everything before the first take', function()
      assert.is_true(Snapshot.new():changes(net))
   end)

   it('finds settings anywhere in a network', function()
      assert.is_nil(changes())
      net:get(2):get(1).p, net.config.sizes[2], net.config.name = 0.25, 3, nil
      net.note = 'new'
      local changed, lines = changes()
      assert.is_true(changed)
      assert.same({'config.name=nil', 'config.sizes.2=3', 'modules.2.modules.1.p=0.25',
         'note=new'}, lines)
      snapshot:take(net)
      assert.is_nil(changes())
   end)

   it('does not report an unchanged NaN', function()
      net.number = 0 / 0
      snapshot:take(net)
      assert.is_nil(changes())
      net.number = 1
      assert.same({'number=1'}, select(2, changes()))
   end)

   it('finds changes that are not settings', function()
      for _, change in ipairs{
         function() net:add(nn.Tanh()) end,
         function() net:remove() end,
         function() net.config = {sizes = {1, 2}, name = 'a'} end,
         function() net.config.sizes = nil end,
         function() net:get(1).bias = nil end,
         function() net:get(1).weight = torch.Tensor(2, 2) end,
         function() net.config[net] = 1 end,
         function() setmetatable(net:get(2):get(1), torch.getmetatable 'nn.SpatialDropout') end,
         function() net.modules[1], net.modules[2] = net.modules[2], net.modules[1] end,
         function() net = net:clone() end,
      } do
         assert.is_nil(changes())
         change()
         local changed, lines = changes()
         assert.is_true(changed)
         assert.is_nil(lines)
         snapshot:take(net)
      end
   end)

   it('ignores the results of passes, other objects, and the elements of tensors', function()
      net.timer, net.weak = torch.Timer(), setmetatable({}, {__mode = 'k'})
      snapshot:take(net)
      net.output, net:get(1).gradInput = {1, 2}, nil
      net:get(1).weight:fill(3)
      net.weak[{}] = true
      assert.is_nil(changes())
   end)

   it('visits shared and recursive tables once', function()
      net.config.top = net
      net.other = net.config
      snapshot:take(net)
      assert.is_nil(changes())
      net.other.name = 'b'
      assert.equal(1, #select(2, changes()))
   end)

   it('does not keep dropped values alive', function()
      local held = setmetatable({torch.Tensor(3)}, {__mode = 'v'})
      net.buffer = held[1]
      snapshot:take(net)
      net.buffer = nil
      collectgarbage()
      collectgarbage()
      assert.is_nil(held[1])
      assert.is_true(changes())
   end)

   it('detects a field that replaced a collected one', function()
      net.buffer = torch.Tensor(3)
      snapshot:take(net)
      net.buffer = nil
      collectgarbage()
      collectgarbage()
      net.other = 1
      assert.is_nil(snapshot:current(net))
      local changed, settings = changes()
      assert.is_true(changed)
      assert.is_nil(settings)
   end)

   it('detects one change among many fields, under keys of any type', function()
      for i = 1, 100 do net.config['field ' .. i] = i end
      net.config[true], net.config[2.5], net.config[-1], net.config[''] = 1, 2, 3, 4
      snapshot:take(net)
      assert.is_nil(changes())
      net.config['field 77'] = 0
      assert.same({'config.field 77=0'}, select(2, changes()))
      snapshot:take(net)
      for i = 1, 100 do net.config['field ' .. i] = nil end
      snapshot:take(net)
      assert.is_nil(changes())
      for _, key in ipairs{2.5, -1, ''} do
         net.config[key] = 'new'
         assert.same({'config.' .. key .. '=new'}, select(2, changes()))
         snapshot:take(net)
      end
      net.config[true] = 'new'
      assert.is_true(changes())
   end)

   it('does not describe itself, which would not end', function()
      net.snapshot = snapshot
      snapshot:take(net)
      assert.is_nil(snapshot:changes(net))
      assert.has_error(function() snapshot:take(snapshot) end,
         'nn.DataParallelTable: a script replaced its internal fields')
   end)

   it('sets settings if their table exists', function()
      local copy = net:clone()
      local settings = {{path = {'modules', 2, 'modules', 1}, key = 'p', value = 0.1},
         {path = {'config'}, key = 'name'}}
      assert.is_true(Snapshot.set(copy, 2, settings))
      assert.equal(0.1, copy:get(2):get(1).p)
      assert.is_nil(copy.config.name)
      assert.is_false(Snapshot.set(nn.Sequential(), 2, settings))
   end)
end)
