-- Ranks on one machine, started by mpirun: every operation compared with one process.
local ffi = require 'ffi'
local torch = require('dpt').torch
local script = require 'spec.support.ranks.script'
local ranks = require 'spec.support.ranks'
local standIn = require 'spec.support.stand_in'
local distributed = require 'dpt.distributed'

describe('dpt.distributed', function()
   it('is a world of one rank in a process that nobody started as a rank', function()
      assert.equal(0, distributed.rank())
      assert.equal(1, distributed.size())
      assert.equal(0, distributed.localRank())
      assert.equal(1, distributed.localSize())
      assert.equal('', distributed.library())
      local t = torch.FloatTensor{1, 2}
      distributed.allReduce(t):wait()
      distributed.allReduce(t, 'mean')
      assert.same({1, 2}, t:totable())
      local out = torch.FloatTensor(2)
      assert.is_true(distributed.allGather(out, t):done())
      assert.same({1, 2}, out:totable())
      assert.same({{4}}, distributed.allGatherValue{4})
      assert.equal('x', distributed.broadcastValue 'x')
      local group = distributed.group{0}
      assert.equal(0, group:rank())
      assert.equal(1, group:size())
      distributed.barrier(group)
      distributed.barrier()
      assert.same({'none', 'there is one rank'}, {distributed.transport()})
   end)

   it('names the wrong argument', function()
      local t = torch.FloatTensor(3)
      local function wrong(message, name, ...)
         local ok, why = pcall(distributed[name], ...)
         assert.is_false(ok, name)
         assert.matches(message, why, 1, true)
      end
      wrong('allReduce: got number, wanted a tensor or a list of tensors', 'allReduce', 3)
      wrong('allReduce: got nil, wanted a tensor or a list of tensors', 'allReduce')
      wrong('scatter: got nil, wanted a tensor', 'scatter')
      wrong('allReduce: got table, wanted a tensor or a list of tensors', 'allReduce', {a = t})
      wrong('allReduce: got nn.Identity, wanted a tensor', 'allReduce',
         require('dpt').nn.Identity())
      wrong('entry 2 is of type number', 'allReduce', {t, 4})
      wrong("got the operation 'product', wanted sum, mean, min or max", 'allReduce', t, 'product')
      wrong('wanted floats for a mean', 'allReduce', t:long(), 'mean')
      wrong("got the type 'f16' to send, wanted half or bfloat16", 'allReduce', t, 'sum', nil, nil,
         nil, 'f16')
      wrong('wanted floats to send in 16 bits each', 'allReduce', t:long(), 'sum', nil, nil, nil,
         'half')
      wrong('got rank 1, wanted 0 to 0', 'broadcast', t, 1)
      wrong("'rank'", 'broadcast', t, 'first')
      wrong('allGather: got a ', 'allGather', t, torch.FloatTensor(2))
      wrong('allGather: got a ', 'allGather', t, torch.LongTensor(3))
      wrong("argument 'out' is missing", 'allGather', nil, t)
      wrong('rank 0 is this one', 'send', t, 0)
      wrong('got rank 3, wanted 0 to 0', 'group', {3})
      wrong('rank 0 is there twice', 'group', {0, 0})
      wrong('got no ranks', 'group', {})
      wrong('wanted a list of ranks', 'group', 2)
      wrong('allReduce: got table, wanted a group', 'allReduce', t, 'sum', {})
      wrong('allGather: got number, wanted a group', 'allGather', t, t, 2)
   end)

   -- A single rank also rounds, as a transfer would.
   it('rounds floats of all exponents once to the type that is sent', function()
      local bits = torch.IntTensor(2 ^ 16, 5)
      for i, low in ipairs{0, 1, 0x7fff, 0x8000, 0xffff} do
         bits:select(2, i):range(0, 2 ^ 16 - 1):add(-2 ^ 15):mul(2 ^ 16):add(low)
      end
      local floats = torch.FloatTensor(torch.FloatStorage(bits:nElement()))
      ffi.copy(floats:data(), bits:data(), 4 * bits:nElement())
      local doubles = floats:double():mul(1 + 2 ^ -40) -- next to ties
      for kind in pairs(script.reals) do
         for _, wire in ipairs(script.wires) do
            local t = doubles:type(kind):clone()
            local wanted = t[wire](t):type(kind):double()
            distributed.allReduce(t, 'sum', nil, nil, nil, wire)
            t = t:double()
            local same = torch.eq(t, wanted):add(torch.ne(t, t):cmul(torch.ne(wanted, wanted)))
            assert.equal(1, same:min(), kind .. ' as ' .. wire)
         end
      end
   end)

   local nccl = 'DPT_DEVICES=emulated:2 DPT_EMULATED_ASYNC=1 DPT_EMULATED_DELAY=300'
      .. ' DPT_TIMEOUT=100 DPT_NCCL=' .. standIn.library

   local function compare(n, transport, environment)
      if ranks.missing() then return pending(ranks.missing()) end
      local most = os.getenv 'DPT_RANKS' and '1000000' or '30000'
      local output, status = ranks.run(n, 'collectives', most .. ' ' .. transport, environment)
      assert.equal(0, status, output)
      assert.matches('compared %d+ results', output)
   end

   for n in (os.getenv 'DPT_RANKS' or '1 2 3'):gmatch '%d+' do
      it(('returns on each of %d ranks the result of one process'):format(n), function()
         compare(tonumber(n), 'mpi', 'DPT_DEVICES=host:2')
      end)

      if n ~= '1' then
         it(('returns the same on %d ranks whose devices NCCL joins #hostonly'):format(n),
            function() compare(tonumber(n), 'nccl', nccl) end)
      end
   end

   it('shares the cores among the ranks of a host', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local each = math.max(1, math.floor(require('dpt.ffi').C.dpt_cores() / 2))
      local line = ('%d cores\n'):format(each)
      assert.matches(line .. line, (ranks.run(2, 'cores')), 1, true)
   end)

   it('yields its core to other threads while it waits, unless the environment disables it',
      function()
         if ranks.missing() then return pending(ranks.missing()) end
         assert.matches('yields 1\nyields 1\n', (ranks.run(2, 'polling')), 1, true)
         assert.matches('yields 0\nyields 0\n', (ranks.run(2, 'polling', nil,
            'OMPI_MCA_mpi_yield_when_idle=0')), 1, true)
      end)

   it('reaches the memory of devices that the CPU cannot read', function()
      compare(2, 'page-locked', 'DPT_TIMEOUT=100 DPT_DEVICES=' .. ranks.devices)
   end)

   it('uses NCCL where possible, on one device of each rank #hostonly', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'devices', 'works', nccl)
      assert.equal(0, status, output)
      assert.matches('the end', output, 1, true)
   end)

   for mistake, said in pairs{
      link = 'rank %d: .-allReduce: NCCL between ranks: .-a link went down on demand',
      side = 'not the same on all ranks: .-5 Float elements %(sum%), between devices on rank 0',
      wire = 'not the same on all ranks: .-5 Float elements as Half %(sum%) on rank 0',
      order = 'not the same on all ranks: .-%(sum in the order of ranks%) on rank 0',
   } do
      it('ends the job if NCCL fails or is called differently #hostonly: ' .. mistake, function()
         if ranks.missing() then return pending(ranks.missing()) end
         local output, status = ranks.run(2, 'devices', mistake, nccl)
         assert.matches(said, output)
         assert.not_equal(0, status)
         assert.not_equal(124, status)
      end)
   end

   it('is in the report of `dpt doctor`: library, rank, transport #hostonly', function()
      if ranks.missing() then return pending(ranks.missing()) end
      local output, status = ranks.run(2, 'doctor', nil, nccl)
      assert.equal(0, status, output)
      assert.matches('\nMPI +%S[^\n]* v?%d[^\n]*\n', output)
      for rank = 0, 1 do
         assert.matches(('\nranks +rank %d of 2, 2 of them on this host\n'):format(rank), output)
      end
      assert.matches('\ntransport +host tensors by MPI, device tensors by NCCL\n', output)
   end)
end)
