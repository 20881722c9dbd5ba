--- dpt.distributed: the ranks of a job (processes that mpirun or srun started) and their
-- communication.
--
-- Invariant: all ranks of a group call the same operations in the same order; a difference ends the
-- job with an error message instead of a hang. Ranks count from 0. An operation on host tensors is
-- done when it returns. An operation on device tensors is ordered with their current stream: work
-- queued after it sees its results. A process that was not started as a rank is a world of one
-- rank. Lists of tensors are sent as one flat tensor for each type and device.
local dptffi = require 'dpt.ffi'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local groups = require 'dpt.distributed.group'
local mesh = require 'dpt.distributed.mesh'
local general = require 'dpt.distributed.options'
local values = require 'dpt.distributed.values'
local Sampler = require 'dpt.distributed.sampler'
local Loader = require 'dpt.distributed.loader'
local pack = require 'dpt.distributed.pack'
local ffi, C, lib, fail, type = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail, dptffi.type

local distributed = {}

local number, info = ffi.new 'uint64_t[1]', ffi.new 'dpt_world_info'
local call = ffi.new 'dpt_collective'
local reductions = {sum = C.DPT_RANKS_SUM, min = C.DPT_RANKS_MIN, max = C.DPT_RANKS_MAX,
   mean = C.DPT_RANKS_MEAN}

-- ---- the world ----

if arg and arg[0] then C.dpt_world_program(tostring(arg[0])) end -- workers have no arg

local function world()
   lib.world_join(info)
   return info
end

--- Return this process's rank and the number of ranks, in the world and among those of this host.
function distributed.rank() return world().rank end
function distributed.size() return world().size end
function distributed.localRank() return world().local_rank end
function distributed.localSize() return world().local_size end

--- Returns the library that connects the ranks, as 'Open MPI v4.1.4'; '' for a world of one rank.
function distributed.library() return ffi.string(world().library) end

-- ---- groups ----

--- Makes a group of some of the ranks, which operations accept as an argument. Every rank of the
-- world calls it, with the same list. The group is freed when it is collected, or by free().
-- @function distributed.group
-- @as distributed
-- @param ranks table: a list of ranks, from 0, in the group's order
-- @return a group; at most 1,024 exist at once
-- @usage require('dpt').distributed.group{0}:size() --> 1
function distributed.group(ranks) return groups.group(ranks) end

--- Arranges all ranks as a grid with named dimensions, and makes groups along them. Ranks are
-- numbered in row-major order, so ranks along the last dimension are neighbours. Every rank of the
-- world calls it, with the same dimensions.
-- @function distributed.mesh
-- @as distributed
-- @follows PyTorch's init_device_mesh
-- @param dimensions table: sizes by name, whose product is the number of ranks, in the alphabetical
--    order of the names; or a list of {name, size}, in that order
-- @return a table of groups by name: the group of a dimension has the ranks whose coordinates
--    differ from this rank's in that dimension only. This rank's coordinate is its rank in that
--    group
-- @usage local mesh = require('dpt').distributed.mesh{replicate = 1, shard = 1}
--    return mesh.replicate:size(), mesh.shard:rank() --> 1, 0
function distributed.mesh(dimensions) return mesh(dimensions) end

--- Returns the transport of a group's collectives of device tensors. All ranks of the group call
-- it.
-- @function distributed.transport
-- @as distributed
-- @param group? group: of ranks (all)
-- @return 'nccl', 'page-locked' (through page-locked host memory, over the library that connects
--    the ranks), 'mpi' (that library reads the devices' memory) or 'none'; the reason why it is not
--    NCCL
-- @usage (require('dpt').distributed.transport()) --> none
function distributed.transport(group)
   local name, why = ffi.new 'const char *[1]', ffi.new 'const char *[1]'
   lib.world_transport(groups.number('transport', group), name, why)
   return ffi.string(name[0]), ffi.string(why[0])
end

-- ---- operations ----

local Handle = {}
Handle.__index = Handle

--- Returns true if the operation is done.
-- @function distributed.handle:done
-- @as distributed
-- @return a boolean
-- @usage local d, x = require('dpt').distributed, torch.ones(2)
--    local h = d.allReduce(x)
--    while not h:done() do end
--    return x --> [1 1]
function Handle:done() return C.dpt_collective_done(self.number) ~= 0 end

--- Waits until the operation is done; raises its error if it has failed.
-- @function distributed.handle:wait
-- @as distributed
-- @return the handle
-- @usage local d, x = require('dpt').distributed, torch.ones(2)
--    d.broadcast(x):wait()
--    return x --> [1 1]
function Handle:wait()
   lib.collective_wait(self.number)
   return self
end

local purpose -- purpose of operations without a name

local function leave(before, ok, ...)
   purpose = before
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...). Error messages about operations that f calls name this purpose.
-- @function distributed.during
-- @as distributed
-- @param name string: such as 'nn.DistributedDataParallel:forward'; in nested calls the outermost
--    name is used
-- @param f function: the function to call
-- @param ...? any: arguments of f
-- @return the results of f
-- @usage require('dpt').distributed.during('validation', math.max, 3, 5) --> 5
function distributed.during(name, f, ...)
   local before = purpose
   purpose = purpose or 'in ' .. name
   return leave(before, pcall(f, ...))
end

local promise, promised -- a number in operations' signatures, and its text

local function leavePromise(before, text, ok, ...)
   promise, promised = before, text
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...). Operations without a root that f calls have this number in their signatures, so
-- they match only if all ranks pass the same number.
-- @function distributed.promising
-- @as distributed
-- @param value number: an integer from 1 to 2^31 - 1, equal on all ranks; nil: none
-- @param text string: appended to the operations' description in error messages
-- @param f function: the function to call
-- @param ...? any: arguments of f
-- @return the results of f
-- @usage require('dpt').distributed.promising(8, ' of 8 rows', math.max, 3, 5) --> 5
function distributed.promising(value, text, f, ...)
   if not value then return f(...) end
   local before, beforeText = promise, promised
   promise, promised = value, text
   return leavePromise(before, beforeText, pcall(f, ...))
end

local function run(what, fn, input, output, root, op, group, tag, name, now, wire)
   call.what, call.how = what, reductions[op or 'sum'] or fail(
      "distributed.%s: got the operation '%s', wanted sum, mean, min or max", fn, tostring(op))
   name = name or purpose
   if promise and not root then name = (name or '') .. promised end
   call.root = root and core.checkInteger('distributed.' .. fn, 'rank', root) or promise or 0
   call.group, call.tag, call.name = groups.number(fn, group), tag or 0, name
   call.now, call.wire = now and 1 or 0, not wire and 0 or general.wires[wire] or fail(
      "distributed.%s: got the type '%s' to send, wanted %s", fn, tostring(wire),
      table.concat(general.wireNames, ' or '))
   lib.collective_run(call, input, output, number)
   return setmetatable({number = number[0]}, Handle)
end

-- Runs an operation on tensors or lists of them, each packed into contiguous flat tensors.
local function onTensors(what, fn, input, output, parts, ...)
   if input == nil and output == nil then
      fail('distributed.%s: got nil, wanted a tensor or a list of tensors', fn)
   end
   local ins = input ~= nil and pack.open('distributed.' .. fn, input, parts.input) or nil
   local outs = output ~= nil and pack.open('distributed.' .. fn, output, parts.output) or nil
   local handle
   for i = 1, math.max(ins and #ins or 0, outs and #outs or 0) do
      local from, to = ins and ins[i], outs and outs[i]
      if from then from:load() end
      if to and not from then to:load() end
      call.layout = (from or to).layout
      handle = run(what, fn, from and from.flat, to and to.flat, ...)
      if to then to:store() end
   end
   return handle or setmetatable({number = 0}, Handle)
end

local ONE = {input = 1, output = 1}

--- Waits on the host until all ranks of the group have called it.
function distributed.barrier(group)
   call.layout = 0
   return run(C.DPT_RANKS_BARRIER, 'barrier', nil, nil, nil, nil, group)
end

--- Reduces the elements over all ranks, in place on every rank; sums them by default.
-- @param tensor or list of tensors, of the same sizes on all ranks
-- @param op 'sum' (default), 'mean' (of floats), 'min' or 'max'
-- @param group of ranks; default: all
-- @param name purpose of the data, for error messages, or nil
-- @param now true: a host device's tensor has the result on return, as a host tensor always has
-- @param wire 'half' or 'bfloat16': the type in which floats are sent; nil: unchanged
-- @return handle with wait() and done()
function distributed.allReduce(tensor, op, group, name, now, wire)
   return onTensors(C.DPT_RANKS_ALL_REDUCE, 'allReduce', nil, tensor, ONE, nil, op, group, nil,
      name, now, wire)
end

--- Reduces the elements over all ranks, in place on the root; sums them by default. The others'
-- elements are undefined afterwards.
-- @param root rank in the group, from 0 (default 0)
function distributed.reduce(tensor, root, op, group)
   return onTensors(C.DPT_RANKS_REDUCE, 'reduce', nil, tensor, ONE, root or 0, op, group)
end

--- Copies the root's elements to all ranks, in place.
function distributed.broadcast(tensor, root, group)
   return onTensors(C.DPT_RANKS_BROADCAST, 'broadcast', nil, tensor, ONE, root or 0, nil, group)
end

--- Gathers the parts of all ranks on every rank, ordered by rank.
-- @function distributed.allGather
-- @as distributed
-- @param out tensor: as many elements as the parts of all ranks
-- @param part tensor: of the same size on all ranks; or a list of them, with a list as out. It may
--    alias this rank's part of out
-- @param group? group: of ranks (all)
-- @param name? string: purpose of the data, for error messages
-- @return a handle with wait() and done()
-- @usage local out = torch.Tensor(1, 2)
--    require('dpt').distributed.allGather(out, torch.Tensor{3, 4}):wait()
--    return out --> [3 4]
function distributed.allGather(out, part, group, name)
   local _, n = groups.rankAndSize('allGather', group)
   return onTensors(C.DPT_RANKS_ALL_GATHER, 'allGather', part, out, {input = 1, output = n}, nil,
      nil, group, nil, name)
end

--- Reduces the tensors of all ranks; rank i gets the i-th part of the result.
-- @function distributed.reduceScatter
-- @as distributed
-- @param part tensor: receives this rank's part
-- @param whole tensor: as many elements as the parts of all ranks
-- @param op? string: as for allReduce
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local part = torch.Tensor(2)
--    require('dpt').distributed.reduceScatter(part, torch.Tensor{5, 6}):wait()
--    return part --> [5 6]
function distributed.reduceScatter(part, whole, op, group)
   local _, n = groups.rankAndSize('reduceScatter', group)
   return onTensors(C.DPT_RANKS_REDUCE_SCATTER, 'reduceScatter', whole, part,
      {input = n, output = 1}, nil, op, group)
end

--- Gathers the parts of all ranks on the root, ordered by rank.
-- @function distributed.gather
-- @as distributed
-- @param out tensor: as many elements as the parts of all ranks on the root, nil elsewhere
-- @param part tensor: of the same size on all ranks
-- @param root? number: the rank that receives them (0)
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local out = torch.Tensor(1)
--    require('dpt').distributed.gather(out, torch.Tensor{8}):wait()
--    return out --> [8]
function distributed.gather(out, part, root, group)
   local _, n = groups.rankAndSize('gather', group)
   return onTensors(C.DPT_RANKS_GATHER, 'gather', part, out, {input = 1, output = n}, root or 0,
      nil, group)
end

--- Scatters the root's tensor: rank i gets its i-th part.
-- @function distributed.scatter
-- @as distributed
-- @param part tensor: receives this rank's part
-- @param whole tensor: as many elements as the parts of all ranks on the root, nil elsewhere
-- @param root? number: the rank that sends the parts (0)
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local part = torch.Tensor(1)
--    require('dpt').distributed.scatter(part, torch.Tensor{9}):wait()
--    return part --> [9]
function distributed.scatter(part, whole, root, group)
   local _, n = groups.rankAndSize('scatter', group)
   return onTensors(C.DPT_RANKS_SCATTER, 'scatter', whole, part, {input = n, output = 1}, root or 0,
      nil, group)
end

--- Sends a tensor to one rank, which receives one of the same type and number of elements.
-- @function distributed.send
-- @as distributed
-- @param tensor tensor: the tensor to send; or a list of tensors
-- @param to number: the rank that receives it
-- @param tag? number: the same as the receive's (0)
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage select(2, pcall(require('dpt').distributed.send, torch.Tensor(1), 5)):match 'got.*'
--    --> got rank 5, wanted 0 to 0
function distributed.send(tensor, to, tag, group)
   return onTensors(C.DPT_RANKS_SEND, 'send', tensor, nil, ONE, to, nil, group, tag)
end

--- Receives a tensor from another rank, in place.
-- @function distributed.receive
-- @as distributed
-- @param tensor tensor: receives the elements; or a list
-- @param from number: the rank that sends
-- @param tag? number: the same as the send's (0)
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage select(2, pcall(require('dpt').distributed.receive, torch.Tensor(1), 7)):match 'got.*'
--    --> got rank 7, wanted 0 to 0
function distributed.receive(tensor, from, tag, group)
   return onTensors(C.DPT_RANKS_RECEIVE, 'receive', nil, tensor, ONE, from, nil, group, tag)
end

--- Exchanges parts between all ranks: rank i gets the i-th part of each rank, ordered by rank.
-- @function distributed.allToAll
-- @as distributed
-- @follows PyTorch's all_to_all_single
-- @param out tensor: as many elements as the input
-- @param input tensor: a part for each rank, of the same size on all ranks; or a list, with a list
--    as out
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local out = torch.Tensor(2)
--    require('dpt').distributed.allToAll(out, torch.Tensor{3, 4}):wait()
--    return out --> [3 4]
function distributed.allToAll(out, input, group)
   local _, n = groups.rankAndSize('allToAll', group)
   return onTensors(C.DPT_RANKS_ALL_TO_ALL, 'allToAll', input, out, {input = n, output = n}, nil,
      nil, group)
end

-- Opens the tensors of one entry of an exchange, and appends their transfers to a list.
local function addEntry(entry, i, transfers)
   local name = 'distributed.exchange: entry ' .. i
   if type(entry) ~= 'table' or (entry.send == nil) == (entry.receive == nil) then
      fail('%s: got %s, wanted {send = tensor, to = rank} or {receive = tensor, from = rank}', name,
         type(entry) ~= 'table' and torch.type(entry)
            or entry.send == nil and 'a table with neither' or 'a table with both')
   end
   local receives = entry.receive ~= nil
   local rank = core.checkInteger(name, receives and 'from' or 'to',
      receives and entry.from or not receives and entry.to or nil)
   local tag = entry.tag == nil and 0 or core.checkInteger(name, 'tag', entry.tag)
   for _, packed in ipairs(pack.open(name, receives and entry.receive or entry.send, 1)) do
      if not receives then packed:load() end
      transfers[#transfers + 1] = {packed = packed, rank = rank, tag = tag, receives = receives}
   end
end

--- Sends and receives several tensors concurrently, so that the order of calls cannot deadlock. The
-- other rank's matching call is an exchange, a send or a receive.
-- @function distributed.exchange
-- @as distributed
-- @follows PyTorch's batch_isend_irecv
-- @param entries table: a list of {send = tensor, to = rank, tag = number} and {receive = tensor,
--    from = rank, tag = number}; tag: 0 if omitted; tensors, or lists of them, all on the host or
--    all on devices
-- @param group? group: of ranks (all)
-- @param name? string: purpose of the data, for error messages
-- @return a handle with wait() and done()
-- @usage require('dpt').distributed.exchange({}):done() --> true
function distributed.exchange(entries, group, name)
   if type(entries) ~= 'table' then
      fail("distributed.exchange: argument 'entries' is of type %s, wanted a list",
         torch.type(entries))
   end
   local transfers, which = {}, groups.number('exchange', group)
   for i, entry in ipairs(entries) do addEntry(entry, i, transfers) end
   local list = ffi.new('dpt_transfer[?]', math.max(1, #transfers))
   for i, t in ipairs(transfers) do
      list[i - 1].tensor, list[i - 1].rank = t.packed.flat, t.rank
      list[i - 1].tag, list[i - 1].receives = t.tag, t.receives and 1 or 0
   end
   lib.collective_exchange(which, #transfers, list, name or purpose, number)
   for _, t in ipairs(transfers) do
      if t.receives then t.packed:store() end
   end
   return setmetatable({number = number[0]}, Handle)
end

-- ---- data ----

--- Makes a sampler, which returns this rank's rows of a data set batch by batch. The batches of an
-- epoch are the same for every number of ranks.
-- @function distributed.sampler
-- @as distributed
-- @follows PyTorch's DistributedSampler
-- @param n number: rows of the data set
-- @param options? table: batch = rows of a batch over all ranks (n, with a warning), seed (0),
--    shuffle (true), dropLast = omits the last batch of an epoch if it has fewer rows (false),
--    group = the ranks that share each batch (all)
-- @return a sampler
-- @usage require('dpt').distributed.sampler(4, {batch = 2, shuffle = false}):next()
--    --> [1 2], 0, 2
function distributed.sampler(n, options)
   return Sampler.new(n, options, distributed.rank(), distributed.size())
end

--- Makes a loader, whose threads prepare batches and copy them to the device during training.
-- @function distributed.loader
-- @as distributed
-- @follows PyTorch's DataLoader
-- @param sampler sampler: of distributed.sampler
-- @param make function: is called in a worker with a LongTensor of rows; returns tensors, or tables
--    of them
-- @param options? table: threads (2), ahead = batches prepared in advance (2 for each thread),
--    device (the current one; 0: host memory), init = function(i), called first in worker i
-- @return a loader
-- @usage local d = require('dpt').distributed
--    local l = d.loader(d.sampler(2, {batch = 2, shuffle = false}), function(rows)
--       return rows:double() * 10
--    end, {threads = 1, device = 0})
--    local x = l:next()
--    l:close()
--    return x --> [10 20]
function distributed.loader(sampler, make, options) return Loader.new(sampler, make, options) end

-- ---- Lua values ----

--- Gathers each rank's Lua value (numbers, strings, tables, tensors ...) as a list on every rank.
function distributed.allGatherValue(value, group)
   local _, n = groups.rankAndSize('allGatherValue', group)
   local bytes = values.bytes(value)
   local sizes = torch.LongTensor(n)
   distributed.allGather(sizes, torch.LongTensor{bytes:nElement()}, group)
   local most = sizes:max()
   local mine, all = torch.ByteTensor(most):zero(), torch.ByteTensor(n, most)
   mine:narrow(1, 1, bytes:nElement()):copy(bytes)
   distributed.allGather(all, mine, group)
   local list = {}
   for i = 1, n do list[i] = values.value(all[i]:narrow(1, 1, sizes[i])) end
   return list
end

--- Returns the root's Lua value on every rank.
function distributed.broadcastValue(value, root, group)
   root = root or 0
   local rank = groups.rankAndSize('broadcastValue', group)
   local bytes = rank == root and values.bytes(value) or nil
   local size = torch.LongTensor{bytes and bytes:nElement() or 0}
   distributed.broadcast(size, root, group)
   bytes = bytes or torch.ByteTensor(size[1])
   distributed.broadcast(bytes, root, group)
   return values.value(bytes)
end

--- Common properties of the functions of distributed, for the reference.
-- @pattern distributed
-- @within distributed
-- @raise if ranks call different operations, or a rank has ended, or after DPT_TIMEOUT seconds
-- @follows PyTorch's torch.distributed

--- Returns this process's rank.
-- @function distributed.rank
-- @as distributed
-- @return a number, from 0 on
-- @usage require('dpt').distributed.rank() --> 0

--- Returns the number of ranks.
-- @function distributed.size
-- @as distributed
-- @return a number
-- @usage require('dpt').distributed.size() --> 1

--- Returns this process's rank among the ranks of its host.
-- @function distributed.localRank
-- @as distributed
-- @return a number, from 0 on
-- @usage require('dpt').distributed.localRank() --> 0

--- Returns the number of ranks on this host.
-- @function distributed.localSize
-- @as distributed
-- @return a number
-- @usage require('dpt').distributed.localSize() --> 1

--- Returns the name of the library that connects the ranks.
-- @function distributed.library
-- @as distributed
-- @return a string; '' for a world of one rank
-- @usage type(require('dpt').distributed.library()) --> string

--- Waits until all ranks have called it.
-- @function distributed.barrier
-- @as distributed
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage require('dpt').distributed.barrier():wait()

--- Reduces the elements over all ranks, in place on every rank; sums them by default.
-- @function distributed.allReduce
-- @as distributed
-- @param tensor tensor: or a list; of the same sizes on all ranks
-- @param op? string: 'sum', 'mean', 'min' or 'max'
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local t = torch.ones(2)
--    require('dpt').distributed.allReduce(t):wait()
--    return t --> [1 1]

--- Copies the root's elements to all ranks, in place.
-- @function distributed.broadcast
-- @as distributed
-- @param tensor tensor: of the same size on all ranks
-- @param root? number: the rank whose elements are copied (0)
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local t = torch.ones(2)
--    require('dpt').distributed.broadcast(t):wait()
--    return t --> [1 1]

--- Reduces the elements over all ranks, in place on the root; sums them by default. The others'
-- elements are undefined afterwards.
-- @function distributed.reduce
-- @as distributed
-- @param tensor tensor: of the same size on all ranks
-- @param root? number: the rank that gets the sum (0)
-- @param op? string: as for allReduce
-- @param group? group: of ranks (all)
-- @return a handle with wait() and done()
-- @usage local t = torch.ones(3)
--    require('dpt').distributed.reduce(t):wait()
--    return t --> [1 1 1]

--- Gathers each rank's Lua value on every rank.
-- @function distributed.allGatherValue
-- @as distributed
-- @param value any: numbers, strings, tables, tensors
-- @param group? group: of ranks (all)
-- @return a list with a value for each rank
-- @usage require('dpt').distributed.allGatherValue('word') --> {word}

--- Returns the root's Lua value on every rank.
-- @function distributed.broadcastValue
-- @as distributed
-- @param value any: numbers, strings, tables, tensors
-- @param root? number: the rank whose value is returned (0)
-- @param group? group: of ranks (all)
-- @return the root's value
-- @usage require('dpt').distributed.broadcastValue(7) --> 7

return distributed
