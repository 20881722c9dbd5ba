-- Layers and losses of reduced types: on devices they are those of floats with the same parameters
-- and inputs, but for rounding; in host memory, the types raise the same errors.
local dpt = require 'dpt'
local both = require 'spec.support.both'
local clone = require 'dpt.clone'
local catalogue = require 'spec.support.catalogue'
local criterions = require 'spec.support.criterions'
local elements = require 'spec.support.elements'
local torch, cutorch = dpt.torch, dpt.cutorch

-- Converts the reals of a value to a type; integers and masks to those of the same memory.
local function convert(value, typename)
   if type(value) == 'table' then
      local list = {}
      for k, entry in pairs(value) do list[k] = convert(entry, typename) end
      return list
   end
   if not torch.isTensor(value) then return value end
   local kind = value:type():match '^torch%.(%w+)Tensor$'
   if kind:find '^Byte' or kind:find '^Long' then
      return typename:find 'Cuda' and value:type('torch.Cuda' .. kind .. 'Tensor') or value
   end
   return value:type(typename)
end

-- Returns the largest difference relative to 1 + the largest value, in units of the last place.
local function distance(wanted, got, bits)
   if type(wanted) == 'number' then wanted, got = torch.Tensor{wanted}, torch.Tensor{got} end
   if torch.isTensor(wanted) then
      assert(wanted:isSameSizeAs(got), 'sizes')
      if wanted:nElement() == 0 then return 0 end
      local a, b = wanted:double(), got:double()
      return (a - b):abs():max() / (1 + torch.abs(a):max()) * 2 ^ bits
   end
   local most = 0
   for k, entry in pairs(wanted) do
      local d = distance(entry, got[k], bits)
      if d > most or d ~= d then most = d end
   end
   return most
end

-- Returns copies of the output, the gradient of the input, and those of the parameters.
local function pass(module, input, gradOutput)
   torch.manualSeed(5)
   cutorch.manualSeed(5)
   module:zeroGradParameters()
   local output = clone(module:forward(input))
   local gradInput = clone(module:backward(input, gradOutput or output))
   local _, gradients = module:parameters()
   return {output, gradInput, clone(gradients or {})}
end

-- Layers that store intermediate results, of which they take differences or small quotients.
local lossy = {LayerNormalization = true, BatchNormalization = true, SyncBatchNormalization = true,
   SpatialBatchNormalization = true, VolumetricBatchNormalization = true, Normalize = true,
   SpatialContrastiveNormalization = true, SpatialDivisiveNormalization = true}

--- Returns the distance of a module's or a criterion's results from those in floats, for the same
-- parameters and inputs; raises what the module raises.
local function compare(case, typename, floats, bits)
   torch.manualSeed(3)
   local one = case.make():type(typename)
   local other = clone(one):type(floats)
   local input = convert(case.input(4), typename)
   local wide = convert(input, floats)
   if not torch.isTypeOf(one, 'nn.Criterion') then
      local got = pass(one, input)
      return distance(pass(other, wide, convert(got[1], floats)), got, bits)
   end
   local target = case.target and convert(case.target(4), typename)
   local got = {one:forward(input, target), clone(one:backward(input, target))}
   target = convert(target, floats)
   return distance({other:forward(wide, target), clone(other:backward(wide, target))}, got, bits)
end

describe('nn.', function()
   it('Criterion:sumOf sums losses of reduced types as floats', function()
      for _, name in ipairs(elements.reduced) do
         for _, kind in ipairs{name, elements.onDevice(name)} do
            local losses = torch[kind .. 'Tensor'](1001):fill(1000)
            assert.equal(1001000, dpt.nn.MSECriterion():sumOf(losses)[1])
         end
      end
   end)

   for _, list in ipairs{catalogue, criterions} do
      for _, case in ipairs(list) do
         local limit = lossy[case.name] and 32 or 2

         it(case.name .. ' of a reduced type is that of floats, rounded', function()
            for _, name in ipairs(elements.reduced) do
               local there = 'torch.' .. elements.onDevice(name) .. 'Tensor'
               local d = compare(case, there, 'torch.CudaTensor', both.bits(name))
               assert.is_true(d <= limit, ('%s differs by %g units'):format(name, d))
            end
         end)

         it(case.name .. ' accepts or rejects all reduced types alike in host memory', function()
            local accepted, wanted
            for _, name in ipairs(elements.reduced) do
               local ok, result = pcall(compare, case, 'torch.' .. name .. 'Tensor',
                  'torch.FloatTensor', both.bits(name))
               if accepted == nil then accepted = ok end
               assert.equal(accepted, ok, result)
               if ok then
                  assert.is_true(result <= limit, ('%s differs by %g units'):format(name, result))
               else
                  local text = result:gsub('\nstack traceback.*', ''):gsub(name, 'TYPE')
                  wanted = wanted or text
                  assert.equal(wanted, text)
               end
            end
         end)
      end
   end
end)
