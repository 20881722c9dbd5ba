--- nn.Jacobian and nn.SparseJacobian: compare gradients of modules with differences of their
-- outputs; the sparse one takes rows {index, value} as input and looks at the values alone.
-- Invariant: matrices are (elements of the input or parameter) x (elements of the output); tensors
-- that are changed for a difference get their values back.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'

local function elements(t)
   return t:storage() and t:view(t:nElement()) or t
end

-- Calls f(i) with element i of gradOutput 1 and all others 0.
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

-- Random values between minval (-2) and maxval (2).
local function randomize(t, minval, maxval)
   minval, maxval = minval or -2, maxval or 2
   t:copy(torch.rand(t:nElement()):mul(maxval - minval):add(minval))
end

local function difference(a, b)
   return a:add(-1, b):abs():max()
end

-- What Jacobian and SparseJacobian share: their first parameter `values`, a function, returns what
-- counts of an input or its gradient, as a vector.
local shared = {}

--- The matrix by backward: for the input, or for a parameter and its gradient.
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

--- The matrix of changes of a parameter by accUpdateGradParameters with a rate of 1.
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

--- The matrix by differences: of the input, or of a parameter.
-- @param perturbation half the distance of the two points (1e-6)
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

--- What accUpdateGradParameters should leave: the parameter less the matrix by differences.
function shared.forwardUpdate(values, module, input, param, perturbation)
   local matrix = shared.forward(values, module, input, param, perturbation)
   local column = torch.DoubleTensor(param:nElement()):copy(elements(param))
   return matrix:mul(-1):add(1, column:view(-1, 1):expandAs(matrix))
end

--- The largest difference of the two matrices of the input, at random values of it.
function shared.testJacobian(values, module, input, minval, maxval, perturbation)
   randomize(values(input), minval, maxval)
   return difference(shared.forward(values, module, input, nil, perturbation),
      shared.backward(values, module, input))
end

--- The same for a parameter and its gradient.
function shared.testJacobianParameters(values, module, input, param, dparam, minval, maxval,
   perturbation)
   randomize(values(input), minval, maxval)
   randomize(param, minval, maxval)
   return difference(shared.forward(values, module, input, param, perturbation),
      shared.backward(values, module, input, param, dparam))
end

--- The same for the update of a parameter.
function shared.testJacobianUpdateParameters(values, module, input, param, minval, maxval,
   perturbation)
   randomize(values(input), minval, maxval)
   randomize(param, minval, maxval)
   return difference(shared.forwardUpdate(values, module, input, param, perturbation),
      shared.backwardUpdate(values, module, input, param))
end

--- The largest differences of output and gradInput between a module and its copy.
function shared.testIO(values, module, input, minval, maxval)
   randomize(values(input), minval, maxval)
   local output = module:forward(input):clone()
   local gradOutput = output:clone()
   randomize(gradOutput)
   module:zeroGradParameters()
   local gradInput = module:backward(input, gradOutput):clone()
   local copy = module:clone()
   copy:zeroGradParameters()
   return difference(output, copy:forward(input)),
      difference(gradInput, copy:backward(input, gradOutput))
end

--- How far the ways to update a parameter are apart: by accGradParameters and updateParameters, by
-- accUpdateGradParameters, by backwardUpdate, alone and shared.
-- @param weight, gradWeight names of fields
-- @return table name -> difference
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

-- nn.Jacobian's functions, or nn.SparseJacobian's.
local function over(values)
   local functions = {}
   for name, f in pairs(shared) do
      functions[name] = function(...) return f(values, ...) end
   end
   return functions
end

nn.Jacobian = over(elements)
nn.SparseJacobian = over(function(t) return t:select(2, 2) end)

-- Checks of nn.hessian: F is half the sum of the squares of a module's outputs, whose second
-- derivatives by the outputs are 1.
local Jacobian = nn.Jacobian

--- The diagonal of F's Hessian by the functions of nn.hessian.
-- @param name of the field that holds it
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

--- The same from first derivatives, for a module that is linear in its input and parameters.
-- @param name of the field of the gradient
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

--- The largest difference of the two, at random inputs between minval (-2) and maxval (2).
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

return Jacobian
