--- nn.hessian: estimates of the diagonal of the Hessian (LeCun's, layer by layer).
-- Invariant: nothing changes before nn.hessian.enable(), which returns the classes below
-- initDiagHessianParameters, updateDiagHessianInput and accDiagHessianParameters and lets
-- parameters() and getParameters() also return the diagonals. A layer's own methods do the work, on
-- squared weights and inputs.

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local flatten = require 'dpt.parallel.params.flatten'
local fail = require 'dpt.ffi'.fail

--- Estimates of the diagonal of the Hessian, layer by layer; nothing changes before
-- nn.hessian.enable().
-- @field nn.hessian
-- @as author
-- @return a table with enable
-- @usage type(nn.hessian.enable) --> function
local hessian = {}
nn.hessian = hessian

--- Classes with weight and bias, linear in input and weight, and functions of single elements.
local learned = {
   'Linear', 'SpatialConvolution', 'SpatialConvolutionLocal', 'SpatialFullConvolution',
   'SpatialConvolutionMap', 'SpatialFullConvolutionMap',
}
local pointwise = {'Tanh', 'TanhShrink', 'Square', 'Sqrt'}

-- Calls f() while module has other values in some fields.
local function with(module, fields, f)
   local kept = {}
   for name, value in pairs(fields) do kept[name], module[name] = module[name], value end
   local ok, why = pcall(f)
   for name in pairs(fields) do module[name] = kept[name] end
   if not ok then error(why, 0) end
end

local function square(x) return torch.cmul(x, x) end

-- module.diagHessianInput by the module's updateGradInput, with the fields given.
local function through(module, input, diagHessianOutput, fields)
   fields.gradInput = module.diagHessianInput or input.new()
   with(module, fields, function()
      fields.gradInput = module:updateGradInput(input, diagHessianOutput)
   end)
   module.diagHessianInput = fields.gradInput
   return module.diagHessianInput
end

local function enableLearned(class)
   -- Calls f(name of a gradient, name of its diagonal) for those that the module has.
   local function each(self, f)
      for _, name in ipairs{'Weight', 'Bias'} do
         if self['grad' .. name] then f('grad' .. name, 'diagHessian' .. name) end
      end
   end

   function class:initDiagHessianParameters()
      each(self, function(gradient, diagonal)
         local g = self[gradient]
         self[diagonal] = self[diagonal] or g.new():resizeAs(g):zero()
      end)
      self.diagHessianInput = self.diagHessianInput or self.gradInput.new()
   end

   function class:updateDiagHessianInput(input, diagHessianOutput)
      return through(self, input, diagHessianOutput, {weight = square(self.weight)})
   end

   function class:accDiagHessianParameters(input, diagHessianOutput)
      self:initDiagHessianParameters()
      local fields = {}
      each(self, function(gradient, diagonal) fields[gradient] = self[diagonal] end)
      with(self, fields, function()
         self:accGradParameters(square(input), diagHessianOutput, 1)
      end)
   end
end

local function enablePointwise(class)
   function class:updateDiagHessianInput(input, diagHessianOutput)
      local ones = diagHessianOutput.new():resizeAs(diagHessianOutput):fill(1)
      local slope = through(self, input, ones, {})
      return slope:cmul(slope):cmul(diagHessianOutput)
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

-- parameters() of a class returns the diagonals as a third list, if there are any.
local function enableParameters(class, diagonals)
   local before = class.parameters
   function class:parameters()
      local parameters, gradients = before(self)
      return parameters, gradients, parameters and diagonals(self)
   end
end

local function own(module)
   return {module.weight and module.diagHessianWeight, module.bias and module.diagHessianBias}
end

local function ofAll(container)
   local list = {}
   for _, module in ipairs(container.modules) do
      local _, _, theirs = module:parameters()
      for _, name in ipairs{1, 2} do list[#list + 1] = theirs and theirs[name] or nil end
   end
   return list
end

local enabled = false

--- Gives the classes of linear layers, convolutions, functions of elements, nn.Sequential and
-- criterions methods for the diagonal of the Hessian; parameters() and getParameters() then return
-- the diagonals, too.
-- @function nn.hessian.enable
-- @as author
-- @return nothing
-- @usage local pool, has = require('threads').Threads(1)
--    pool:addjob(function() nn.hessian.enable() return nn.Linear(2,
--       3).accDiagHessianParameters ~= nil end, function(v) has = v end)
--    pool:terminate()
--    return has --> true
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
   enableParameters(Module, own)
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
      local _, _, diagonals = self:parameters()
      if not diagonals or #diagonals == 0 then return flat, gradients end
      return flat, gradients, (flatten.one(diagonals, torch.type(self)))
   end
end

return hessian
