-- optim.schedule: learning rates of PyTorch's schedulers, and files.
local bad = require('spec.support.descent').bad
local run = require 'spec.support.run'

-- Rates of PyTorch's schedulers before the steps 1, 3, 6, 11, 20, 31, 60 and 100.
local at = {0, 2, 5, 10, 19, 30, 59, 99}
local recorded = {
   {'cosine', {steps = 40, minimum = 0.01, warmup = 10},
      {0.03333333333333333, 0.04666666666666667, 0.06666666666666667, 0.1, 0.08921826845200141,
         0.05499999999999999, 0.02078173154799899, 0.08921826845200434}},
   {'cosine', {steps = 100},
      {0.1, 0.09990133642141358, 0.09938441702975688, 0.09755282581475769, 0.09135402871372812,
         0.0793892626146237, 0.03605044469803857, 2.467198171342002e-05}},
   {'step', {stepSize = 7, gamma = 0.5, warmup = 3, warmupFactor = 0.25},
      {0.025, 0.075, 0.1, 0.05, 0.025, 0.0125, 0.000390625, 1.220703125e-05}},
   {'milestones', {milestones = {10, 59, 10}, gamma = 0.3},
      {0.1, 0.1, 0.1, 0.009, 0.009, 0.009, 0.0027, 0.0027}},
   {'exponential', {gamma = 0.97, warmup = 5, warmupFactor = 0.5},
      {0.05, 0.07, 0.1, 0.08587340256999999, 0.06528362774606072, 0.04669747052543716,
         0.0193051708905011, 0.005708776242661228}},
   {'constant', {warmup = 20},
      {0.03333333333333333, 0.04, 0.05, 0.06666666666666664, 0.09666666666666666, 0.1, 0.1, 0.1}},
}
local plateaus = {
   {{}, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.0001, 1e-08}},
   {{mode = 'max', factor = 0.5, patience = 3, threshold = 0.01, thresholdMode = 'abs',
      cooldown = 4}, {0.1, 0.1, 0.05, 0.05, 0.025, 0.00625, 0.00078125, 2.44140625e-05}},
   {{mode = 'max', factor = 0.3, patience = 2, threshold = 0.05, cooldown = 1, minRate = 1e-3},
      {0.1, 0.1, 0.03, 0.009, 0.001, 0.001, 0.001, 0.001}},
   {{patience = 0, factor = 0.5, threshold = 0.01, thresholdMode = 'abs'},
      {0.1, 0.1, 0.025, 0.003125, 2.44140625e-05, 4.76837158203125e-08, 1.192092895507813e-08,
         1.192092895507813e-08}},
}

local function compare(wanted, rates)
   for i, t in ipairs(at) do
      assert.is_true(math.abs(wanted[i] - rates[t]) < 1e-12 * math.max(wanted[i], 1e-3), t)
   end
end

describe('optim.schedule', function()
   for i, case in ipairs(recorded) do
      it(('has the rates of PyTorch, %s, options %d'):format(case[1], i), function()
         case[2].learningRate = 0.1
         local rate, rates = optim.schedule[case[1]](case[2]), {}
         for t = 99, 0, -1 do rates[t] = rate(t) end -- any order
         compare(case[3], rates)
      end)
   end

   for i, case in ipairs(plateaus) do
      it('has the rates of PyTorch, plateau, options ' .. i .. ', from a file halfway', function()
         case[1].learningRate = 0.1
         local plateau, rates = optim.schedule.plateau(case[1]), {}
         for t = 0, 99 do
            if t % 7 == 6 then plateau = torch.deserialize(torch.serialize(plateau)) end
            rates[t] = plateau:step(1 + math.cos(t / 8) + 0.5 * math.cos(t))
            assert.equal(rates[t], plateau.learningRate)
         end
         compare(case[2], rates)
      end)
   end

   it('counts a metric that is NaN as no improvement', function()
      local plateau = optim.schedule.plateau{learningRate = 1, patience = 0, factor = 0.5}
      assert.equal(0.5, plateau:step(0 / 0))
      assert.equal(0.5, plateau:step(7))
      assert.equal(0.25, plateau:step(0 / 0))
      assert.equal(7, plateau.best)
   end)

   it('is read by a process that has not used optim.schedule', function()
      local file = os.tmpname()
      torch.save(file, {optim.schedule.step{learningRate = 1, stepSize = 2, gamma = 0.5},
         optim.schedule.plateau{learningRate = 3}})
      assert.equal('0.25\t3\n', run.lua(([[
         require 'dpt'
         local list = torch.load '%s'
         print(list[1](4), list[2]:step(1))
      ]]):format(file)))
      os.remove(file)
   end)

   it('rejects wrong options and steps', function()
      local schedule = optim.schedule
      local name = 'optim.schedule.cosine: '
      for wanted, given in pairs{
         ['option steps wants a number above 0, got nil'] = {learningRate = 1},
         ['option steps wants a number above 0, got 0'] = {learningRate = 1, steps = 0},
         ["option learningRate wants a number from 0 on, got '1'"] = {learningRate = '1',
            steps = 1},
         ['option minimum wants a number from 0 on, got inf'] = {learningRate = 1, steps = 1,
            minimum = math.huge},
         ['option warmupFactor wants a number above 0, at most 1, got 2'] = {learningRate = 1,
            steps = 1, warmupFactor = 2},
         ['there is no option gamma, wanted learningRate, minimum, steps, warmup or'
            .. ' warmupFactor'] = {learningRate = 1, steps = 1, gamma = 1},
         ['wants a table of options as argument 1, got number'] = 5,
      } do bad(name .. wanted, schedule.cosine, given) end
      bad('optim.schedule.milestones: option milestones wants a list of numbers, got {}',
         schedule.milestones, {learningRate = 1, milestones = {}})
      bad("optim.schedule.plateau: option mode wants 'min' or 'max', got 'best'",
         schedule.plateau, {learningRate = 1, mode = 'best'})
      bad('optim.schedule.plateau: option factor wants a number from 0 on, below 1, got 1',
         schedule.plateau, {learningRate = 1, factor = 1})
      local rate = schedule.constant{learningRate = 1}
      for text, value in pairs{['-1'] = -1, ['nan'] = 0 / 0, ['a string'] = '3'} do
         local line, raised = bad("optim.schedule.constant: argument 't' is " .. text
            .. ', wanted the number of steps, from 0 on', function() return (rate(value)) end)
         assert.equal(line + 1, raised)
      end
      bad("optim.schedule.plateau: step: argument 'metric' is nil, wanted a number",
         function() schedule.plateau{learningRate = 1}:step() end)
   end)
end)
