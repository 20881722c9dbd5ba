-- dpt.optim.on_device (B5): a method runs on the device of its parameters, whichever is current.
local copy = require 'dpt.clone'
local descent = require 'spec.support.descent'
local bad, distance = descent.bad, descent.distance

describe('A method of descent runs where its parameters are:', function()
   if cutorch.getDeviceCount() < 2 then return pending('needs 2 devices') end
   before_each(function() cutorch.setDevice(1) end)

   -- Returns f(x) = x.x/2 with its gradient, and x; f records the current device.
   local function problem(device, noted)
      local x, g
      cutorch.withDevice(device, function()
         x, g = torch.CudaTensor(4):fill(1), torch.CudaTensor(4)
      end)
      return function(y)
         noted[cutorch.getDevice()] = true
         return y:dot(y) / 2, g:copy(y)
      end, x
   end

   local config = {learningRate = 0.1, momentum = 0.9, scaleFactor = 0.5,
      crossoverRate = 0.5, maxFEs = 20, maxEval = 20}

   for _, name in ipairs{'sgd', 'adam', 'adamw', 'adamax', 'adagrad', 'adadelta', 'rmsprop', 'nag',
      'rprop', 'asgd', 'lbfgs', 'cg', 'cmaes', 'de'} do
      it(name .. ' returns on device 2 what it returns on device 1, which is current', function()
         local results = {}
         for device = 1, 2 do
            torch.manualSeed(5)
            local state, noted, result = {sigma = 0.3, maxEval = 20}, {}, nil
            local f, x = problem(device, noted)
            for _ = 1, 3 do result = optim[name](f, x, copy(config), state) end
            results[device] = result:double()
            assert.same({true}, noted)
            assert.equal(1, cutorch.getDevice())
            for key, value in pairs(state) do
               if torch.isTensor(value) then assert.equal(device, value:getDevice(), key) end
            end
            if name == 'adam' then assert.equal(device, state.denom:getDevice()) end
         end
         assert.equal(0, distance(results[1], results[2]))
      end)
   end

   it('an object that is called like a function runs with the device that was current', function()
      local noted = {}
      local f, x = problem(2, noted)
      optim.sgd(setmetatable({}, {__call = function(_, y) return f(y) end}), x, {})
      assert.same({true}, noted)
   end)

   it('FistaLS and checkgrad compute on the device of x', function()
      for device = 1, 2 do
         local f, x = problem(device, {})
         local function zero() return 0 end
         local fista = optim.FistaLS(f, zero, zero, x)
         assert.equal(device, fista:getDevice())
         assert.is_true(fista:norm() < 0.1)
         local f2, y = problem(device, {})
         assert.is_true(optim.checkgrad(f2, y, 1e-2) < 1e-2)
      end
   end)

   it('state from a file, or of parameters that have moved, is brought to them', function()
      local f, x = problem(1, {})
      local g, y = problem(2, {})
      local state, other = {}, torch.CudaTensor(3)
      for _, name in ipairs{'adam', 'lbfgs'} do
         local kept = {other = other, config = config}
         for _ = 1, 3 do optim[name](f, x, config, kept) end
         state[name] = torch.deserialize(torch.serialize(kept))
         y:copy(x)
         for _ = 1, 3 do
            optim[name](f, x, config, kept)
            optim[name](g, y, config, state[name])
         end
         assert.equal(0, distance(x, y))
         assert.equal(1, state[name].other:getDevice())
      end
      assert.equal(2, state.adam.m:getDevice())
   end)

   it('an error is raised at the line of the script, with the device set back', function()
      local f, x = problem(2, {})
      local line, raised = bad("optim.sgd: argument 'opfunc' is nil, wanted a function",
         function() optim.sgd(nil, x, {}) end)
      assert.equal(line + 1, raised)
      assert.error_matches(function() optim.sgd(function() error 'mine' end, x, {}) end, 'mine')
      assert.equal(1, cutorch.getDevice())
      optim.sgd(f, x, {})
   end)
end)
