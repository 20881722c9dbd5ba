--- Every name of torch, nn, cudnn, cutorch, optim, paths, xlua and sys that two or more of 52
-- public repositories call exists; the most frequent first (tensor methods on host and device).
local dpt = require 'dpt'
local torch = dpt.torch

local names = {
   torch = [[
      Tensor load save manualSeed class CmdLine type setdefaulttensortype Timer range
      randperm uniform LongTensor random FloatTensor CudaTensor setnumthreads zeros typename
      isTensor ByteTensor CharTensor cat round randn IntTensor floor linspace DiskFile
      setmetatable rand ones sort CudaStorage data max sum exp mean reshape multinomial eq
      eye CudaLongTensor add cdiv repeatTensor cmul totable pointer LongStorage min abs ceil
      norm isTypeOf mul gt mm pow ne std log div getdefaulttensortype any cmin le lt sign
      squeeze topk bernoulli DoubleTensor ger conv2 ge all normal getnumthreads histc
      TestSuite cumsum MemoryFile Tester cmax ByteStorage CharStorage cos getRNGState
      inverse serialize setRNGState setheaptracking
   ]],
   nn = [[
      Sequential Linear DataParallelTable View Identity SpatialMaxPooling ConcatTable
      CAddTable SpatialBatchNormalization SpatialAveragePooling Dropout ReLU Concat Reshape
      MulConstant LogSoftMax ClassNLLCriterion CrossEntropyCriterion SpatialConvolution
      JoinTable SpatialConvolutionMM ParallelTable BatchNormalization ParallelCriterion
      SpatialZeroPadding Transpose MSECriterion Sigmoid SoftMax Tanh Threshold utils
      SelectTable LeakyReLU SpatialFullConvolution SplitTable Padding ELU Normalize
      LookupTable Select Narrow CMulTable NarrowTable FlattenTable Container PReLU
      AddConstant SpatialLPPooling MapTable Unsqueeze Copy SpatialContrastiveNormalization
      AbsCriterion SpatialUpSamplingNearest BCECriterion Sum DepthConcat
      VolumetricMaxPooling Module SpatialConvolutionMap VolumetricConvolution GPU CSubTable
      Replicate Bottle SpatialDilatedConvolution SpatialSubtractiveNormalization ZeroGrad MM
      Mean MultiLabelSoftMarginCriterion OneHot Parallel SpatialDropout
      VolumetricBatchNormalization Contiguous CosineEmbeddingCriterion RReLU
      SmoothL1Criterion SpatialFullConvolutionMap SpatialUpSamplingBilinear
   ]],
   cudnn = [[
      benchmark SpatialConvolution fastest ReLU SpatialAveragePooling convert version
      SpatialMaxPooling SpatialBatchNormalization SoftMax verbose SpatialFullConvolution
      LogSoftMax SpatialCrossEntropyCriterion Sigmoid
   ]],
   cutorch = [[
      setDevice manualSeedAll synchronize createCudaHostTensor getDeviceCount manualSeed
      getDevice createCudaHostDoubleTensor createCudaHostHalfTensor withDevice
      getMemoryUsage
   ]],
   optim = [[
      sgd Logger adam ConfusionMatrix rmsprop lbfgs asgd cg lswolfe nag adadelta
   ]],
   paths = [[
      concat filep dofile dirp basename mkdir dirname dir iterfiles iterdirs files extname
   ]],
   xlua = [[
      progress envparams error require
   ]],
   sys = [[
      fexecute clock COLORS execute split tic toc dirname ls uname
   ]],
}
local methods = [[
   size add copy float clone cuda zero view fill resize narrow div mul apply mean sum squeeze
   totable normal long storage resizeAs dim type cmul max expandAs sort t nElement expand eq
   reshape data std contiguous min index split nDimension sub select ceil double transpose numel
   norm topk log typeAs pow set clamp all abs gt uniform cdiv random exp byte repeatTensor sqrt
   lt gather int addmm cdata ge addcmul floor mm isSameSizeAs permute getDevice ne new
   maskedFill indexCopy bernoulli cumsum sign addr scatter csub cat tanh storageOffset
   isContiguous unfold nonzero viewAs stride le sigmoid cmax elementSize
]]

describe('Names that scripts use exist:', function()
   for package_, list in pairs(names) do
      it('of the package ' .. package_, function()
         for name in list:gmatch('%w+') do
            assert.not_nil(dpt[package_][name], package_ .. '.' .. name)
         end
      end)
   end

   it('of methods of tensors', function()
      for _, x in ipairs{torch.FloatTensor(2), torch.CudaTensor(2)} do
         for name in methods:gmatch('%w+') do
            assert.is_function(x[name], x:type() .. ':' .. name)
         end
      end
   end)
end)
