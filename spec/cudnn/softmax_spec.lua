-- cudnn's SoftMax and LogSoftMax normalize all elements of a sample together; the Spatial ones
-- normalize planes, including those of vectors and rows.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn

-- Compares the module on x with `plain` on x viewed in the given shape.
local function same(module, plain, x, ...)
   module, plain = module:cuda(), plain:cuda()
   local g = torch.randn(x:size()):cuda()
   for _ = 1, 2 do
      local output, wanted = module:forward(x), plain:forward(x:clone():view(...))
      assert.same(x:size():totable(), output:size():totable())
      assert.same(wanted:view(-1):totable(), output:view(-1):totable())
      local gradInput = module:backward(x, g)
      assert.same(x:size():totable(), gradInput:size():totable())
      assert.same(plain:backward(x:clone():view(...), g:view(...)):view(-1):totable(),
         gradInput:view(-1):totable())
   end
end

describe('cudnn', function()
   for name, spatial in pairs{SoftMax = 'SpatialSoftMax', LogSoftMax = 'SpatialLogSoftMax'} do
      it(name .. ' normalizes all elements of a sample', function()
         local x = torch.randn(2, 3, 4, 5):cuda()
         same(cudnn[name](), nn[name](), x, 2, 60)
         same(cudnn[name](), nn[name](), x[1], 60)
         same(cudnn[name](), nn[name](), x:view(6, 20), 6, 20)
         same(cudnn[name](), nn[name](), x:view(-1), 120)
         same(cudnn[name](true), nn[name](), x:transpose(3, 4), 2, 60)
      end)

      it(spatial .. ' normalizes planes, vectors and rows', function()
         local x = torch.randn(2, 3, 4, 5):cuda()
         same(cudnn[spatial](), nn[spatial](), x, 2, 3, 4, 5)
         same(cudnn[spatial](true), nn[spatial](), x[1], 3, 4, 5)
         same(cudnn[spatial](), nn[name](), x:view(6, 20), 6, 20)
         same(cudnn[spatial](), nn[name](), x:view(6, 20):t(), 20, 6)
         same(cudnn[spatial](), nn[name](), x:view(-1), 120)
      end)
   end

   it('SoftMax accepts inputs of one dimension after inputs of four', function()
      local module = cudnn.SoftMax():cuda()
      assert.equal(1, module:forward(torch.CudaTensor(1, 2, 2, 2):fill(1)):sum())
      assert.same({0.5, 0.5}, module:forward(torch.CudaTensor{1, 1}):totable())
   end)
end)
