--- dpt.nn.DistributedDataParallel.fields: lists the fields of a distributed network.
--
-- Invariant: an object has these fields and those of nn.Module, no others. Each value names the
-- file of this folder that writes the field (`init` is nn/DistributedDataParallel.lua), and its
-- meaning.
local fields = {
   -- Options (options.lua): docs/distributed-options.md.
   reduce = 'options: how ranks are weighted',
   buffers = 'options: whose running statistics all ranks get',
   checkEvery = 'options: the number of forwards between checks (checkAlike); nil: none',
   evenBatches = 'options: true if ranks promise to have as many rows',
   group = 'options: the ranks that train the network (dpt.distributed.group)',
   hook = 'options: how gradients are added up; nil: as they are',
   sampler = 'options: knows the rows of a batch of all ranks; or nil',
   overlap = 'options: true if sums begin in the backward pass',

   -- From the constructor.
   modules = 'init: list of one, the network inside',
   rank = 'init: the number of this rank in the group, from 0',
   ranks = 'init: the number of ranks in the group',
   sentBytes = 'init: {gradients, parameters, buffers}, bytes that this rank has sent so far',
   sender = 'init: sums buckets over ranks (dpt.parallel.ranks.sender); nil with one rank',
   pending = 'init: what may be done while gradients wait (dpt.parallel.params.pending)',

   -- The network that all ranks have compared.
   parallelTable = 'sync: the network inside if it is an nn.DataParallelTable, else nil',
   device = 'sync: the device of a network that is none, 0: host memory',
   dispatcher = 'sync: runs functions on the only replica of a network that is none',
   params = 'sync: parameters and gradients as segments (dpt.parallel.params)',
   recordedLayout = 'sync: layout of parameters and gradients in the last comparison of ranks',
   limitsRows = 'sync: true if a forward changes rows of parameters (maxNorm)',
   ordered = 'init: true if ranks have agreed on an order of buckets',
   order = "init: when each parameter's gradient was full in rank 0's first pass; nil: unknown",

   -- The last forward.
   rows = 'init: the number of rows of this rank',
   before = 'init: the number of rows of lower ranks in the batch of all ranks',
   total = 'init: the number of rows of all ranks; nil: unknown',
   active = 'init: {first, count, isOwn}, the ranks with rows in the last one in training; or nil',
   statisticsUpdated = 'init: true from an update of running statistics to the next backward',
   partModules = 'init: the modules that receive the part of the batch (field batchPart)',
   untilCheck = 'check: the number of forwards until the next check',
   evaluated = 'init: true if it was in evaluation',

   -- The last backward, and gradients that wait (noSync).
   weight = "no_sync: what this rank's gradient counts; nil: no backward since the forward",
   scaled = "init: memory of gradOutput times this rank's share",
   unscaled = 'init: memory of gradInput in units of this rank',
   inNoSync = 'DataParallelTable/sync: true in noSync',
   failures = 'init: the number of backward passes that have failed',
   updatedWhilePending = 'inner: true if parameters were written to while gradients waited',
   pendingWeights = 'no_sync: the weights of pending passes; nil: none wait',
}

return fields
