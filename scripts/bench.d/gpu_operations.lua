--- Operations and layers that bench gpu measures besides its own rows, by name.
--
-- Invariant: gpu_peer.py does the same work under the same name. An entry allocates the operands
-- and returns the function to measure, which allocates nothing.
local dptffi = require 'dpt.ffi'
local ffi, lib = dptffi.ffi, dptffi.lib

--- Returns the entries {name, f}, in the order in which they are printed.
-- @param cuda makes a device tensor of random numbers between -1 and 1
-- @param classes makes n random classes from 1 to count: classes(n, count)
-- @param k divides the sizes: 1, or more to check that this file runs
return function(cuda, classes, k)
   local list = {}
   local function add(name, make) list[#list + 1] = {name, make} end
   local function size(n) return math.max(1, math.floor(n / k)) end
   local side, wide = size(8192), size(10000)

   --- Returns forward and backward of a layer, including the gradients of parameters.
   local function layer(net, input)
      net = net:cuda()
      local output = net:forward(input)
      local gradient = output:clone():fill(1)
      return function()
         net:forward(input)
         net:backward(input, gradient)
      end
   end

   add('add 16 numbers', function()
      local a, b = cuda(16), cuda(16)
      return function() a:add(b) end, 500
   end)
   add('read a number', function()
      local a = cuda(16)
      return function() return a[3] end, 100
   end)
   add('tanh', function()
      local a, r = cuda(side, side), cuda(side, side)
      return function() r:tanh(a) end
   end)
   add('copy transposed', function()
      local a, r = cuda(side, side), cuda(side, side)
      local t = a:t()
      return function() r:copy(t) end
   end)
   add('add rows of a wider', function()
      local a, r = cuda(side, 2 * side):narrow(2, 1, side), cuda(side, side)
      return function() r:add(a) end
   end)
   add('add a row to all', function()
      local a, r = cuda(side), cuda(side, side)
      local rows = a:view(1, side):expandAs(r)
      return function() r:add(rows) end
   end)
   add('sum of rows', function()
      local a, r = cuda(side, side), cuda(side, 1)
      return function() torch.sum(r, a, 2) end
   end)
   add('sum of columns', function()
      local a, r = cuda(side, side), cuda(1, side)
      return function() torch.sum(r, a, 1) end
   end)
   add('max of rows', function()
      local a, r, i = cuda(side, side), cuda(side, 1), torch.CudaLongTensor(side, 1)
      return function() torch.max(r, i, a, 2) end
   end)
   add('norm', function()
      local a = cuda(side, side)
      return function() return a:norm() end
   end)
   add('cumulated rows', function()
      local a, r = cuda(side, side), cuda(side, side)
      return function() torch.cumsum(r, a, 2) end
   end)
   add('sort rows of 1000', function()
      local a, r, i = cuda(size(1000), 1000), cuda(size(1000), 1000),
         torch.CudaLongTensor(size(1000), 1000)
      return function() torch.sort(r, i, a, 2) end
   end)
   add('sort 1 M', function()
      local a, r, i = cuda(size(1000000)), cuda(size(1000000)), torch.CudaLongTensor(size(1000000))
      return function() torch.sort(r, i, a, 1) end
   end)
   add('topk 10 of 10000', function()
      local a, r, i = cuda(size(1000), 10000), cuda(size(1000), 10),
         torch.CudaLongTensor(size(1000), 10)
      return function() torch.topk(r, i, a, 10, 2, true) end
   end)
   add('index rows', function()
      local a, i = cuda(wide, 512), classes(size(8192), wide):cudaLong()
      local r = cuda(size(8192), 512)
      return function() torch.index(r, a, 1, i) end
   end)
   add('uniform', function()
      local r = cuda(side, side)
      return function() r:uniform() end
   end)
   add('normal', function()
      local r = cuda(side, side)
      return function() r:normal() end
   end)
   add('bmm 64 x 256', function()
      local a, b, r = cuda(64, 256, 256), cuda(64, 256, 256), cuda(64, 256, 256)
      return function() torch.bmm(r, a, b) end
   end)
   add('product of doubles', function()
      local n = size(2048)
      local a, b, r = cuda(n, n):cudaDouble(), cuda(n, n):cudaDouble(), cuda(n, n):cudaDouble()
      return function() torch.mm(r, a, b) end
   end)
   add('softmax', function() return layer(nn.SoftMax(), cuda(size(4096), 10000)) end)
   add('log-softmax', function() return layer(nn.LogSoftMax(), cuda(size(4096), 10000)) end)
   add('cross entropy', function()
      local loss, x, y = nn.CrossEntropyCriterion():cuda(), cuda(size(4096), 10000),
         classes(size(4096), 10000)
      return function()
         loss:updateLoss(x, y)
         loss:backward(x, y)
      end
   end)
   add('dropout', function() return layer(nn.Dropout(0.5), cuda(side, side)) end)
   add('relu', function() return layer(nn.ReLU(), cuda(side, side)) end)
   add('batch normalization', function()
      return layer(nn.SpatialBatchNormalization(64), cuda(size(64), 64, 56, 56))
   end)
   add('batch normalization, rows', function()
      return layer(nn.BatchNormalization(1024), cuda(size(8192), 1024))
   end)
   add('max pooling', function()
      return layer(nn.SpatialMaxPooling(2, 2), cuda(size(64), 64, 56, 56))
   end)
   add('average pooling 3x3', function()
      return layer(nn.SpatialAveragePooling(3, 3, 2, 2, 1, 1), cuda(size(64), 64, 56, 56))
   end)
   add('upsampling', function()
      return layer(nn.SpatialUpSamplingNearest(2), cuda(size(64), 64, 28, 28))
   end)
   add('linear 1024', function() return layer(nn.Linear(1024, 1024), cuda(size(4096), 1024)) end)
   add('convolution 1x1', function()
      return layer(nn.SpatialConvolution(256, 64, 1, 1), cuda(size(64), 256, 28, 28))
   end)
   add('convolution, depth-wise', function()
      return layer(cudnn.SpatialConvolution(128, 128, 3, 3, 1, 1, 1, 1, 128),
         cuda(size(64), 128, 28, 28))
   end)
   add('full convolution', function()
      return layer(nn.SpatialFullConvolution(64, 32, 4, 4, 2, 2, 1, 1), cuda(size(64), 64, 28, 28))
   end)
   add('convolution of volumes', function()
      return layer(nn.VolumetricConvolution(16, 32, 3, 3, 3, 1, 1, 1, 1, 1, 1),
         cuda(size(16), 16, 16, 28, 28))
   end)
   add('lookup table', function()
      return layer(nn.LookupTable(wide, 512), classes(size(8192), wide):view(-1, 1):squeeze(2))
   end)
   add('bidirectional GRU, 2 layers', function()
      return layer(cudnn.BGRU(256, 256, 2), cuda(size(64), 64, 256))
   end)
   --- Returns forward and backward of causal attention: 8 sequences, 12 heads of 64.
   local function attention(length, typename)
      local function random() return cuda(8, 12, length, 64):type(typename) end
      local query, key, value, gradOutput = random(), random(), random(), random()
      local output, save, gradients = query.new(), torch.CudaTensor(), {}
      for i = 1, 3 do gradients[i] = query.new() end
      local options = ffi.new('dpt_attention', {causal = 1, scale = 1 / 8})
      return function()
         lib.attention_forward(output, save, query, key, value, nil, options)
         lib.attention_backward(gradients[1], gradients[2], gradients[3], query, key, value, nil,
            output, gradOutput, save, options)
      end
   end
   for _, length in ipairs{256, 1024, 4096} do
      local name = ('attention to %d'):format(length)
      add(name, function() return attention(size(length), 'torch.CudaTensor') end)
      add(name .. ', bfloat16', function()
         return attention(size(length), 'torch.CudaBFloat16Tensor')
      end)
   end
   local function updates(method, state)
      return function()
         local x, g = cuda(size(25000000)), cuda(size(25000000))
         local function f() return 0, g end
         return function() optim[method](f, x, state) end
      end
   end
   add('sgd of 25 M', updates('sgd', {learningRate = 1e-3, momentum = 0.9, dampening = 0}))
   add('adam of 25 M', updates('adam', {learningRate = 1e-3}))
   local function pageable() return torch.FloatTensor(size(25000000)):fill(1) end
   add('100 MB to the device', function()
      local a, b = pageable(), cuda(size(25000000))
      return function() b:copy(a) end, 5
   end)
   add('100 MB to the device, pinned', function()
      local a, b = cutorch.createCudaHostTensor(size(25000000)):fill(1), cuda(size(25000000))
      return function() b:copyAsync(a) end, 5
   end)
   add('100 MB from the device', function()
      local a, b = pageable(), cuda(size(25000000))
      return function() a:copy(b) end, 5
   end)
   return list
end
