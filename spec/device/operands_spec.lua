--- Operations on tensors of two devices raise an error that names both, and change no operand.
local dpt = require 'dpt'
local torch, cutorch, nn, optim = dpt.torch, dpt.cutorch, dpt.nn, dpt.optim

local function on(device, f) return cutorch.withDevice(device, f) end
local function matrix(device, T)
   return on(device, function() return (T or torch.CudaTensor)(3, 3):fill(device) end)
end
local Long, Byte = torch.CudaLongTensor, torch.CudaByteTensor

--- Each is called with a on device 1 and b on device 2.
local operations = {
   ['add'] = function(a, b) a:add(b) end,
   ['add with a number'] = function(a, b) a:add(2, b) end,
   ['csub'] = function(a, b) a:csub(b) end,
   ['cmul'] = function(a, b) a:cmul(b) end,
   ['cdiv into a result'] = function(a, b) torch.cdiv(a, a, b) end,
   ['addcmul'] = function(a, b) a:addcmul(1, a, b) end,
   ['addcdiv'] = function(a, b) a:addcdiv(1, b, a) end,
   ['operator +'] = function(a, b) return a + b end,
   ['operator -'] = function(a, b) return a - b end,
   ['operator *'] = function(a, b) return a * b end,
   ['cmax'] = function(a, b) a:cmax(b) end,
   ['cpow'] = function(a, b) a:cpow(b) end,
   ['lerp'] = function(a, b) torch.lerp(a, a, b, 0.5) end,
   ['gt'] = function(a, b) return torch.gt(a, b) end,
   ['equal'] = function(a, b) return a:equal(b) end,
   ['exp into a result'] = function(a, b) b:exp(a) end,
   ['sum into a result'] = function(a, b) b:sum(a, 1) end,
   ['max into results'] = function(a, b) torch.max(b, on(2, Long), a, 1) end,
   ['sort into results'] = function(a, b) torch.sort(b, on(2, Long), a) end,
   ['topk into results'] = function(a, b) torch.topk(b, on(2, Long), a, 2) end,
   ['cumsum into a result'] = function(a, b) b:cumsum(a, 1) end,
   ['dot'] = function(a, b) return a:dot(b) end,
   ['dist'] = function(a, b) return a:dist(b) end,
   ['mm'] = function(a, b) return torch.mm(a, b) end,
   ['mm into a result'] = function(a, b) b:mm(a, a) end,
   ['addmm'] = function(a, b) a:addmm(a, b) end,
   ['addmv'] = function(a, b) a[1]:addmv(a, b[1]) end,
   ['addr'] = function(a, b) a:addr(a[1], b[1]) end,
   ['baddbmm'] = function(a, b) a:view(1, 3, 3):baddbmm(a:view(1, 3, 3), b:view(1, 3, 3)) end,
   ['index'] = function(a) return a:index(1, on(2, function() return Long{1} end)) end,
   ['indexCopy'] = function(a, b) a:indexCopy(1, Long{1, 2, 3}, b) end,
   ['indexAdd'] = function(a, b) a:indexAdd(1, Long{1, 2, 3}, b) end,
   ['indexFill'] = function(a) a:indexFill(1, on(2, function() return Long{1} end), 0) end,
   ['gather'] = function(a) return a:gather(1, matrix(2, Long):fill(1)) end,
   ['scatter'] = function(a, b) a:scatter(1, matrix(1, Long):fill(1), b) end,
   ['maskedFill'] = function(a) a:maskedFill(matrix(2, Byte):fill(1), 0) end,
   ['maskedCopy'] = function(a, b) a:maskedCopy(matrix(1, Byte):fill(1), b) end,
   ['maskedSelect'] = function(a) return a:maskedSelect(matrix(2, Byte):fill(1)) end,
   ['assignment by mask'] = function(a) a[matrix(2, Byte):fill(1)] = 0 end,
   ['Linear'] = function(a) on(2, function() return nn.Linear(3, 3):cuda():forward(a) end) end,
   ['Linear, backward'] = function(a, b)
      local net = nn.Linear(3, 3):cuda()
      net:forward(a)
      net:backward(a, b)
   end,
   ['ReLU'] = function(a, b)
      local net = nn.ReLU():cuda()
      net:forward(a)
      net:backward(a, b)
   end,
   ['SpatialConvolution'] = function(a)
      local net = on(2, function() return nn.SpatialConvolution(1, 1, 2, 2):cuda() end)
      net:forward(a:view(1, 3, 3))
   end,
   ['BatchNormalization'] = function(a)
      on(2, function() return nn.BatchNormalization(3):cuda() end):forward(a)
   end,
   ['CAddTable'] = function(a, b) nn.CAddTable():cuda():forward{a, b} end,
   ['LookupTable'] = function(a)
      on(2, function() return nn.LookupTable(5, 2):cuda() end):forward(a[1])
   end,
   ['MSECriterion'] = function(a, b) nn.MSECriterion():cuda():forward(a, b) end,
   ['ClassNLLCriterion'] = function(a, b) nn.ClassNLLCriterion():cuda():forward(a, b[1]) end,
   ['BCECriterion'] = function(a, b) nn.BCECriterion():cuda():forward(a, b) end,
   ['sgd'] = function(a, b) optim.sgd(function() return 0, b end, a, {momentum = 0.9}) end,
   ['adam'] = function(a, b) optim.adam(function() return 0, b end, a, {}) end,
}

describe('Operands on two devices are rejected, and both named, #devices2', function()
   for name, operation in pairs(operations) do
      it(name, function()
         local a, b = matrix(1), matrix(2)
         local ok, why = pcall(function()
            operation(a, b)
            cutorch.synchronizeAll()
         end)
         assert.is_false(ok)
         assert.matches('device 1', why)
         assert.matches('device 2', why)
         assert.equal(1, cutorch.getDevice())
         assert.equal(9, a:sum())
      end)
   end

   it('except for copy', function()
      local a, b = matrix(1), matrix(2)
      assert.equal(18, a:copy(b):sum())
      assert.equal(1, a:getDevice())
      a:t():copy(matrix(2):t())
      assert.equal(18, a:sum())
      assert.equal(27, torch.cat(a, matrix(2):fill(1), 1):sum())
      assert.equal(27, nn.JoinTable(1):cuda():forward{a, matrix(2):fill(1)}:sum())
      local far = on(2, function() return a:clone() end)
      assert.equal(2, far:getDevice())
      assert.equal(18, far:sum())
   end)
end)
