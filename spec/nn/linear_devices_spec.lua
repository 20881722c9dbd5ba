-- nn.Linear on devices against the host's doubles: sizes near that of a thread block's tile, layers
-- with few weights (which have their own kernel) and with many.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn

local function near(wanted, got, tolerance, what)
   assert.same(wanted:size():totable(), got:size():totable())
   local difference = (wanted - got:double()):abs():max() / math.max(1, torch.abs(wanted):max())
   assert(difference <= tolerance, ('%s: differs by %g'):format(what, difference))
end

describe('nn.Linear on devices', function()
   for kind, tolerance in pairs{CudaTensor = 3e-6, CudaDoubleTensor = 1e-13} do
      for _, size in ipairs{{1, 1, 1}, {3, 4, 5}, {300, 8, 16}, {1, 300, 200}, {65, 129, 70},
         {64, 64, 64}, {0, 30, 20}} do
         local rows, inputs, outputs = unpack(size)
         it(('equals the host: %s, %d x %d to %d'):format(kind, rows, inputs, outputs), function()
            torch.manualSeed(2)
            for _, bias in ipairs{true, false} do
               local host = nn.Linear(inputs, outputs, bias)
               local device = host:clone():type('torch.' .. kind)
               local x = rows == 0 and torch.randn(inputs) or torch.randn(rows, inputs)
               local y = host:forward(x)
               local gy = torch.randn(y:size())
               for _, net in ipairs{host, device} do
                  net:zeroGradParameters()
                  local input, gradOutput = x:type(net:type()), gy:type(net:type())
                  net:forward(input)
                  net:backward(input, gradOutput)
                  net:accGradParameters(input, gradOutput, -0.25)
               end
               near(y, device.output, tolerance, 'output')
               near(host.gradInput, device.gradInput, tolerance, 'gradInput')
               near(host.gradWeight, device.gradWeight, tolerance, 'gradWeight')
               if bias then near(host.gradBias, device.gradBias, tolerance, 'gradBias') end
            end
         end)
      end
   end

   it('returns the same bits for a row among others, in deterministic mode and where it is small',
      function()
         finally(function() dpt.setDeterministic(false) end)
         for _, deterministic in ipairs{true, false} do
            dpt.setDeterministic(deterministic)
            local net = nn.Linear(16, deterministic and 40 or 8):cuda()
            local x = torch.randn(70, 16):cuda()
            local whole = net:forward(x):double()
            local gy = torch.randn(whole:size()):cuda()
            local gradient = net:updateGradInput(x, gy):double()
            for row = 1, 70, 23 do
               local one = x:narrow(1, row, 1)
               near(whole:narrow(1, row, 1), net:forward(one), 0, 'output')
               near(gradient:narrow(1, row, 1), net:updateGradInput(one, gy:narrow(1, row, 1)), 0,
                  'gradInput')
            end
         end
      end)
end)
