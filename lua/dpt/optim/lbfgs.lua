--- optim.lbfgs: limited-memory BFGS, a quasi-Newton method.
-- Invariant: a call makes up to maxIter iterations. state keeps the corrections, so that the next
-- call continues where this one stopped. It reads values, so it waits for the device.
-- @function optim.lbfgs
-- @as descent
-- @param config? table: maxIter (20), maxEval (1.25 maxIter), tolFun (1e-5), tolX (1e-9),
--    nCorrection (100), lineSearch (none; optim.lswolfe), lineSearchOptions, learningRate (1),
--    verbose (prints why it stops), meanLoss (function: receives the loss of this rank, returns
--    that of all; also passed to the line search)
-- @param state? table: state kept between calls (config)
-- @return third result: the number of evaluations
-- @raise if several ranks train x (nn.DistributedDataParallel) and config has no meanLoss
-- @usage (optim.lbfgs(function(x)
--       return (x[1] - 3)^2, torch.Tensor{2 * (x[1] - 3)}
--    end, torch.Tensor{1}, {maxIter = 5})) --> [3]

local arguments = require 'dpt.optim.arguments'
local stateOf = require 'dpt.optim.state'

-- Returns the product of the approximate inverse Hessian with -g: two loops over the corrections.
local function direction(state, g)
   local steps, changes, n = state.old_dirs, state.old_stps, #state.old_dirs
   local ro, al = {}, {}
   local d = g:clone():mul(-1)
   for i = n, 1, -1 do
      ro[i] = 1 / changes[i]:dot(steps[i])
      al[i] = steps[i]:dot(d) * ro[i]
      d:add(-al[i], changes[i])
   end
   d:mul(state.Hdiag)
   for i = 1, n do
      d:add(al[i] - changes[i]:dot(d) * ro[i], steps[i])
   end
   return d
end

-- Keeps the last step and the change of the gradient if they show positive curvature.
local function remember(state, g, nCorrection)
   local change = g:clone():add(-1, state.g_old)
   local step = state.d:clone():mul(state.t)
   local curvature = change:dot(step)
   if curvature > 1e-10 then
      if #state.old_dirs == nCorrection then
         table.remove(state.old_dirs, 1)
         table.remove(state.old_stps, 1)
      end
      table.insert(state.old_dirs, step)
      table.insert(state.old_stps, change)
      state.Hdiag = curvature / change:dot(change)
   end
end

-- Converts tensors kept by an earlier call to x's type.
local function convert(state, x)
   for _, key in ipairs{'d', 'g_old'} do
      if state[key] then stateOf.tensor('lbfgs', state, key, x) end
   end
   for _, key in ipairs{'old_dirs', 'old_stps'} do
      local list = state[key] or {}
      for i = 1, #list do stateOf.tensor('lbfgs', list, i, x, nil, key) end
   end
end

-- Returns the options of the line search, whose opfunc returns the loss of all ranks if meanLoss is
-- set.
local function searchOptions(config)
   local options, given = {}, config.lineSearchOptions
   if config.meanLoss == nil then return given end
   for key, value in pairs(arguments.table('lbfgs', 'lineSearchOptions', given)) do
      options[key] = value
   end
   function options.meanLoss(loss) return loss end
   return options
end

local function absoluteSum(t)
   return t:norm(1)
end

return function(opfunc, x, config, state)
   config, state = arguments.check('lbfgs', opfunc, x, config, state)
   local maxIter = config.maxIter or 20
   local maxEval = arguments.number('lbfgs', 'maxEval', config.maxEval or maxIter * 1.25)
   local tolFun, tolX = config.tolFun or 1e-5, config.tolX or 1e-9
   local rate = config.learningRate or 1
   local search = config.lineSearch
   if search ~= nil then arguments.callable('lbfgs', 'lineSearch', search) end
   local options = searchOptions(config)
   convert(state, x)
   state.funcEval = state.funcEval or 0
   state.nIter = state.nIter or 0

   local f, g = arguments.evaluate('lbfgs', opfunc, x)
   local history, evaluations = {f}, 1
   state.funcEval = state.funcEval + 1
   if absoluteSum(g) <= tolFun then return x, history, evaluations end

   local reason = 'maxIter iterations'
   for iteration = 1, maxIter do
      state.nIter = state.nIter + 1
      if state.nIter == 1 then
         state.old_dirs, state.old_stps, state.Hdiag = {}, {}, 1
         state.d = g:clone():mul(-1)
         state.t = math.min(1, 1 / absoluteSum(g)) * rate
      else
         remember(state, g, config.nCorrection or 100)
         state.d = direction(state, g)
         state.t = rate
      end
      state.g_old = state.g_old and state.g_old:copy(g) or g:clone()
      state.f_old = f
      local slope = g:dot(state.d)
      if slope > -tolX then
         reason = 'f does not decrease along the direction'
         break
      end

      local count = 0
      if search then
         f, g, x, state.t, count =
            search(opfunc, x, state.t, state.d, f, g, slope, options)
         history[#history + 1] = f
      else
         x:add(state.t, state.d)
         if iteration ~= maxIter then
            f, g = arguments.evaluate('lbfgs', opfunc, x)
            count = 1
            history[#history + 1] = f
         end
      end
      evaluations = evaluations + count
      state.funcEval = state.funcEval + count

      reason = iteration == maxIter and 'maxIter iterations'
         or evaluations >= maxEval and 'maxEval evaluations'
         or absoluteSum(g) <= tolFun and "the gradient's absolute sum is tolFun at most"
         or absoluteSum(state.d) * math.abs(state.t) <= tolX and "the step's is tolX at most"
         or math.abs(f - state.f_old) < tolX and 'f has changed by less than tolX'
      if reason then break end
   end
   if config.verbose then print('<optim.lbfgs>', 'stops: ' .. reason) end
   return x, history, evaluations
end
