--- Checks every module and criterion: gradients against finite differences, device against host,
-- float against double, and that only the module itself is changed.
--
-- Invariant: inputs come from torch's generator with a fixed seed, so a failure repeats. Finite
-- differences are computed in double precision.
local M = {}

local deepcopy = require 'dpt.clone'

local function each(value, f)
   if torch.isTensor(value) then return f(value) end
   local list = {}
   for k, v in pairs(value) do list[k] = each(v, f) end
   return list
end

local function convert(value, typename)
   return each(value, function(t)
      if t:type():find('Long') then
         return typename:find('Cuda') and t:type('torch.CudaLongTensor') or t
      end
      return t:type(typename)
   end)
end

local function doubles(value)
   return each(value, function(t) return t:type('torch.DoubleTensor') end)
end

--- Returns the largest difference of two values of the same structure; infinite if sizes differ.
local function distance(a, b)
   if torch.isTensor(a) then
      if not torch.isTensor(b) or not a:isSameSizeAs(b) then return math.huge end
      if a:nElement() == 0 then return 0 end
      local d = (a:double() - b:double()):abs():max()
      return d == d and d or math.huge
   end
   local most = 0
   for k in pairs(a) do most = math.max(most, b[k] == nil and math.huge or distance(a[k], b[k])) end
   return most
end
M.distance = distance

local function dot(a, b)
   if torch.isTensor(a) then return a:dot(b) end
   local sum = 0
   for k in pairs(a) do sum = sum + dot(a[k], b[k]) end
   return sum
end

local function close(a, b, tolerance, what)
   local d = distance(a, b)
   if d ~= d or d > tolerance then
      error(('%s: differ by %g, allowed %g'):format(what, d, tolerance), 0)
   end
end
M.close = close

local function randomLike(value)
   return each(value, function(t)
      return t.new():resizeAs(t):copy(torch.rand(t:nElement()):mul(2):add(-1))
   end)
end

--- Returns d(sum(weights * f()))/dt by finite differences, for every real tensor in value.
local function slopes(value, weights, f)
   local step = 1e-5
   return each(value, function(t)
      local gradient = t:clone():zero()
      if t:type():find('Long') then return gradient end
      local flat, out = t:view(-1), gradient:view(-1)
      for i = 1, flat:size(1) do
         local kept = flat[i]
         flat[i] = kept + step
         local above = dot(f(), weights)
         flat[i] = kept - step
         local below = dot(f(), weights)
         flat[i] = kept
         out[i] = (above - below) / (2 * step)
      end
      return gradient
   end)
end

--- Runs forward and backward. Returns deep copies of output, gradInput and parameter gradients.
local function run(module, input, gradOutput, scale)
   module:zeroGradParameters()
   local output = deepcopy(module:forward(input))
   local gradInput = module:backward(input, gradOutput, scale)
   local _, gradients = module:parameters()
   return output, deepcopy(gradInput), deepcopy(gradients or {})
end

-- Returns a copy between guards of NaN (-1 for integers), so that a read beyond a tensor shows. It
-- is offset by one element from the start of an allocation.
local function guarded(value)
   return each(value, function(t)
      local n = t:nElement()
      local wide = t.new(n + 10):fill(t:type():find('Long') and -1 or 0 / 0)
      return wide:narrow(1, 2, n):copy(t):view(t:size())
   end)
end

-- Compares the results with those in other types, on the host and on a device.
local function others(module, input, gradOutput, output, gradInput, gradients, options)
   local types = {{'torch.FloatTensor', options.float or 2e-4}}
   if cutorch and not options.noDevice then
      types[2] = {'torch.CudaTensor', options.float or 2e-4}
      types[3] = {'torch.CudaDoubleTensor', 1e-9}
   end
   for _, entry in ipairs(types) do
      local typename, allowed = entry[1], entry[2]
      local other = module:clone():type(typename)
      local out, gin, gpar = run(other, convert(input, typename), convert(gradOutput, typename))
      close(doubles(out), output, allowed, typename .. ' output')
      if not options.noInput then
         close(doubles(gin), gradInput, allowed, typename .. ' gradInput')
      end
      close(doubles(gpar), gradients, allowed, typename .. ' gradients')
      if options.guarded then
         local o, gi, gp = run(other, guarded(convert(input, typename)),
            guarded(convert(gradOutput, typename)))
         close({o, gi, gp}, {out, gin, gpar}, options.library and allowed or 0,
            typename .. ' between other numbers')
      end
   end
end

--- Runs all checks of a module.
-- @param make function() that creates the module (of double type)
-- @param makeInput function() that creates its input, a tensor or table of doubles
-- @param options tolerance of differences (1e-6), noInput: no gradient for the input; inplace: the
-- input is changed; noDevice, float (2e-4)
function M.module(make, makeInput, options)
   options = options or {}
   torch.manualSeed(11)
   local module, input = make(), makeInput()
   local before = deepcopy(input)
   local gradOutput = randomLike(module:forward(deepcopy(input)))
   local output, gradInput, gradients = run(module, options.inplace and deepcopy(input) or input,
      options.inplace and deepcopy(gradOutput) or gradOutput)
   if not options.inplace then
      close(before, input, 0, 'forward and backward change their input')
   end

   -- finite differences
   local tolerance = options.tolerance or 1e-6
   local function forward()
      return module:forward(options.inplace and deepcopy(input) or input)
   end
   if not options.noInput then
      close(slopes(input, gradOutput, forward), gradInput, tolerance, 'gradInput and differences')
   end
   local parameters = module:parameters() or {}
   close(slopes(parameters, gradOutput, forward), gradients, tolerance,
      'gradients of parameters and differences')

   -- the gradient is linear in scale, and accumulates
   if #parameters > 0 then
      local _, _, scaled = run(module, deepcopy(input), deepcopy(gradOutput), -0.5)
      for i, g in ipairs(scaled) do close(g, gradients[i] * -0.5, 1e-9, 'scale') end
      module:zeroGradParameters()
      for _ = 1, 2 do
         module:forward(deepcopy(input))
         module:backward(deepcopy(input), deepcopy(gradOutput))
      end
      local _, twice = module:parameters()
      for i, g in ipairs(twice) do close(g, gradients[i] * 2, 1e-9, 'two backwards') end
   end

   -- after clearState, in a copy, and on strided input
   module:clearState()
   local o, gi = run(module, deepcopy(input), deepcopy(gradOutput))
   close(o, output, 0, 'output after clearState')
   close(gi, gradInput, 0, 'gradInput after clearState')
   o, gi = run(module:clone(), deepcopy(input), deepcopy(gradOutput))
   close(o, output, 0, 'output of a clone')
   close(gi, gradInput, 0, 'gradInput of a clone')
   local strided = each(input, function(t)
      local wide = t.new(t:nElement(), 2):zero()
      wide:select(2, 1):copy(t)
      return wide:select(2, 1):set(wide:storage(), 1, t:size(), (function()
         local steps = t:clone():stride()
         for d = 1, #steps do steps[d] = steps[d] * 2 end
         return steps
      end)())
   end)
   o, gi = run(module, strided, deepcopy(gradOutput))
   close(o, output, 1e-12, 'output for strided input')
   close(gi, gradInput, 1e-12, 'gradInput for strided input')

   others(module, input, gradOutput, output, gradInput, gradients, options)
end

--- Runs the part of M.module that compares types, host and devices, for modules and inputs too
-- large for finite differences; then with operands at odd addresses, which must not change a bit.
-- @param options as in M.module; library: a library chooses by addresses, so bits may change
function M.devices(make, makeInput, options)
   torch.manualSeed(11)
   local module, input = make(), makeInput()
   local gradOutput = randomLike(module:forward(input))
   local output, gradInput, gradients = run(module, input, gradOutput)
   options = options or {}
   options.guarded = true
   others(module, input, gradOutput, output, gradInput, gradients, options)
end

--- Runs all checks of a criterion.
-- @param makeTarget function() that creates its target (a number, tensor, table or nil)
-- @param options tolerance (1e-6)
function M.criterion(make, makeInput, makeTarget, options)
   options = options or {}
   torch.manualSeed(11)
   local criterion, input, target = make(), makeInput(), makeTarget and makeTarget()
   local before = deepcopy(input)
   local value = criterion:forward(input, target)
   assert(type(value) == 'number', 'the output is a number')
   local gradInput = deepcopy(criterion:backward(input, target))
   close(before, input, 0, 'forward and backward change their input')
   local one = torch.ones(1)
   close(slopes(input, one, function() return torch.Tensor{(criterion:forward(input, target))} end),
      gradInput, options.tolerance or 1e-6, 'gradInput and differences')

   local types = {{'torch.FloatTensor', 2e-4}}
   if cutorch then
      types[2] = {'torch.CudaTensor', 2e-4}
      types[3] = {'torch.CudaDoubleTensor', 1e-9}
   end
   for _, entry in ipairs(types) do
      local typename, allowed = entry[1], entry[2]
      local other = criterion:clone():type(typename)
      local own = torch.isTensor(target) and convert(target, typename)
         or type(target) == 'table' and convert(target, typename) or target
      local x = convert(input, typename)
      close({torch.Tensor{(other:forward(x, own))}}, {torch.Tensor{value}},
         allowed * math.max(1, math.abs(value)), typename .. ' output')
      close(doubles(other:backward(x, own)), gradInput, allowed, typename .. ' gradInput')
   end
end

return M
