--- The choice of cuDNN's algorithms: switches that all kinds of devices accept.
local dpt = require 'dpt'
local torch, cudnn, cutorch = dpt.torch, dpt.cudnn, dpt.cutorch
local window = require 'dpt.nn.window'
local C = require('dpt.ffi').C

local function withSwitches(switches, f)
   for name, value in pairs(switches) do cudnn[name] = value end
   local ok, why = pcall(f)
   for name in pairs(switches) do cudnn[name] = false end
   assert(ok, why)
end

describe('The choice of convolution algorithms', function()
   it('travels with each call', function()
      local net = cudnn.SpatialConvolution(2, 3, 3, 3)
      assert.equal(0, window.of(net).search)
      for name, bit in pairs{benchmark = C.DPT_SEARCH_BENCHMARK, fastest = C.DPT_SEARCH_FASTEST,
         verbose = C.DPT_SEARCH_VERBOSE} do
         withSwitches({[name] = true}, function()
            assert.equal(tonumber(bit), window.of(net).search)
         end)
      end
      assert.equal(tonumber(C.DPT_SEARCH_FASTEST), window.of(net:fastest()).search)
      assert.equal(0, window.of(net:fastest(false)).search)
   end)

   it('changes no result beyond rounding', function()
      torch.manualSeed(4)
      local x, gy = torch.randn(3, 2, 8, 8):cuda(), torch.randn(3, 4, 6, 6):cuda()
      local net = cudnn.SpatialConvolution(2, 4, 3, 3):cuda()
      local function pass()
         net:zeroGradParameters()
         net:forward(x)
         net:backward(x, gy)
         return {net.output:double(), net.gradInput:double(), net.gradWeight:double(),
            net.gradBias:double()}
      end
      local plain = pass()
      for _, switches in ipairs{{benchmark = true}, {fastest = true},
         {benchmark = true, fastest = true}} do
         withSwitches(switches, function()
            for _ = 1, 2 do
               for i, wanted in ipairs(plain) do
                  local got = pass()[i]
                  assert.is_true((got - wanted):abs():max() < 1e-4)
               end
            end
         end)
      end
      cutorch.synchronize()
   end)
end)
