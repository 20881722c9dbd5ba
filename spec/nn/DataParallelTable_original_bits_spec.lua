-- Three behaviours that the original suite for nn.DataParallelTable compared with one device bit
-- for bit: in deterministic mode, and at these small sizes also without it.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local original = require 'spec.support.original'
local random, linear = original.random, original.linear

original.each('nn.DataParallelTable bit for bit', function(typename, n, dispatch, table)
   for _, deterministic in ipairs{false, true} do
      describe('bit for bit, deterministic ' .. tostring(deterministic), function()
         before_each(function() dpt.setDeterministic(deterministic) end)
         after_each(function()
            dpt.setDeterministic(os.getenv 'DPT_DETERMINISTIC' == '1')
            cutorch.setStream(0)
         end)

         it('on other streams', function()
            cutorch.reserveStreams(1)
            local net = linear(typename)
            local input, gradOutput = random(typename, 8, 3), random(typename, 8, 7)
            local output = net:forward(input):clone()
            local gradInput = net:backward(input, gradOutput):clone()
            for stream = 0, 1 do
               cutorch.setStream(stream)
               for _, options in ipairs{{1, false}, {1, true}, {1, true, true}} do
                  local many = dispatch(nn.DataParallelTable(unpack(options)), function()
                     local device = require 'dpt.device'
                     device.reserveStreams(1)
                     device.setStream(stream)
                  end):add(net:clone(), same.range(n)):type(typename)
                  same.bits(output, many:forward(input))
                  many:zeroGradParameters()
                  same.bits(gradInput, many:backward(input, gradOutput))
               end
            end
         end)

         it('in a clone', function()
            local net = linear(typename)
            local many, input = table(net, {1}, true), random(typename, 8, 3)
            same.bits(net:forward(input), many:forward(input))
            same.bits(net.output, many:clone():forward(input))
         end)

         it('after empty batches', function()
            local identity = nn.Linear(5, 5)
            identity.bias:zero()
            identity.weight = torch.eye(5)
            local single = table(identity, {1}, true)
            local pair = table(nn.ParallelTable():add(identity):add(identity), {1}, true)
            for _, rows in ipairs{n, 1, 2} do
               local input = torch.range(1, rows * 5):view(rows, 5):type(typename)
               same.bits(input, single:forward(input))
               same.bits(input, single:backward(input, single.output))
               local two = {input, input}
               same.bits(two, pair:forward(two))
               same.bits(two, pair:backward(two, pair.output))
            end
         end)
      end)
   end
end)
