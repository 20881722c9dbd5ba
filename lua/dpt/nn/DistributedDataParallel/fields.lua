--- dpt.nn.DistributedDataParallel.fields: the fields of a distributed network, each once.
--
-- Invariant: an object has these and no others, beside those of nn.Module. Each has the file of
-- this folder that writes it (`init` is nn/DistributedDataParallel.lua) and its meaning.
local fields = {
   -- Options (options.lua): docs/distributed.md.
   reduce = 'options: how ranks are weighted',
   buffers = 'options: whose running statistics all ranks get',
   hook = 'options: how gradients are added up; nil: as they are',
   sampler = 'options: knows the rows of a batch of all ranks; or nil',
   overlap = 'options: true if sums begin in the backward pass',

   -- From the constructor.
   modules = 'init: list of one, the network inside',
   rank = 'init: the number of this rank, from 0',
   ranks = 'init: the number of ranks',
   sentBytes = 'init: {gradients, parameters, buffers}, bytes that this rank has sent so far',
   sender = 'init: sums buckets over ranks (dpt.parallel.ranks.sender); nil with one rank',

   -- The network that all ranks have compared.
   table = 'alike: the network inside if it is an nn.DataParallelTable, else nil',
   device = 'alike: the device of a network that is none, 0: host memory',
   dispatcher = 'alike: runs functions on the only replica of a network that is none',
   params = 'alike: parameters and gradients as segments (dpt.parallel.params)',
   seen = 'alike: where parameters and gradients were when ranks last compared the network',
   looked = 'alike: modules whose methods must heed scale (dpt.parallel.ranks.scale)',
   limits = 'alike: true if a forward changes rows of parameters (maxNorm)',
   ordered = 'init: true if ranks have agreed on an order of buckets',
   order = "init: when each parameter's gradient was full in rank 0's first pass; nil: unknown",

   -- The last forward.
   rows = 'init: the number of rows of this rank',
   before = 'init: the number of rows of lower ranks in the batch of all ranks',
   total = 'init: the number of rows of all ranks; nil: unknown',
   evaluated = 'init: true if it was in evaluation',

   -- The last backward, and gradients that wait (noSync).
   weighed = "deferred: what this rank's gradient counts; nil: no backward since the forward",
   weighedBy = 'deferred: of what kind that is (dpt.parallel.ranks.weights)',
   deferred = 'DataParallelTable/follow: true in noSync',
   pending = 'deferred: what waits on this rank; nil: nothing',
}

return fields
