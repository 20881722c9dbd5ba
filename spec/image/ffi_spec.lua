local dpt = require 'dpt'
local image = require 'image'
local raises = require 'spec.support.raises'
local torch, cutorch = dpt.torch, dpt.cutorch

describe('arguments of image', function()
   it('are host tensors', function()
      if not cutorch then return end
      raises("image.hflip: argument 'src' is a torch.CudaTensor of size 3x2x2, wanted a ByteTensor,"
         .. ' FloatTensor or DoubleTensor: pictures are computed on the host, call :float() first',
         function() image.hflip(torch.CudaTensor(3, 2, 2)) end)
   end)

   it('that are missing are named at the line of the script', function()
      raises("image.rotate: argument 'src' is nil, wanted a ByteTensor, FloatTensor or"
         .. ' DoubleTensor', function() image.rotate() end)
      raises("image.rotate: argument 'angle' is nil, wanted a number",
         function() image.rotate(torch.rand(2, 2)) end)
   end)
end)
