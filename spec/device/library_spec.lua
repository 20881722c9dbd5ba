-- An NVIDIA library that is missing or wrong: cuBLAS is loaded at a device's first matrix product,
-- and the variable DPT_CUBLAS names the file to load.
local run = require 'spec.support.run'

local product = [[
   require 'dpt'
   local ok, why = pcall(function()
      local x = torch.CudaTensor(20, 20):fill(1)
      return torch.mm(x, x):sum()
   end)
   print(ok, why)
   print(pcall(function() return torch.CudaTensor(3):fill(2):sum() end))
   print(pcall(function()
      local x = torch.CudaTensor(20, 20):fill(1)
      return torch.mm(x, x):sum()
   end))
]]

local function with(file)
   return run.lua(product, {DPT_DEVICES = os.getenv 'DPT_DEVICES' or 'host:1', DPT_CUBLAS = file})
end

local cuda = require('spec.support.gpu').isCuda

describe('A library that is opened when it is needed', function()
   it('is used by default', function()
      assert.equal('true\t8000\ntrue\t6\ntrue\t8000\n', with(''))
   end)

   it("raises the loader's message at each call if the library is missing", function()
      if not cuda then return pending('needs CUDA devices, emulated ones will do') end
      local text = with('/nowhere/libcublas.so')
      local first, other, again = text:match('^(false.-)\n(true\t6)\n(false.-)\n$')
      assert.truthy(first, text)
      assert.truthy(first:find('cuBLAS cannot be opened: /nowhere/libcublas.so: ', 1, true), text)
      assert.truthy(first:find('DPT_CUBLAS', 1, true), text)
      assert.equal('true\t6', other)
      assert.equal(first:match('addmm.*'), again:match('addmm.*'))
   end)

   it('raises with the function that it lacks if it is another one', function()
      if not cuda then return pending('needs CUDA devices, emulated ones will do') end
      local text = with('libm.so.6')
      assert.truthy(text:find('cuBLAS has no function cublasGetProperty', 1, true), text)
   end)
end)
