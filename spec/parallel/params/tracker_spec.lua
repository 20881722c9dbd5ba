-- dpt.parallel.params.tracker: cases that spec/parallel/params/overlap_spec.lua does not cover.
local dpt = require 'dpt'
local nn, torch = dpt.nn, dpt.torch
local flatten = require 'dpt.parallel.params.layout'
local Overlap = require 'dpt.parallel.params.overlap'
local buckets = require 'dpt.parallel.params.buckets'
local tracker = require 'dpt.parallel.params.tracker'

describe('dpt.parallel.params.tracker', function()
   local limits = {buckets.first, buckets.rest}
   local net, input, gradOutput
   before_each(function()
      buckets.first, buckets.rest = 40, 40
      net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.Linear(4, 4)):add(nn.Linear(4, 2)):cuda()
      input, gradOutput = torch.randn(2, 3):cuda(), torch.randn(2, 2):cuda()
   end)
   after_each(function() buckets.first, buckets.rest = unpack(limits) end)

   -- Returns a step of one replica with a stub sender; it returns how many buckets were sent early.
   local function single(order)
      local sent = {}
      local list = flatten.describe(net)
      flatten.flatten(list, 'net')
      local plan, segments = flatten.plan(list)
      local dispatcher = {run = function(_, f, ...) return {f(net, 1, ...)} end}
      local overlap = Overlap.new(plan, {segments}, list.n, dispatcher,
         {send = function(_, tensors, b) sent[#sent + 1] = {b, #tensors} end}, order)
      return function()
         net:forward(input)
         local call = overlap:begin(1)
         call(net, 1, nil, 'backward', input, gradOutput, 1)
         local early = #sent
         overlap:finish()
         local numbers = {}
         for i, one in ipairs(sent) do numbers[i] = one[1] end
         sent = {}
         return early, numbers
      end
   end

   it('records when each gradient was complete', function()
      single()()
      assert.same({3, 3, 2, 2, 1, 1}, tracker.order(net))
      assert.is_nil(tracker.order(nn.Linear(3, 2):cuda()))
   end)

   it('sends buckets in order as soon as they are complete', function()
      local step = single()
      local early, all = step()
      assert.equal(0, early) -- it is not yet known which module writes what
      local n = #all
      assert.is_true(n >= 3)
      for _ = 1, 2 do
         early, all = step()
         assert.equal(n, early)
         for b = 1, n do assert.equal(b, all[b]) end
      end
      -- in another order, the last bucket to become full delays those after it
      step = single{1, 1, 2, 2, 3, 3}
      step()
      early, all = step()
      assert.equal(n, early)
      for b = 1, n do assert.equal(b, all[b]) end
   end)
end)
