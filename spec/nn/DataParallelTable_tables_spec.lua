local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local networks, Probe, randomInput = same.networks, same.Probe, same.randomInput

same.dispatched('nn.DataParallelTable with', function()
   local most = same.most(8)
   same.seeded(11)

   describe('tables', function()
      local function make()
         return nn.Sequential()
            :add(nn.ParallelTable():add(nn.Linear(4, 3)):add(
               nn.Sequential():add(nn.JoinTable(2)):add(nn.Linear(5, 3))))
            :add(nn.ConcatTable():add(nn.CAddTable()):add(nn.Identity()):add(nn.SelectTable(2)))
            :cuda()
      end

      local function input(rows)
         return {torch.randn(rows, 4):cuda(), {torch.randn(rows, 2):cuda(),
            torch.randn(rows, 3):cuda()}}
      end

      it('in and out is one device', function()
         for n = 1, most do
            local one = make()
            local many = nn.DataParallelTable(1, n % 2 == 0):add(one:clone(), same.range(n))
            for _, rows in ipairs{1, n, n + 1, 3 * n} do
               same.compare(one, many, input(rows), 1e-5)
            end
         end
      end)

      it('passes values that are not tensors to every replica', function()
         local x = torch.randn(3, 2):cuda()
         local many = nn.DataParallelTable(1):add(Probe(function(given)
            return {x = given.x, name = given.name, deep = {given.deep[1]}}
         end), same.range(most))
         local out = many:forward{x = x, name = 'train', deep = {7}}
         assert.same({'train', 7}, {out.name, out.deep[1]})
         same.bits(x, out.x)
      end)

      it('G8: raises for a number that replicas do not agree about', function()
         if most < 2 then return end
         local many = nn.DataParallelTable(1):add(Probe(function(given)
            return {given.x, loss = given.by * given.x:size(1)}
         end), {1, 2})
         local x = torch.randn(3, 2):cuda()
         assert.error_matches(function() many:forward{x = x, by = 0.5} end,
            '%[loss%]: replica 1 returned 1, replica 2 returned 0.5: .*nn.DataParallelCriterion')
         assert.equal(0, many:forward({x = x, by = 0}).loss)
         local nan = many:forward({x = x, by = 0 / 0}).loss
         assert.are_not.equal(nan, nan)
      end)

      it('G9: accepts and returns trees of any form', function()
         local function x() return torch.randn(2 * most + 1, 2):cuda() end
         local many = nn.DataParallelTable(1):add(Probe(function(given) return given end,
            function(_, gradOutput) return gradOutput end), same.range(most))
         for _, tree in ipairs{
            {x(), x()}, {x(), nil, x()}, {a = x(), b = {c = x()}}, {x(), a = x(), [7] = 'seven'},
            {'name', x(), 3, {{{x()}, deep = {x(), true}}}}, {[2.5] = x(), [true] = x(), {}},
            {x(), torch.CudaTensor(), {torch.CudaTensor()}}, x(), {nil, nil, x()},
         } do
            for _ = 1, 2 do same.bits(tree, many:forward(tree)) end
            same.bits(tree, many:backward(tree, tree))
         end
      end)

      it('G9: raises for a difference between the outputs, naming the place', function()
         if most < 2 then return pending('needs 2 devices') end
         local given = torch.randn(2, 2):cuda()
         for _, case in ipairs{
            {function(v) return {a = {v}} end,
               'result%[b%]: replica 1 returned a torch.CudaTensor, replica 2 a nil'},
            {function(v) return {a = {v, v}, b = v} end,
               'result%[a%]%[2%]: replica 1 returned a nil'},
            {function(v) return {a = v, b = v} end,
               'result%[a%]: replica 1 returned a table, replica 2 a torch.CudaTensor'},
            {function(v) return {a = {v:double()}, b = v} end,
               'result%[a%]%[1%]: replica 1 returned a torch.CudaTensor, replica 2 a torch.Double'},
            {function(v) return {a = {'two'}, b = v} end,
               'result%[a%]%[1%]: replica 1 returned a torch.CudaTensor, replica 2 a string'},
            {function(v) return {a = {v:repeatTensor(1, 2)}, b = v} end, 'joins a'},
         } do
            local other = case[1]
            local many = nn.DataParallelTable(1):add(Probe(function(v)
               return v:getDevice() == 2 and other(v) or {a = {v}, b = v}
            end), {1, 2})
            assert.error_matches(function() many:forward(given) end, case[2])
         end
      end)

      it('cuts gradOutput as the outputs are, also of several rows for one', function()
         local net = nn.Sequential():add(nn.Linear(6, 6)):add(nn.View(-1, 2)):add(nn.Linear(2, 4))
            :cuda()
         local many = nn.DataParallelTable(1, true):add(net:clone(), same.range(most))
         for _, rows in ipairs{1, most, 2 * most + 1} do
            same.compare(net, many, randomInput({6}, rows), 1e-5)
         end
         assert.error_matches(function() many:backward(nil, randomInput({4}, 2)) end,
            'gradOutput has 2 rows along dimension 1, the output has')
      end)
   end)

   describe('a batch without rows', function()
      it('answers with sizes, as one device does', function()
         local one = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):add(nn.Linear(3, 2)):cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
         for _, rows in ipairs{0, 1, 0, most} do
            same.compare(one, many, rows > 0 and randomInput({4}, rows) or torch.CudaTensor(0, 4),
               1e-5)
            assert.same({rows, 2}, many.output:size():totable())
            assert.same({rows, 4}, many.gradInput:size():totable())
            same.checkReplicas(many)
         end
      end)

      it('moves no running statistics', function()
         local many = nn.DataParallelTable(1):add(nn.BatchNormalization(3):cuda(), same.range(most))
         many:forward(randomInput({3}, 2 * most))
         local function statistics()
            return many:applyToReplicas(function(norm) return norm.running_mean:double() end)
         end
         local before = statistics()
         assert.same({0, 3}, many:forward(torch.CudaTensor(0, 3)):size():totable())
         for i, mean in ipairs(statistics()) do same.close(before[i], mean, 0) end
      end)

      it('without sizes is none of any replica', function()
         local many = nn.DataParallelTable(1):add(nn.Linear(4, 3):cuda(), same.range(most))
         assert.equal(0, many:forward(torch.CudaTensor()):dim())
         assert.equal(0, many.used)
      end)

      it('is not a value without tensors: every replica gets those', function()
         local many = nn.DataParallelTable(1):add(nn.Linear(4, 3):cuda(), same.range(most))
         for got, input in pairs{['nil'] = false, number = 3, string = 'a', table = {}} do
            assert.matches("replica " .. most .. ".*argument 'input', wanted a tensor, got " .. got,
               same.raised(many.forward, many, input or nil))
         end
      end)
   end)

   describe('inputs which', function()
      it('become the type of a network that was converted before or after', function()
         local kind = 'torch.CudaDoubleTensor'
         local many = nn.DataParallelTable(1):add(nn.Linear(4, 3):type(kind), same.range(most))
         assert.equal(kind, many:type())
         assert.equal(kind, many:forward(torch.FloatTensor(most, 4):fill(1)):type())
         many:backward(torch.FloatTensor(most, 4), torch.FloatTensor(most, 3):fill(1))
         many:get(1):type('torch.CudaTensor')
         assert.equal('torch.CudaTensor', many:forward(torch.DoubleTensor(most, 4)):type())
      end)

      it('may be host tensors, which have been read on return', function()
         local one = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
         local rows = 2 * most + 1
         for _, host in ipairs{torch.FloatTensor(rows, 5), torch.DoubleTensor(rows, 5),
            cutorch.createCudaHostTensor(rows, 5)} do
            local type = host:type()
            host:copy(torch.randn(rows, 5))
            one.given = host:cuda()
            local expected = one:forward(one.given):clone()
            local output = many:forward(host)
            host:fill(0 / 0)
            same.close(expected, output, 1e-5)
            local gradOutput = torch.randn(2 * most + 1, 3):type(type)
            local wanted = one:backward(one.given, gradOutput:cuda())
            local got = many:backward(host, gradOutput)
            gradOutput:fill(0 / 0)
            same.close(wanted, got, 1e-5)
         end
      end)

      it('keep their integers', function()
         local table = nn.LookupTable(20, 3):cuda()
         local many = nn.DataParallelTable(1, true):add(table:clone(), same.range(most))
         local given = torch.LongTensor(2 * most + 1, 4)
         given:random(20)
         same.bits(table:forward(given:type('torch.CudaLongTensor')), many:forward(given))
      end)

      it('may be changed by a module that works in place', function()
         local many = nn.DataParallelTable(1):add(nn.ReLU(true):cuda(), same.range(most))
         local input = torch.randn(2 * most, 3):cuda()
         local before = input:clone()
         many:forward(input)
         same.bits(before, input)
      end)
   end)

   describe('a gradInput', function()
      it('is omitted if it is nil', function()
         local many = nn.DataParallelTable(1, true):add(nn.Linear(5, 2):cuda(), same.range(most))
         many.gradInput = nil
         local input = randomInput({5}, most)
         assert.is_nil(many:backward(input, many:forward(input)))
         assert.is_nil(many.gradInput)
         assert.is_true(select(2, many:getParameters()):ne(0):sum() > 0)
      end)

      it('is zero if the network returns none', function()
         local table = nn.LookupTable(9, 3):cuda()
         local many = nn.DataParallelTable(1):add(table, same.range(most))
         local given = torch.CudaTensor(most, 2):fill(3)
         local gradInput = many:backward(given, many:forward(given))
         same.bits(given:clone():zero(), gradInput)
      end)

      it('is also computed in two calls, with the gradients', function()
         local one = networks.linear.make():cuda()
         local many = nn.DataParallelTable(1, true):add(one:clone(), same.range(most))
         local input, gradOutput = randomInput({5}, most + 1), randomInput({3}, most + 1)
         same.zero(one, many)
         one:forward(input)
         many:forward(input)
         same.close(one:updateGradInput(input, gradOutput), many:updateGradInput(input, gradOutput),
            1e-5)
         local _, got = many:getParameters()
         assert.equal(0, got:ne(0):sum())
         one:accGradParameters(input, gradOutput, 0.25)
         many:accGradParameters(input, gradOutput, 0.25)
         same.close(select(2, one:getParameters()), got, 1e-5)
      end)
   end)
end)
