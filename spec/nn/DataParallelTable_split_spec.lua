local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local same = require 'spec.support.parallel'
local Probe = same.Probe

same.dispatched('G10: split specs of inputs', function()
   local most = same.most(4)
   same.seeded(4)

   local function table(net, spec)
      local many = nn.DataParallelTable(1, true):add(net:clone(), same.range(most))
      many.splitSpec = spec
      return many
   end

   it('split along a dimension of their own, or replicate', function()
      local rows = 2 * most + 1
      -- x (rows, 3), times (4, rows), table (3, 4): x * table + times'
      local net = nn.Sequential():add(nn.ConcatTable()
            :add(nn.Sequential():add(nn.ConcatTable():add(nn.SelectTable(1))
               :add(nn.SelectTable(3))):add(nn.MM()))
            :add(nn.Sequential():add(nn.SelectTable(2)):add(nn.Transpose({1, 2}))))
         :add(nn.CAddTable()):add(nn.Linear(4, 2)):cuda()
      local many = table(net, {nil, 2, 'replicate'})
      local input = {torch.randn(rows, 3):cuda(), torch.randn(4, rows):cuda(),
         torch.randn(3, 4):cuda()}
      for _ = 1, 2 do
         same.compare(net, many, input, 1e-5)
         for i = 1, most do assert.same({3, 4}, many.inputGpu[i][3]:size():totable()) end
      end
      assert.same({3, 4}, many.gradInput[3]:size():totable()) -- summed
      assert.same({4, rows}, many.gradInput[2]:size():totable()) -- joined
      local row = {input[1]:narrow(1, 1, 1), input[2]:narrow(2, 1, 1), input[3]}
      same.compare(net, many, row, 1e-5)
   end)

   it('are for entries by name, and for tables in tables', function()
      local many = table(Probe(function(input, self)
         self.seen = {input.deep[1][1]:size(1), input.deep[1].y:size(2), input.mask:size(1)}
         return input.x
      end, function(input, gradOutput)
         local deep = input.deep[1]
         return {x = gradOutput, mask = input.mask, deep = {{deep[1], y = deep.y}}}
      end), {mask = 'replicate', deep = {{nil, y = 2}}})
      local input = {x = torch.randn(9, 2):cuda(), mask = torch.ones(5):cuda(), name = 'x',
         deep = {{torch.randn(9, 3):cuda(), y = torch.randn(3, 9):cuda()}}}
      many:forward(input)
      local seen = many.impl:exec(function(replica) return replica.seen end)
      for i = 1, most do
         local count = math.floor(9 / most) + (i <= 9 % most and 1 or 0)
         assert.same({count, count, 5}, seen[i])
      end
      local gradInput = many:backward(input, input.x)
      same.bits(input.deep, gradInput.deep)
      same.bits(input.mask * most, gradInput.mask)
   end)

   it('replicate host tensors and integers as well', function()
      local kinds
      local many = table(Probe(function(input)
         kinds = {input[2]:type(), input[3]:type(), input[3][1]}
         return input[1]
      end), {1, 'replicate', 'replicate'})
      local host = torch.randn(3, 3):float()
      many:forward{torch.randn(most, 1):cuda(), host, torch.LongTensor{16777217}}
      assert.same({'torch.CudaTensor', 'torch.CudaLongTensor', 16777217}, kinds)
      local input = {torch.randn(most, 1):cuda(), host}
      many = table(Probe(function(given) return given[2] end), {1, 'replicate'})
      local output = many:forward(input)
      local copy = host:clone()
      host:fill(0 / 0)
      for i = 1, most do same.bits(copy:cuda(), output:narrow(1, 3 * i - 2, 3)) end
   end)

   it('may be a function of the user', function()
      local devices
      local function uneven(value, list)
         devices = list
         local parts, first = {}, 1
         for i = 1, #list do
            local rows = i == 1 and value:size(1) - 2 * (#list - 1) or 2
            parts[i] = value:narrow(1, first, rows)
            first = first + rows
         end
         return parts
      end
      local net = nn.Sequential():add(nn.SelectTable(1)):add(nn.Linear(3, 2)):add(nn.Tanh()):cuda()
      local many = table(net, {uneven})
      local input = torch.randn(2 * most + 3, 3):cuda()
      same.zero(net, many)
      same.close(net:forward{input}, many:forward{input}, 1e-6)
      assert.same(same.range(most), devices)
      assert.equal(5, many.inputGpu[1][1]:size(1))
      -- gradOutput is split like the outputs, and gradInput keeps the user's parts
      local gradOutput = net.output:clone():normal()
      local wanted = net:backward({input}, gradOutput)[1]
      local parts = many:backward({input}, gradOutput)[1]
      assert.equal(most, #parts)
      local first = 1
      for i, part in ipairs(parts) do
         assert.equal(i, part:getDevice())
         same.close(wanted:narrow(1, first, part:size(1)):clone(),
            torch.CudaTensor(part:size()):copy(part), 1e-6)
         first = first + part:size(1)
      end
      same.close(select(2, net:parameters()), select(2, many:parameters()), 1e-5)
   end)

   it('H22: make dropout drop by the rows that each replica got', function()
      local net = nn.Sequential():add(nn.SelectTable(1)):add(nn.Dropout(0.5)):cuda()
      local many = table(net, {function(value, list)
         local parts = {}
         for i = 1, #list do
            parts[i] = i == 1 and value:narrow(1, 1, value:size(1) - #list + 1)
               or value:narrow(1, value:size(1) - #list + i, 1)
         end
         return parts
      end, 'replicate'})
      for _ = 1, 3 do
         local input = {torch.randn(3 * most, 50):cuda(), torch.randn(100):cuda()}
         same.bits(same.rewind(net.forward, net, input), many:forward(input))
      end
   end)

   it('pass all entries to every replica if nothing is split', function()
      local many = table(Probe(function(input) return input[1] end), {'replicate'})
      local input = torch.randn(2, 3):cuda()
      assert.equal(2 * most, many:forward{input}:size(1))
   end)

   it('stay with clones, and leave the place of a function in a file', function()
      local many = table(nn.SelectTable(1):cuda(), {1, 'replicate', {x = 2}})
      assert.same({1, 'replicate', {x = 2}}, many:clone().splitSpec)
      assert.same({1, 'replicate', {x = 2}}, torch.deserialize(torch.serialize(many)).splitSpec)
      many.splitSpec = {1, function(value) return value end}
      assert.equal(many.splitSpec[2], many:clone().splitSpec[2])
      assert.same({1, 'function'}, torch.deserialize(torch.serialize(many)).splitSpec)
      many.splitSpec = 1
      assert.equal(1, torch.deserialize(torch.serialize(many)).splitSpec)
   end)

   it('raise if they are wrong', function()
      local many = table(Probe(function(input) return input[1] end))
      local input = {torch.randn(4, 2):cuda(), torch.randn(4, 2):cuda(), {torch.randn(4):cuda()}}
      for _, case in ipairs{
         {{1, 'copy'}, "input%[2%]: invalid split spec.*wanted a dimension, .*got 'copy'"},
         {{0}, 'input%[1%]: invalid split spec.*got 0'},
         {{1, {1}}, 'input%[2%] is a torch.CudaTensor, its split spec a table'},
         {{1, 1, {'all'}}, "input%[3%]%[1%].*got 'all'"},
         {{1, 1, 2}, 'input%[3%]%[1%] is a torch.CudaTensor of 1 dim.*along dimension 2'},
         {{1, function() return 7 end}, 'input%[2%]: the function.*split spec.*a number'},
         {{1, function() error('no rows') end}, 'no rows'},
      } do
         many.splitSpec = case[1]
         assert.error_matches(function() many:forward(input) end, case[2])
      end
      many.splitSpec = nil
      same.bits(input[1], many:forward(input))
   end)

   it('cut lists of a million rows #devices2', function()
      local rows, list = 1e6, {}
      for i = 1, rows do list[i] = i end
      local many = nn.DataParallelTable(1):add(Probe(function(input)
         return torch.CudaTensor{#input[2], input[2][1], input[2][#input[2]]}:view(1, 3)
      end), {1, 2})
      many.splitSpec = {1, 'list'}
      local output = many:forward{torch.CudaTensor(rows):zero(), list}
      assert.same({{rows / 2, 1, rows / 2}, {rows / 2, rows / 2 + 1, rows}}, output:totable())
   end)
end)
