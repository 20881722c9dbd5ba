--- nn.Jacobian: compares gradients of modules with differences of their outputs.
-- What must stay true: matrices are (elements of the input or parameter) x (elements of the
-- output); tensors that are changed for a difference get their values back.

local torch = require 'dpt.tensor'

local Jacobian = {}

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

--- The matrix by backward: for the input, or for a parameter and its gradient.
function Jacobian.backward(module, input, param, dparam)
   local matrix
   eachOutput(module, input, function(i, gradOutput)
      module:zeroGradParameters()
      local gradInput = module:updateGradInput(input, gradOutput)
      module:accGradParameters(input, gradOutput)
      local column = (param and dparam or gradInput):contiguous()
      matrix = matrix
         or torch.DoubleTensor((param or input):nElement(), gradOutput:nElement()):zero()
      matrix:select(2, i):copy(elements(column))
   end)
   return matrix
end

--- The matrix of changes of a parameter by accUpdateGradParameters with a rate of 1.
function Jacobian.backwardUpdate(module, input, param)
   local matrix
   local kept = param:clone()
   eachOutput(module, input, function(i, gradOutput)
      param:copy(kept)
      module:updateGradInput(input, gradOutput)
      module:accUpdateGradParameters(input, gradOutput, 1)
      matrix = matrix or torch.DoubleTensor(param:nElement(), gradOutput:nElement()):zero()
      matrix:select(2, i):copy(elements(param:contiguous()))
   end)
   param:copy(kept)
   return matrix
end

--- The matrix by differences: of the input, or of a parameter.
-- @param perturbation half the distance of the two points (1e-6)
function Jacobian.forward(module, input, param, perturbation)
   perturbation = perturbation or 1e-6
   param = param or input
   local flat = elements(param)
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
function Jacobian.forwardUpdate(module, input, param, perturbation)
   local matrix = Jacobian.forward(module, input, param, perturbation)
   local column = torch.DoubleTensor(param:nElement()):copy(elements(param))
   return matrix:mul(-1):add(1, column:view(-1, 1):expandAs(matrix))
end

-- Random values between minval (-2) and maxval (2).
local function randomize(t, minval, maxval)
   minval, maxval = minval or -2, maxval or 2
   t:copy(torch.rand(t:nElement()):mul(maxval - minval):add(minval))
end

local function difference(a, b)
   return a:add(-1, b):abs():max()
end

--- The largest difference of the two matrices of the input, at random values of it.
function Jacobian.testJacobian(module, input, minval, maxval, perturbation)
   randomize(input, minval, maxval)
   return difference(Jacobian.forward(module, input, nil, perturbation),
      Jacobian.backward(module, input))
end

--- The same for a parameter and its gradient.
function Jacobian.testJacobianParameters(module, input, param, dparam, minval, maxval, perturbation)
   randomize(input, minval, maxval)
   randomize(param, minval, maxval)
   return difference(Jacobian.forward(module, input, param, perturbation),
      Jacobian.backward(module, input, param, dparam))
end

--- The same for the update of a parameter.
function Jacobian.testJacobianUpdateParameters(module, input, param, minval, maxval, perturbation)
   randomize(input, minval, maxval)
   randomize(param, minval, maxval)
   return difference(Jacobian.forwardUpdate(module, input, param, perturbation),
      Jacobian.backwardUpdate(module, input, param))
end

--- The largest differences of output and gradInput between a module and its copy.
function Jacobian.testIO(module, input, minval, maxval)
   randomize(input, minval, maxval)
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
function Jacobian.testAllUpdate(module, input, weight, gradWeight)
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
   local shared = module:clone()
   shared:share(module:clone(), weight)
   compare('accUpdateGradParameters [shared]', shared, 'accUpdateGradParameters')
   return errors
end

return Jacobian
