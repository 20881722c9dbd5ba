--- dpt.nn.hessian: estimates the diagonal of the Hessian, layer by layer (LeCun).
--
-- Invariant: nothing changes before nn.hessian.enable(). It adds initDiagHessianParameters,
-- updateDiagHessianInput and accDiagHessianParameters to the classes below, and makes parameters()
-- and getParameters() return the diagonals too. The layer's own backward methods compute the
-- diagonals, from squared weights and inputs.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local flatten = require 'dpt.flatten'
local fail = require 'dpt.ffi'.fail

--- Estimates the diagonal of the Hessian, layer by layer. Has no effect before nn.hessian.enable().
-- @field nn.hessian
-- @as author
-- @return a table of functions; nn.hessian.enable turns the estimates on
-- @usage type(nn.hessian.enable) --> function
local hessian = {}
nn.hessian = hessian

--- Classes that have a weight and a bias and are linear in both; then elementwise functions.
local learned = {
   'Linear', 'SpatialConvolution', 'SpatialConvolutionLocal', 'SpatialFullConvolution',
   'SpatialConvolutionMap', 'SpatialFullConvolutionMap',
}
local pointwise = {'Tanh', 'TanhShrink', 'Square', 'Sqrt'}

-- Calls f() while some fields of the module have other values.
local function with(module, fields, f)
   local kept = {}
   for name, value in pairs(fields) do kept[name], module[name] = module[name], value end
   local ok, why = pcall(f)
   for name in pairs(fields) do module[name] = kept[name] end
   if not ok then error(why, 0) end
end

local function square(x) return torch.cmul(x, x) end

-- Returns the names of the gradients that the module has, and the names of their diagonals.
local function own(module)
   local gradients, diagonals = {}, {}
   for _, name in ipairs{'Weight', 'Bias'} do
      if module['grad' .. name] then
         gradients[#gradients + 1] = 'grad' .. name
         diagonals[#diagonals + 1] = 'diagHessian' .. name
      end
   end
   return gradients, diagonals
end

--- Helpers for classes that scripts define. initDiagHessianParameters allocates a diagonal for each
-- gradient; accDiagHessianParameters adds to the diagonals. updateDiagHessianInput sets the field
-- diagHessianInput with the module's updateGradInput, with the fields `weights` squared.
-- updateDiagHessianInputPointWise does this for elementwise functions.
-- @function nn.hessian.initDiagHessianParameters
-- @as author
-- @also nn.hessian.accDiagHessianParameters(module, input, diagHessianOutput, gradients, diagonals)
-- @also nn.hessian.updateDiagHessianInput(module, input, diagHessianOutput, weights)
-- @also nn.hessian.updateDiagHessianInputPointWise(module, input, diagHessianOutput)
-- @param module nn.Module: a layer
-- @param gradients table: names of the fields that hold gradients
-- @param diagonals table: names of the fields that hold their diagonals, in the same order
-- @return nothing
-- @usage local layer = nn.Linear(2, 3)
--    nn.hessian.initDiagHessianParameters(layer, {'gradBias'}, {'diagHessianBias'})
--    return layer.diagHessianBias --> [0 0 0]
function hessian.initDiagHessianParameters(module, gradients, diagonals)
   for i, gradient in ipairs(gradients) do
      local g = module[gradient]
      module[diagonals[i]] = module[diagonals[i]] or g.new():resizeAs(g):zero()
   end
   module.diagHessianInput = module.diagHessianInput or module.gradInput.new()
end

function hessian.accDiagHessianParameters(module, input, diagHessianOutput, gradients, diagonals)
   hessian.initDiagHessianParameters(module, gradients, diagonals)
   local fields = {}
   for i, gradient in ipairs(gradients) do fields[gradient] = module[diagonals[i]] end
   local squared = square(input)
   with(module, fields, function() module:accGradParameters(squared, diagHessianOutput, 1) end)
end

function hessian.updateDiagHessianInput(module, input, diagHessianOutput, weights)
   local fields = {gradInput = module.diagHessianInput or input.new()}
   for _, name in ipairs(weights) do fields[name] = square(module[name]) end
   local result
   with(module, fields, function() result = module:updateGradInput(input, diagHessianOutput) end)
   module.diagHessianInput = result
end

function hessian.updateDiagHessianInputPointWise(module, input, diagHessianOutput)
   local ones = diagHessianOutput.new():resizeAs(diagHessianOutput):fill(1)
   hessian.updateDiagHessianInput(module, input, ones, {})
   local slope = module.diagHessianInput
   slope:cmul(slope):cmul(diagHessianOutput)
end

local function enableLearned(class)
   function class:initDiagHessianParameters()
      hessian.initDiagHessianParameters(self, own(self))
   end

   function class:updateDiagHessianInput(input, diagHessianOutput)
      hessian.updateDiagHessianInput(self, input, diagHessianOutput, {'weight'})
      return self.diagHessianInput
   end

   function class:accDiagHessianParameters(input, diagHessianOutput)
      hessian.accDiagHessianParameters(self, input, diagHessianOutput, own(self))
   end
end

local function enablePointwise(class)
   function class:updateDiagHessianInput(input, diagHessianOutput)
      hessian.updateDiagHessianInputPointWise(self, input, diagHessianOutput)
      return self.diagHessianInput
   end
end

local function enableSequential(class)
   function class:initDiagHessianParameters()
      for _, module in ipairs(self.modules) do module:initDiagHessianParameters() end
   end

   -- Calls f(module, its input) from the last module to the first.
   local function backwards(self, input, f)
      for i = #self.modules, 1, -1 do
         f(self.modules[i], i > 1 and self.modules[i - 1].output or input)
      end
   end

   function class:updateDiagHessianInput(input, diagHessianOutput)
      backwards(self, input, function(module, x)
         diagHessianOutput = module:updateDiagHessianInput(x, diagHessianOutput)
      end)
      self.diagHessianInput = diagHessianOutput
      return diagHessianOutput
   end

   function class:accDiagHessianParameters(input, diagHessianOutput)
      backwards(self, input, function(module, x)
         module:accDiagHessianParameters(x, diagHessianOutput)
         diagHessianOutput = module.diagHessianInput
      end)
   end
end

-- Makes parameters() of a class return the diagonals, if there are any, as a third list.
local function enableParameters(class, diagonals)
   local before = class.parameters
   function class:parameters()
      local parameters, gradients = before(self)
      return parameters, gradients, parameters and diagonals(self)
   end
end

local function ofOne(module)
   local list = {module.weight and module.diagHessianWeight or nil}
   list[#list + 1] = module.bias and module.diagHessianBias or nil
   return list
end

local function ofAll(container)
   local list = {}
   for _, module in ipairs(container.modules) do
      local _, _, theirs = module:parameters()
      for _, diagonal in ipairs(theirs or {}) do list[#list + 1] = diagonal end
   end
   return list
end

local enabled = false

--- Adds methods for the diagonal of the Hessian to linear layers, convolutions, elementwise
-- functions, nn.Sequential and criterions. parameters() and getParameters() then return the
-- diagonals too.
-- @function nn.hessian.enable
-- @as author
-- @return nothing
-- @usage local pool, kind = require('threads').Threads(1)
--    pool:addjob(function()
--       nn.hessian.enable()
--       return type(nn.Linear(2, 3).accDiagHessianParameters)
--    end, function(name) kind = name end)
--    pool:terminate()
--    return kind --> function
function hessian.enable()
   if enabled then return end
   enabled = true
   local Module = nn.Module
   function Module:updateDiagHessianInput()
      fail('%s: updateDiagHessianInput is not defined for this class', torch.typename(self))
   end
   Module.accDiagHessianParameters = function() end
   Module.initDiagHessianParameters = function() end
   for _, name in ipairs(learned) do enableLearned(nn[name]) end
   for _, name in ipairs(pointwise) do enablePointwise(nn[name]) end
   enableSequential(nn.Sequential)
   enableParameters(Module, ofOne)
   enableParameters(nn.Container, ofAll)

   function nn.Reshape:updateDiagHessianInput(input, diagHessianOutput)
      self.diagHessianInput = diagHessianOutput:contiguous():viewAs(input)
      return self.diagHessianInput
   end

   function nn.Criterion:updateDiagHessianInput()
      fail('%s: updateDiagHessianInput is not defined for this class', torch.typename(self))
   end

   function nn.MSECriterion:updateDiagHessianInput(input)
      self.diagHessianInput = (self.diagHessianInput or input.new()):resizeAs(input)
      return self.diagHessianInput:fill(self.sizeAverage and 2 / input:nElement() or 2)
   end
   nn.WeightedMSECriterion.updateDiagHessianInput = nn.MSECriterion.updateDiagHessianInput

   function nn.L1Cost:updateDiagHessianInput(input)
      self.diagHessianInput = (self.diagHessianInput or input.new()):resizeAs(input)
      return self.diagHessianInput:fill(1):maskedFill(torch.eq(input, 0), 0)
   end

   local before = Module.getParameters
   function Module:getParameters()
      local flat, gradients = before(self)
      local parameters, _, diagonals = self:parameters()
      if not diagonals or #diagonals == 0 then return flat, gradients end
      local flatDiagonal = flatten.flatten(diagonals, torch.type(self))
      if #diagonals == #parameters and flatDiagonal:nElement() == flat:nElement() then
         flatDiagonal = select(2, flatten.flattenPair(parameters, diagonals, torch.type(self)))
      end
      return flat, gradients, flatDiagonal
   end
end

return hessian
