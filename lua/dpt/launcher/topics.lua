--- dpt.launcher.topics: the chapters of the reference, and dpt's counterparts of PyTorch names.
--
-- Invariant: each entry of the reference is in one of the chapters; scripts/docs checks that. A
-- name in `elsewhere` is in lower case, without package and underscores; it maps to an entry,
-- or to a sentence that names the replacement.
local topics = {}

--- Chapters in the order of the pages: name, package and contents.
topics.chapters = {
   {'tensors', 'torch', 'creating, converting, viewing and indexing tensors'},
   {'storages', 'torch', 'the memory of tensors'},
   {'pointwise', 'torch', 'arithmetic and comparisons by element'},
   {'reductions', 'torch', 'sums, means, extremes, sorting, cumulative sums'},
   {'linear algebra', 'torch', 'products, solvers, decompositions'},
   {'random', 'torch', 'seeds, generators, distributions'},
   {'files', 'torch', 'torch.save, torch.load and open files'},
   {'utilities', 'torch', 'classes, types, timers, command lines, tests of torch'},
   {'nn containers', 'nn', 'modules made of modules; what all modules do'},
   {'nn simple', 'nn', 'reshaping, selecting and copying layers'},
   {'nn linear', 'nn', 'layers with weights that are not convolutions'},
   {'nn transfer', 'nn', 'activations: ReLU, Tanh, SoftMax and others'},
   {'nn normalization', 'nn', 'batch and local normalization, dropout'},
   {'nn convolution', 'nn', 'convolutions in one, two and three dimensions'},
   {'nn pooling', 'nn', 'maxima and averages of windows'},
   {'nn sampling', 'nn', 'padding and upsampling of images'},
   {'nn tables', 'nn', 'layers that take or return tables of tensors'},
   {'nn criterions', 'nn', 'losses'},
   {'nn recurrent', 'nn', 'LSTM, GRU and modules over sequences'},
   {'nn attention', 'nn', 'attention, positions, and caches for sampling'},
   {'nn weights', 'nn', 'exchanging weights with PyTorch as safetensors files'},
   {'nn for authors', 'nn', 'writing and testing modules'},
   {'optim', 'optim', 'optimizers, loggers, confusion matrices'},
   {'cutorch', 'cutorch', 'devices, streams, events, memory'},
   {'cudnn', 'cudnn', "cuDNN's layers, on every device"},
   {'nn data-parallel', 'nn', 'one network on several devices or processes'},
   {'comm', 'comm', 'copies and sums between devices'},
   {'distributed', 'distributed', 'ranks: collectives, samplers, loaders'},
   {'profiler', 'profiler', 'recording what devices do'},
   {'threads', 'threads', 'worker threads, locks, queues'},
   {'paths', 'paths', 'files and folders'},
   {'sys', 'sys', 'clocks, commands of the shell'},
   {'xlua', 'xlua', 'progress bars, options, helpers'},
   {'gnuplot', 'gnuplot', 'plots'},
   {'image', 'image', 'loading, scaling and transforming images'},
   {'tds', 'tds', 'hashes and vectors that workers share'},
}

local SCHEDULER = [[
optim.schedule has functions of the number of steps. Set config.learningRate before
each step of an optimizer, as in
   local rate = optim.schedule.cosine{learningRate = 0.1, steps = 1000}
   for t = 0, 999 do config.learningRate = rate(t) ... end
optim.sgd, optim.adam and optim.adamw have learningRateDecay.]]

local AUTOGRAD = [[
dpt itself has no autograd: each module computes its gradient, net:backward(input, gradOutput).
Torch7's package torch-autograd runs on dpt (docs/porting.md).]]

topics.elsewhere = {
   adaptiveavgpool2d = 'nn.SpatialAdaptiveAveragePooling',
   adaptivemaxpool2d = 'nn.SpatialAdaptiveMaxPooling',
   allreduce = 'distributed.allReduce',
   alltoallsingle = 'distributed.allToAll',
   autograd = AUTOGRAD,
   autocast = 'nn.MixedPrecision',
   averagedmodel = 'optim.ema',
   avgpool2d = 'nn.SpatialAveragePooling',
   avgpool3d = 'nn.VolumetricAveragePooling',
   batchisendirecv = 'distributed.exchange',
   batchnorm1d = 'nn.BatchNormalization',
   batchnorm2d = 'nn.SpatialBatchNormalization',
   batchnorm3d = 'nn.VolumetricBatchNormalization',
   bceloss = 'nn.BCECriterion',
   broadcasttensors = 'torch.broadcast',
   checkpoint = 'nn.Recompute',
   clipgrad = 'nn.utils.clipGradNorm',
   clipgradnorm = 'nn.utils.clipGradNorm',
   clipgradvalue = 'nn.utils.clipGradValue',
   conv1d = 'nn.TemporalConvolution',
   conv2d = 'nn.SpatialConvolution',
   conv3d = 'nn.VolumetricConvolution',
   convtranspose2d = 'nn.SpatialFullConvolution',
   convtranspose3d = 'nn.VolumetricFullConvolution',
   cosineannealinglr = 'optim.schedule.cosine',
   crossentropyloss = 'nn.CrossEntropyCriterion',
   dataloader = 'distributed.loader',
   distributedsampler = 'distributed.sampler',
   dropout2d = 'nn.SpatialDropout',
   earlystopping = [[
There is no class for early stopping: keep the best loss of the validation set, save the
network when it falls, and leave the loop when it has not fallen for some epochs, as
examples/pictures.lua does.]],
   eval = 'nn.Module:evaluate',
   exponentialmovingaverage = 'optim.ema',
   exponentiallr = 'optim.schedule.exponential',
   flatten = 'nn.View',
   getemamultiavgfn = 'optim.ema',
   getglobalrank = 'distributed.group:globalRank',
   getrank = 'distributed.rank',
   gradscaler = 'optim.LossScaler',
   initdevicemesh = 'distributed.mesh',
   kldivloss = 'nn.DistKLDivCriterion',
   l1loss = 'nn.AbsCriterion',
   instancenorm1d = 'nn.InstanceNorm',
   instancenorm2d = 'nn.InstanceNorm',
   instancenorm3d = 'nn.InstanceNorm',
   linearlr = 'optim.schedule.constant',
   loadstatedict = 'nn.safetensors.fill',
   lrscheduler = SCHEDULER,
   maxpool1d = 'nn.TemporalMaxPooling',
   maxpool2d = 'nn.SpatialMaxPooling',
   maxpool3d = 'nn.VolumetricMaxPooling',
   modulelist = 'nn.Container',
   mseloss = 'nn.MSECriterion',
   multisteplr = 'optim.schedule.milestones',
   newgroup = 'distributed.group',
   nllloss = 'nn.ClassNLLCriterion',
   nograd = AUTOGRAD,
   reducelronplateau = 'optim.schedule.plateau',
   requiresgrad = AUTOGRAD,
   scheduler = SCHEDULER,
   smoothl1loss = 'nn.SmoothL1Criterion',
   statedict = 'nn.safetensors.tensors',
   step = [[
There are no objects of optimizers: optim.adam(f, params, config) takes a step, where f returns
the loss and the gradients. Use one config for all steps: it also holds the optimizer's state.]],
   steplr = 'optim.schedule.step',
   syncbatchnorm = 'nn.SyncBatchNormalization',
   train = 'nn.Module:training',
   zerograd = 'nn.Module:zeroGradParameters',
}

return topics
