-- dpt.nn.DataParallelTable.profile: the times of the parts of a step.
local dpt = require 'dpt'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local steps = require 'spec.support.steps'

same.dispatched('nn.DataParallelTable', function()
   local most = same.most(4)
   same.seeded(13)

   it('A16: has the seconds of each part of a step in its field profile', function()
      local many, criterion = steps.network(most), nn.CrossEntropyCriterion():cuda()
      local input, target = torch.randn(12, 2, 6, 6):cuda(), torch.Tensor(12):random(5):cuda()
      steps.step(many, criterion, input, target)
      many.profile = {}
      cutorch.synchronizeAll()
      local timer = torch.Timer()
      for _ = 1, 3 do steps.step(many, criterion, input, target) end
      local all, names, sum = timer:time().real, {}, 0
      for name, seconds in pairs(many.profile) do
         assert.is_true(seconds > 0)
         names[#names + 1], sum = name, sum + seconds
      end
      table.sort(names)
      assert.same({'backward', 'broadcast', 'forward', 'gather', 'reduce', 'scatter'}, names)
      assert.is_true(sum <= all)
      many.profile = nil
      local before = steps.waits()
      steps.step(many, criterion, input, target)
      assert.equal(1, steps.waits() - before) -- only the loss is waited for
   end)

   it('does not mistake a method profile for a table: dpnn adds one to every class', function()
      local timed = require 'dpt.nn.DataParallelTable.profile'
      local class = {profile = function() end}
      local owner = setmetatable({}, {__index = class})
      assert.equal(3, timed(owner, 'part', function() return 3 end))
   end)

   it("returns the profiled function's results, and raises its errors", function()
      local timed, owner = require 'dpt.nn.DataParallelTable.profile', {profile = {}}
      assert.same({1, nil, 3}, {timed(owner, 'part', function(...) return ... end, 1, nil, 3)})
      assert.is_true(owner.profile.part >= 0)
      assert.same({2}, {timed({}, 'part', function() return 2 end)})
      assert.error_matches(function() timed(owner, 'part', error, 'oops') end, 'oops')
   end)
end)
