--- Places where a training script may run: host memory, a device, three devices (or as many as
-- there are), and these with a thread each. Specs of scripts train the same networks in all places,
-- and the results must agree.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local close = require('spec.support.parallel').close
local luassert = require 'luassert'

local M = {}

local function same(x) return x end
local function cuda(x) return x:cuda() end
local devices = {}
for i = 1, math.min(3, dpt.cutorch.getDeviceCount()) do devices[i] = i end

--- Each has: name; move(x), which moves a tensor, module or criterion there; net(module, init),
-- which moves and wraps a network (a thread needs init to define its classes); inner(net), which
-- returns the network that net() was given.
M.host = {name = 'host memory', move = same, net = same, inner = same}
M.device = {name = 'a device', move = cuda, net = cuda, inner = same}
M.parallel = {
   name = 'several devices', move = cuda,
   net = function(module)
      return nn.DataParallelTable(1, true):add(module:cuda(), devices):cuda()
   end,
   inner = function(net) return net:get(1) end,
}

M.threads = {
   name = 'several threads', move = cuda, inner = M.parallel.inner,
   net = function(module, init)
      local net = nn.DataParallelTable(1, true):add(module:cuda(), devices)
      return net:threads(init):cuda()
   end,
}

--- Calls train(place), with the same seed, for every place; it returns a list of losses and a list
-- of tensors. The losses must decrease, and all results must agree with those in host memory.
-- @param tolerance relative to the largest value (1e-4)
function M.agree(train, tolerance)
   local before = torch.getdefaulttensortype()
   torch.setdefaulttensortype('torch.FloatTensor')
   local ok, why = xpcall(function()
      local losses, results
      for _, name in ipairs{'host', 'device', 'parallel', 'threads'} do
         local place = M[name]
         torch.manualSeed(7)
         local l, r = train(place)
         luassert.is_true(l[#l] < l[1], ('%s: the loss went from %g to %g'):format(place.name, l[1],
            l[#l]))
         l = torch.DoubleTensor(l)
         if not losses then losses, results = l, r end
         close({losses, results}, {l, r}, tolerance or 1e-4)
      end
   end, debug.traceback)
   torch.setdefaulttensortype(before)
   if not ok then error(why, 0) end
end

return M
