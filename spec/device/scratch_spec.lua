-- Scratch memory of kernels: a call that cannot allocate it raises at once, before anything is
-- queued or changed, and succeeds once there is memory.
local dpt = require 'dpt'
local dptffi = require 'dpt.ffi'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch

local isCuda = require('spec.support.gpu').isCuda

local function random(...) return torch.CudaTensor(...):uniform() end
--- Returns a matrix that no BLAS accepts: neither rows nor columns are contiguous.
local function spread(rows, columns) return random(rows, columns, 2):select(3, 1) end

--- Returns a call of a module's forward, and a function that returns its results.
local function forward(module, input)
   module = module:cuda()
   return function() module:forward(input) end, function() return {module.output} end
end
local function backward(module, input)
   module = module:cuda()
   local gradient = module:forward(input):clone():uniform()
   return function() module:updateGradInput(input, gradient) end,
      function() return {module.gradInput} end
end
--- Returns a call that accumulates a module's gradients, initially 0, and their getter.
local function accumulate(module, input)
   module = module:cuda()
   local gradient = module:forward(input):clone():uniform()
   local _, grads = module:parameters()
   module:updateGradInput(input, gradient)
   return function() module:accGradParameters(input, gradient) end, function() return grads end
end
--- Returns a call f(results, ...) that writes results, and their getter.
local function writes(results, f, ...)
   local arguments, n = {...}, select('#', ...)
   return function() f(unpack(arguments, 1, n)) end, function() return results end
end

--- Returns operands of attention: output, save, query, key, value, no mask.
local function attention()
   return torch.CudaTensor(2, 3, 9, 5), torch.CudaTensor(2, 3, 9, 2), random(2, 3, 9, 4),
      random(2, 3, 7, 4), random(2, 3, 7, 5), nil, dptffi.ffi.new('dpt_attention', {scale = 0.5})
end

--- By name: a function that returns the call and its getter of results; below, the calls for which
--- only one backend allocates memory.
local cases = {
   sort = function()
      local r, idx = torch.CudaTensor(20000), torch.CudaLongTensor(20000)
      return writes({r, idx}, torch.sort, r, idx, random(20000))
   end,
   mode = function()
      local r, idx = torch.CudaTensor(1), torch.CudaLongTensor(1)
      return writes({r, idx}, torch.mode, r, idx, random(20000):mul(50):floor())
   end,
   ['sums along a dimension'] = function()
      local r = torch.CudaTensor(2, 1)
      return writes({r}, torch.sum, r, random(2, 200000), 2)
   end,
   ['a product of spread matrices'] = function()
      local r = torch.CudaTensor(20, 40)
      return writes({r}, torch.mm, r, spread(20, 30), spread(30, 40))
   end,
   ['a convolution'] = function()
      return forward(nn.SpatialConvolution(3, 8, 3, 3), random(2, 3, 20, 20))
   end,
   ['a convolution backward'] = function()
      return backward(nn.SpatialConvolution(8, 8, 3, 3), random(2, 8, 20, 20))
   end,
   ["a convolution's gradients"] = function()
      return accumulate(nn.SpatialConvolution(8, 8, 3, 3), random(2, 8, 20, 20))
   end,
   attention = function()
      local out, save, q, k, v, mask, options = attention()
      return writes({out, save}, dptffi.lib.attention_forward, out, save, q, k, v, mask, options)
   end,
   ['attention backward'] = function()
      local out, save, q, k, v, mask, options = attention()
      dptffi.lib.attention_forward(out, save, q, k, v, mask, options)
      local gq, gk, gv = q:clone(), k:clone(), v:clone()
      return writes({gq, gk, gv}, dptffi.lib.attention_backward, gq, gk, gv, q, k, v, mask, out,
         random(2, 3, 9, 5), save, options)
   end,
   ['gradients of a table'] = function()
      local table = nn.LookupTable(50, 4):scaleGradByFreq()
      return accumulate(table, torch.CudaLongTensor(600):random(50))
   end,
   ['a recurrent network'] = function()
      return forward(dpt.cudnn.LSTM(6, 5, 2), random(9, 3, 6))
   end,
   ['a recurrent network backward'] = function()
      return backward(dpt.cudnn.GRU(6, 5, 2), random(9, 3, 6))
   end,
   ["a recurrent network's gradients"] = function()
      return accumulate(dpt.cudnn.LSTM(6, 5, 2), random(9, 3, 6))
   end
}
for name, make in pairs(isCuda and {
   ['running sums'] = function()
      local r = torch.CudaTensor(200000)
      return writes({r}, torch.cumsum, r, random(200000))
   end,
   ['index and add'] = function()
      local r, idx = torch.CudaTensor(9, 4), torch.CudaLongTensor(30):random(9)
      return writes({r}, r.indexAdd, r, 1, idx, random(30, 4))
   end,
   ['whole division'] = function()
      local r = torch.CudaIntTensor(10)
      local x, y = torch.CudaIntTensor(10):fill(7), torch.CudaIntTensor(10):fill(2)
      return writes({r}, r.cdiv, r, x, y)
   end,
   ['a batch normalization'] = function()
      return forward(nn.SpatialBatchNormalization(2), random(40, 2, 20, 20))
   end
} or {
   softmax = function() return forward(nn.LogSoftMax(), random(5, 7)) end,
   ['softmax backward'] = function() return backward(nn.SoftMax(), random(5, 7)) end,
   ['max pooling'] = function() return forward(nn.SpatialMaxPooling(2, 2), random(2, 3, 8, 8)) end,
   ['average pooling'] = function()
      return forward(nn.SpatialAveragePooling(2, 2), random(2, 3, 8, 8))
   end,
   upsampling = function()
      return forward(nn.SpatialUpSamplingBilinear(2), random(1, 3, 6, 6))
   end,
   padding = function()
      return forward(nn.SpatialReflectionPadding(1, 1, 1, 1), random(1, 3, 6, 6))
   end,
   ['gradients of PReLU'] = function() return accumulate(nn.PReLU(3), random(2, 3, 6, 6)) end,
   ['local response normalization backward'] = function()
      return backward(nn.SpatialCrossMapLRN(3), random(2, 5, 6, 6))
   end,
   ['a double convolution'] = function()
      local convolution = nn.SpatialConvolution(3, 8, 3, 3):type('torch.CudaDoubleTensor')
      local input = torch.CudaDoubleTensor(2, 3, 20, 20):uniform()
      return function() convolution:forward(input) end, function() return {convolution.output} end
   end
}) do
   cases[name] = make
end

--- Allocates all memory that the limit leaves, down to the smallest block.
local function hog()
   local hogs, bytes = {}, 2 ^ 24
   while bytes >= 512 do
      local ok, tensor = pcall(torch.CudaByteTensor, bytes)
      if ok then
         hogs[#hogs + 1] = tensor
      else
         bytes = bytes / 2
      end
   end
   return hogs
end

--- Returns the same numbers in host memory, without allocating on the device.
local function host(tensor)
   return tensor:type((tensor:type():gsub('Cuda', ''):gsub('^torch%.Tensor', 'torch.FloatTensor')))
end

local function copies(tensors)
   local r = {}
   for i, tensor in ipairs(tensors) do r[i] = host(tensor) end
   return r
end

describe('temporary memory of a kernel that is short', function()
   local names, made, hogs = {}, {}, nil
   for name in pairs(cases) do names[#names + 1] = name end
   table.sort(names)

   local function synchronize() cutorch.synchronize() end
   local function release()
      hogs = nil
      collectgarbage()
      collectgarbage()
   end

   setup(function()
      cutorch.setDevice(1)
      torch.manualSeed(5)
      cutorch.manualSeed(5)
      for _, name in ipairs(names) do
         local call, results = cases[name]()
         call()
         made[name] = {call = call, results = results()}
         for _, result in ipairs(made[name].results) do result:zero() end
      end
      for _, name in ipairs(names) do -- records the results; a second call allocates no tensors
         local case = made[name]
         case.call()
         case.expected = copies(case.results)
         for _, result in ipairs(case.results) do result:fill(0) end
      end
      synchronize()
      collectgarbage()
      collectgarbage()
      cutorch.emptyCache()
      local stats = cutorch.memoryStats(1)
      cutorch.setMemoryLimit(1, stats.live + stats.cached)
      hogs = hog()
      assert(#hogs > 0)
   end)
   teardown(function()
      cutorch.setMemoryLimit(1, 0)
      made = nil
      release()
   end)

   for _, name in ipairs(names) do
      it('raises in the call itself, which changes nothing: ' .. name, function()
         local case, C = made[name], dptffi.C
         local failures, blocks = C.dpt_failures(), cutorch.memoryStats(1).blocks
         local ok, why = pcall(case.call)
         assert.is_false(ok)
         assert.matches('out of memory on device 1', why)
         synchronize() -- no error remains for later
         assert.equal(failures, C.dpt_failures())
         assert.equal(blocks, cutorch.memoryStats(1).blocks)
         for _, result in ipairs(case.results) do
            assert.equal(0, host(result):abs():max())
         end
      end)
   end

   it('is allocated after memory was freed', function()
      release()
      cutorch.setMemoryLimit(1, 0)
      for _, name in ipairs(names) do
         local case, blocks = made[name], cutorch.memoryStats(1).blocks
         case.call()
         assert.equal(blocks, cutorch.memoryStats(1).blocks, name) -- no block belongs to a tensor
         for i, result in ipairs(case.results) do
            assert.is_true(host(result):equal(case.expected[i]), name)
         end
      end
   end)
end)

describe('temporary memory of a kernel', function()
   it('counts as live from the call until the kernel is queued', function()
      local x, r, idx = random(2 ^ 15), torch.CudaTensor(), torch.CudaLongTensor()
      torch.sort(r, idx, x)
      cutorch.resetPeakMemory(1)
      local before = cutorch.memoryStats(1)
      torch.sort(r, idx, x)
      local after = cutorch.memoryStats(1)
      assert.equal(before.live, after.live)
      assert.is_true(after.peak >= before.live + 2 ^ 15 * 8)
   end)

   it('is reused only after the kernel', function()
      local x, r, idx = random(2 ^ 15), torch.CudaTensor(), torch.CudaLongTensor()
      torch.sort(r, idx, x)
      local expected = host(r)
      r:zero()
      cutorch.streamSleep(20)
      torch.sort(r, idx, x)
      local others = {}
      for i = 1, 8 do others[i] = torch.CudaTensor(2 ^ (12 + i)):fill(i) end
      assert.is_true(host(r):equal(expected))
      for i = 1, 8 do assert.equal(i, others[i]:min()) end
   end)
end)
