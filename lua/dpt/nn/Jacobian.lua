--- nn.Jacobian and nn.SparseJacobian: compare gradients of modules with finite differences. The
-- sparse one takes rows {index, value} as input and differentiates by the values only.
-- Invariant: matrices are (elements of the input or parameter) x (elements of the output). Tensors
-- that are perturbed get their values back.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local function elements(t)
   return t:storage() and t:view(t:nElement()) or t
end

-- Calls f(i, gradOutput) for each output element i, with gradOutput 1 at i and 0 elsewhere.
local function eachOutput(module, input, f)
   module:forward(input)
   local output = module.output
   local gradOutput = output.new():resizeAs(output):zero()
   local flat = elements(gradOutput)
   for i = 1, flat:nElement() do
      flat:zero()
      flat[i] = 1
      f(i, gradOutput)
   end
end

-- Fills t with random values between minval (-2) and maxval (2).
local function randomize(t, minval, maxval)
   minval, maxval = minval or -2, maxval or 2
   t:copy(torch.rand(t:nElement()):mul(maxval - minval):add(minval))
end

local function difference(a, b)
   return a:add(-1, b):abs():max()
end

-- Functions of both tables. Their first parameter is a function `values`, which returns the
-- elements of an input, or of its gradient, that are differentiated, as a vector.
local shared = {}

--- Returns the Jacobian with respect to the input, or to a parameter, computed by backward.
-- @function nn.Jacobian.backward
-- @as jacobian
-- @param module module: any
-- @param input tensor: the point of evaluation
-- @param param? tensor: a parameter
-- @param dparam? tensor: its gradient
-- @return elements of the input (or parameter) x elements of the output
-- @usage nn.Jacobian.backward(nn.Square(), torch.Tensor{3}) --> [6]
function shared.backward(values, module, input, param, dparam)
   local matrix
   eachOutput(module, input, function(i, gradOutput)
      module:zeroGradParameters()
      local gradInput = module:updateGradInput(input, gradOutput)
      module:accGradParameters(input, gradOutput)
      local column = param and elements(dparam:contiguous()) or values(gradInput:contiguous())
      matrix = matrix or torch.DoubleTensor(column:nElement(), gradOutput:nElement()):zero()
      matrix:select(2, i):copy(column)
   end)
   return matrix
end

--- Returns a parameter after accUpdateGradParameters with learning rate 1, for each output element.
-- @function nn.Jacobian.backwardUpdate
-- @as jacobian
-- @param module module: any
-- @param input tensor: the point of evaluation
-- @param param tensor: a parameter
-- @return elements of the parameter x elements of the output
-- @usage local m = nn.Add(1)
--    m.bias:fill(3)
--    return nn.Jacobian.backwardUpdate(m, torch.ones(1), m.bias) --> [2]
function shared.backwardUpdate(_, module, input, param)
   local matrix
   local parameters, kept = module:parameters(), {}
   for i, t in ipairs(parameters) do kept[i] = t:clone() end
   local function restore()
      for i, t in ipairs(parameters) do t:copy(kept[i]) end
   end
   eachOutput(module, input, function(i, gradOutput)
      restore()
      module:updateGradInput(input, gradOutput)
      module:accUpdateGradParameters(input, gradOutput, 1)
      matrix = matrix or torch.DoubleTensor(param:nElement(), gradOutput:nElement()):zero()
      matrix:select(2, i):copy(elements(param:contiguous()))
   end)
   restore()
   return matrix
end

--- Returns the Jacobian with respect to the input, or to a parameter, by central differences.
-- @function nn.Jacobian.forward
-- @as jacobian
-- @param module module: any
-- @param input tensor: the point of evaluation
-- @param param? tensor: a parameter
-- @param perturbation? number: half the distance between the two points (1e-6)
-- @return elements of the input (or parameter) x elements of the output
-- @usage nn.Jacobian.forward(nn.Square(), torch.Tensor{3}) --> [6]
function shared.forward(values, module, input, param, perturbation)
   perturbation = perturbation or 1e-6
   local flat = param and elements(param) or values(input)
   local matrix
   for i = 1, flat:nElement() do
      local value = flat[i]
      flat[i] = value - perturbation
      local below = module:forward(input):clone()
      flat[i] = value + perturbation
      local above = module:forward(input):clone()
      flat[i] = value
      matrix = matrix or torch.DoubleTensor(flat:nElement(), above:nElement()):zero()
      matrix[i]:copy(elements(above:add(-1, below))):div(2 * perturbation)
   end
   return matrix
end

--- Returns the expected result of backwardUpdate: the parameter minus the Jacobian by differences.
-- @function nn.Jacobian.forwardUpdate
-- @as jacobian
-- @param module module: any
-- @param input tensor: the point of evaluation
-- @param param tensor: a parameter
-- @param perturbation? number: half the distance between the two points (1e-6)
-- @return elements of the parameter x elements of the output
-- @usage local m = nn.Add(1)
--    m.bias:fill(3)
--    return nn.Jacobian.forwardUpdate(m, torch.ones(1), m.bias) --> [2]
function shared.forwardUpdate(values, module, input, param, perturbation)
   local matrix = shared.forward(values, module, input, param, perturbation)
   local column = torch.DoubleTensor(param:nElement()):copy(elements(param))
   return matrix:mul(-1):add(1, column:view(-1, 1):expandAs(matrix))
end

--- Returns the largest difference between the input's Jacobians by forward and by backward, at
-- random values.
-- @function nn.Jacobian.testJacobian
-- @as jacobian
-- @param module module: any
-- @param input tensor: is filled with random values
-- @param minval? number: the lower bound (-2)
-- @param maxval? number: the upper bound (2)
-- @param perturbation? number: half the distance between the two points (1e-6)
-- @return a number
-- @usage ('%.4f'):format(nn.Jacobian.testJacobian(nn.Linear(3, 2), torch.Tensor(3))) --> 0.0000
function shared.testJacobian(values, module, input, minval, maxval, perturbation)
   randomize(values(input), minval, maxval)
   return difference(shared.forward(values, module, input, nil, perturbation),
      shared.backward(values, module, input))
end

--- Returns the largest difference between a parameter's Jacobians by forward and by backward, at
-- random values.
-- @function nn.Jacobian.testJacobianParameters
-- @as jacobian
-- @param module module: any
-- @param input tensor: is filled with random values
-- @param param tensor: a parameter, is filled with random values
-- @param dparam tensor: its gradient
-- @param minval? number: the lower bound (-2)
-- @param maxval? number: the upper bound (2)
-- @param perturbation? number: half the distance between the two points (1e-6)
-- @return a number
-- @usage local m = nn.Linear(3, 2)
--    local far = nn.Jacobian.testJacobianParameters(m, torch.Tensor(3), m.weight, m.gradWeight)
--    return ('%.4f'):format(far) --> 0.0000
function shared.testJacobianParameters(values, module, input, param, dparam, minval, maxval,
   perturbation)
   randomize(values(input), minval, maxval)
   randomize(param, minval, maxval)
   return difference(shared.forward(values, module, input, param, perturbation),
      shared.backward(values, module, input, param, dparam))
end

--- Returns the largest difference between a parameter's updates by forwardUpdate and
-- backwardUpdate, at random values.
-- @function nn.Jacobian.testJacobianUpdateParameters
-- @as jacobian
-- @param module module: any
-- @param input tensor: is filled with random values
-- @param param tensor: a parameter, is filled with random values
-- @param minval? number: the lower bound (-2)
-- @param maxval? number: the upper bound (2)
-- @param perturbation? number: half the distance between the two points (1e-6)
-- @return a number
-- @usage local m = nn.Linear(3, 2)
--    local far = nn.Jacobian.testJacobianUpdateParameters(m, torch.Tensor(3), m.bias)
--    return ('%.4f'):format(far) --> 0.0000
function shared.testJacobianUpdateParameters(values, module, input, param, minval, maxval,
   perturbation)
   randomize(values(input), minval, maxval)
   randomize(param, minval, maxval)
   return difference(shared.forwardUpdate(values, module, input, param, perturbation),
      shared.backwardUpdate(values, module, input, param))
end

--- Returns the largest differences in output and gradInput between a module and its copy that was
-- serialized after clearState, which must return the module.
-- @function nn.Jacobian.testIO
-- @as jacobian
-- @param module module: any; is cleared
-- @param input tensor: any
-- @param minval? number: lower bound of the output's gradient (-2)
-- @param maxval? number: its upper bound (2)
-- @return two numbers
-- @usage nn.Jacobian.testIO(nn.Linear(3, 2), torch.ones(3)) --> 0, 0
function shared.testIO(_, module, input, minval, maxval)
   local copy = input:clone()
   module:forward(input)
   local gradOutput = module.output:clone()
   randomize(gradOutput, minval, maxval)
   local function pass(m, x)
      m:forward(x)
      m:zeroGradParameters()
      m:updateGradInput(x, gradOutput:clone())
      m:accGradParameters(x, gradOutput:clone())
      return m.output:clone(), m.gradInput:clone()
   end
   local output, gradInput = pass(module, input)
   assert(module:clearState() == module, 'clearState did not return self')
   local again, back = pass(torch.deserialize(torch.serialize(module)), copy)
   return difference(output, again), gradInput:nElement() > 0 and difference(gradInput, back) or 0
end

--- Returns the differences between the ways to update a parameter: accGradParameters with
-- updateParameters, accUpdateGradParameters (also with shared parameters), and backwardUpdate.
-- @function nn.Jacobian.testAllUpdate
-- @as jacobian
-- @param module module: any
-- @param input tensor: the point of evaluation
-- @param weight string: a field, for example 'weight'
-- @param gradWeight string: the field of its gradient
-- @return a table name -> difference
-- @usage local m = nn.Linear(3, 2)
--    local far = nn.Jacobian.testAllUpdate(m, torch.ones(3), 'weight', 'gradWeight')
--    return ('%.4f'):format(far.backwardUpdate) --> 0.0000
function shared.testAllUpdate(_, module, input, weight, gradWeight)
   local lr, errors = 0.5, {}
   module:forward(input)
   local gradOutput = module.output:clone()
   randomize(gradOutput)

   local plain = module:clone()
   plain:forward(input)
   plain:zeroGradParameters()
   plain:updateGradInput(input, gradOutput)
   plain:accGradParameters(input, gradOutput)
   local before = plain[weight]:clone()
   plain:updateParameters(lr)
   local step = plain[gradWeight]:clone():mul(lr)
   errors.accGradParameters = before:clone():add(-1, step):add(-1, plain[weight]):norm()

   local function compare(name, copy, method)
      copy:forward(input)
      copy:updateGradInput(input, gradOutput)
      copy[method](copy, input, gradOutput, lr)
      errors[name] = copy[weight]:clone():add(-1, plain[weight]):norm()
   end
   compare('accUpdateGradParameters', module:clone(), 'accUpdateGradParameters')
   compare('backwardUpdate', module:clone(), 'backwardUpdate')
   local both = module:clone()
   both:share(module:clone(), weight)
   compare('accUpdateGradParameters [shared]', both, 'accUpdateGradParameters')
   return errors
end

-- Returns nn.Jacobian's or nn.SparseJacobian's functions.
local function over(values)
   local functions = {}
   for name, f in pairs(shared) do
      functions[name] = function(...) return f(values, ...) end
   end
   return functions
end

--- Compares gradients of modules with finite differences.
-- @field nn.Jacobian
-- @as jacobian
-- @return a table of functions
-- @usage nn.Jacobian.backward(nn.MulConstant(3), torch.ones(2)) --> [3 0 0 3]
nn.Jacobian = over(elements)
nn.SparseJacobian = over(function(t) return t:select(2, 2) end)

-- Checks of nn.hessian, for the function that is half the sum of the squares of a module's outputs:
-- its second derivative with respect to each output is 1.
local Jacobian = nn.Jacobian

--- Returns the diagonal of the Hessian of half the outputs' squares, computed by nn.hessian's
-- methods.
-- @function nn.Jacobian.backwardDiagHessian
-- @as jacobian
-- @param module module: any, after nn.hessian.enable()
-- @param input tensor: the point of evaluation
-- @param name string: the field of the diagonal, for example 'diagHessianInput'
-- @return a tensor
-- @usage local pool, got = require('threads').Threads(1)
--    pool:addjob(function() nn.hessian.enable() local m = nn.Linear(1, 1)
--       m.weight:fill(3) m:initDiagHessianParameters() return
--       nn.Jacobian.backwardDiagHessian(m, torch.ones(1), 'diagHessianInput')[1] end,
--       function(v) got = v end)
--    pool:terminate()
--    return got --> 9
function Jacobian.backwardDiagHessian(module, input, name)
   module:forward(input)
   local ones = module.output.new():resizeAs(module.output):fill(1)
   for _, field in ipairs{'diagHessianWeight', 'diagHessianBias'} do
      if module[field] then module[field]:zero() end
   end
   module:updateDiagHessianInput(input, ones)
   module:accDiagHessianParameters(input, ones)
   return module[name]
end

--- Returns the diagonal of the Hessian from first derivatives, for a module that is linear in its
-- input and its parameters.
-- @function nn.Jacobian.linearModuleDiagHessian
-- @as jacobian
-- @param module module: a linear one, for example nn.Linear
-- @param input tensor: the point of evaluation
-- @param name string: the field of the gradient, for example 'gradInput'
-- @return a tensor
-- @usage local m = nn.Linear(1, 1)
--    m.weight:fill(3)
--    return nn.Jacobian.linearModuleDiagHessian(m, torch.ones(1), 'gradInput') --> [9]
function Jacobian.linearModuleDiagHessian(module, input, name)
   module:forward(input)
   local gradOutput = module.output.new():resizeAs(module.output)
   local flat = gradOutput:view(-1)
   local diagonal
   for i = 1, flat:size(1) do
      flat:zero()
      flat[i] = 1
      module:zeroGradParameters()
      module:updateGradInput(input, gradOutput)
      module:accGradParameters(input, gradOutput)
      local gradient = module[name]
      diagonal = diagonal or gradient.new():resizeAs(gradient):zero()
      diagonal:addcmul(gradient, gradient)
   end
   return diagonal
end

--- Returns the largest difference between the two diagonals at random inputs. The variants for
-- Input, Weight and Bias set the fields themselves.
-- @function nn.Jacobian.testDiagHessian
-- @as jacobian
-- @also nn.Jacobian.testDiagHessianInput()
-- @also nn.Jacobian.testDiagHessianWeight()
-- @also nn.Jacobian.testDiagHessianBias()
-- @param module module: a linear one, for example nn.Linear, after nn.hessian.enable()
-- @param input tensor: is filled with random values
-- @param gradient string: the field of the gradient, for example 'gradInput'
-- @param diagonal string: the field of the diagonal, for example 'diagHessianInput'
-- @param minval? number: the lower bound (-2)
-- @param maxval? number: the upper bound (2)
-- @return a number
-- @usage local pool, far = require('threads').Threads(1)
--    pool:addjob(function()
--       nn.hessian.enable()
--       return nn.Jacobian.testDiagHessianInput(nn.Linear(2, 3), torch.Tensor(2))
--    end, function(number) far = number end)
--    pool:terminate()
--    return ('%.4f'):format(far) --> 0.0000
function Jacobian.testDiagHessian(module, input, gradient, diagonal, minval, maxval)
   minval, maxval = minval or -2, maxval or 2
   input:copy(torch.rand(input:nElement()):mul(maxval - minval):add(minval))
   module:initDiagHessianParameters()
   local ours = Jacobian.backwardDiagHessian(module, input, diagonal):clone()
   return ours:add(-1, Jacobian.linearModuleDiagHessian(module, input, gradient)):abs():max()
end

for _, name in ipairs{'Input', 'Weight', 'Bias'} do
   Jacobian['testDiagHessian' .. name] = function(module, input, minval, maxval)
      return Jacobian.testDiagHessian(module, input, 'grad' .. name, 'diagHessian' .. name, minval,
         maxval)
   end
end

--- Common properties of nn.Jacobian's functions, for the reference.
-- @pattern jacobian
-- @within nn for authors
-- @follows Torch7's nn.Jacobian
-- @raise any error of the module

return Jacobian
