--- Compares modules whose result shares memory with an operand with the same modules without
-- sharing.
local nn = require 'nn'
local torch = require 'torch'
local cutorch = require('dpt').cutorch
local catalogue = require 'spec.support.catalogue'
local luassert = require 'luassert'

local M = {}

local function image() return torch.rand(2, 2, 6, 6) end
local function volume() return torch.rand(2, 2, 4, 4, 4) end
local function rows() return torch.rand(3, 4) end

--- Modules whose result has the size of their input, so that both may be the same tensor.
local square = {
   {'Linear', {4, 4}, rows}, {'PartialLinear', {4, 4}, rows}, {'LinearWeightNorm', {4, 4}, rows},
   {'Maxout', {4, 4, 2}, rows}, {'Cosine', {4, 4}, rows}, {'WeightedEuclidean', {4, 4}, rows},
   {'SpatialConvolution', {2, 2, 3, 3, 1, 1, 1, 1}, image},
   {'SpatialConvolutionLocal', {2, 2, 6, 6, 3, 3, 1, 1, 1, 1}, image},
   {'SpatialDilatedConvolution', {2, 2, 3, 3, 1, 1, 2, 2, 2, 2}, image},
   {'SpatialFullConvolution', {2, 2, 3, 3, 1, 1, 1, 1}, image},
   {'SpatialDepthWiseConvolution', {2, 1, 3, 3, 1, 1, 1, 1}, image},
   {'SpatialMaxPooling', {3, 3, 1, 1, 1, 1}, image},
   {'SpatialAveragePooling', {3, 3, 1, 1, 1, 1}, image},
   {'SpatialAdaptiveMaxPooling', {6, 6}, image},
   {'SpatialAdaptiveAveragePooling', {6, 6}, image},
   {'SpatialCrossMapLRN', {3, 1}, image}, {'SpatialUpSamplingNearest', {1}, image},
   {'SpatialUpSamplingBilinear', {{oheight = 6, owidth = 6}}, image},
   {'SpatialZeroPadding', {1, -1, 1, -1}, image},
   {'SpatialReflectionPadding', {1, -1, 1, -1}, image},
   {'SpatialReplicationPadding', {1, -1, 1, -1}, image},
   {'TemporalConvolution', {4, 4, 1}, function() return torch.rand(2, 5, 4) end},
   {'VolumetricConvolution', {2, 2, 3, 3, 3, 1, 1, 1, 1, 1, 1}, volume},
   {'VolumetricMaxPooling', {3, 3, 3, 1, 1, 1, 1, 1, 1}, volume},
   {'VolumetricAveragePooling', {1, 1, 1}, volume},
}

--- Cases for M.wrong: the modules of the catalogue and the ones above.
M.cases = {}
for i, case in ipairs(catalogue) do M.cases[i] = case end
for _, case in ipairs(square) do
   table.insert(M.cases, {name = case[1] .. ' of one size', input = case[3],
      make = function() return nn[case[1]](unpack(case[2])) end})
end

--- Functions that create a tensor in the memory of t: t itself, one that begins an element or half
-- of t later, or the transpose of t.
M.forms = {
   itself = function(t) return t end,
   shifted = function(t)
      return t.new(t:storage(), t:storageOffset() + 1, math.max(t:nElement() - 1, 1))
   end,
   half = function(t)
      local n = math.floor(t:nElement() / 2)
      return t.new(t:storage(), t:storageOffset() + n, math.max(t:nElement() - n, 1))
   end,
   transposed = function(t) return t:dim() > 1 and t:transpose(1, 2) or t end,
}

--- Returns the gradient of the input, by the module's own backward if it has one.
local function gradient(m, x, g)
   local method = m.backward ~= nn.Module.backward and m.backward or m.updateGradInput
   return method(m, x, g)
end

--- By the operand that the result aliases: the function to call, and one that sets up the aliasing.
M.pairs = {
   input = {function(m, x) return m:updateOutput(x) end,
      function(m, x, _, form) m.output = form(x) end},
   gradOutput = {gradient, function(m, _, g, form) m.gradInput = form(g) end},
   ['the input of a backward'] = {gradient, function(m, x, _, form) m.gradInput = form(x) end},
}

--- Returns the result of f as a table, with all generators seeded with 3.
local function seeded(f, ...)
   torch.manualSeed(3)
   cutorch.manualSeedAll(3)
   return f(...):double():totable()
end

--- Runs one of M.cases with and without shared memory.
-- @param what a key of M.pairs
-- @param form one of M.forms
-- @return nil, or an error message; nil for a module without a tensor as input or output
function M.wrong(case, typename, what, form)
   local f, share = unpack(M.pairs[what])
   torch.manualSeed(5)
   local module, input = case.make():type(typename), case.input(2)
   if not (torch.isTensor(input) and torch.isTensor(module.output)) then return end
   input = input:type(typename)
   local output = module:clone():forward(input)
   if not (torch.isTensor(output) and torch.isTensor(module.gradInput)) then return end
   local gradOutput = output:clone():uniform(0.1, 0.9)
   local function prepared()
      local m, x = module:clone(), input:clone()
      seeded(m.forward, m, x)
      return m, x, gradOutput:clone()
   end
   local wanted = seeded(f, prepared())
   local m, x, g = prepared()
   share(m, x, g, form)
   local ok, got = pcall(seeded, f, m, x, g)
   if not ok then return got end
   local same, why = pcall(luassert.same, wanted, got)
   if not same then return 'it differs: ' .. tostring(why):sub(1, 200) end
end

return M
