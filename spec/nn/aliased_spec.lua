-- Modules whose result shares memory with what they read compute what they compute beside it.
-- Scripts that save memory share such buffers (optnet, shareGradInput).
local nn = require 'nn'
local torch = require 'torch'
local cutorch = require('dpt').cutorch
local catalogue = require 'spec.support.catalogue'

--- A tensor in the memory of t: t itself, or one that begins an element later.
local function itself(t) return t end
local function shifted(t)
   return t.new(t:storage(), t:storageOffset() + 1, math.max(t:nElement() - 1, 1))
end
local forms = {['torch.FloatTensor'] = {itself = itself, shifted = shifted},
   ['torch.CudaTensor'] = {itself = itself}}

local function values(t) return t:double():totable() end

--- The gradient of the input, by the module's own backward if it has one.
local function gradient(m, x, g)
   local method = m.backward ~= nn.Module.backward and m.backward or m.updateGradInput
   return method(m, x, g)
end

--- What f computes with the numbers that seed 3 draws, as tables.
local function seeded(f, ...)
   torch.manualSeed(3)
   cutorch.manualSeedAll(3)
   return values(f(...))
end

describe('a result that shares memory with', function()
   --- Calls f(module, input, gradOutput) on every module of a tensor, after share(module, input,
   -- gradOutput, form) and without it.
   local function each(typename, what, f, share)
      local wrong = {}
      for _, case in ipairs(catalogue) do
         torch.manualSeed(5)
         local module, input = case.make():type(typename), case.input(2)
         if torch.isTensor(input) and torch.isTensor(module.output) then
            input = input:type(typename)
            local output = module:clone():forward(input)
            if torch.isTensor(output) and torch.isTensor(module.gradInput) then
               local gradOutput = output:clone():uniform(0.1, 0.9)
               for name, form in pairs(forms[typename]) do
                  local function prepared()
                     local m, x = module:clone(), input:clone()
                     seeded(m.forward, m, x)
                     return m, x, gradOutput:clone()
                  end
                  local wanted = seeded(f, prepared())
                  local m, x, g = prepared()
                  share(m, x, g, form)
                  local ok, got = pcall(seeded, f, m, x, g)
                  if not ok or not pcall(assert.same, wanted, got) then
                     wrong[#wrong + 1] = case.name .. ' ' .. name .. (ok and '' or ': ' .. got)
                  end
               end
            end
         end
      end
      table.sort(wrong)
      assert.same({}, wrong, what)
   end

   for typename in pairs(forms) do
      it(('the input is computed beside it (%s)'):format(typename), function()
         each(typename, 'input', function(m, x) return m:updateOutput(x) end,
            function(m, x, _, form) m.output = form(x) end)
      end)

      it(('the gradient of the output is computed beside it (%s)'):format(typename), function()
         each(typename, 'gradOutput', gradient,
            function(m, _, g, form) m.gradInput = form(g) end)
      end)

      it(('the input of a backward is computed beside it (%s)'):format(typename), function()
         each(typename, 'gradInput', gradient,
            function(m, x, _, form) m.gradInput = form(x) end)
      end)
   end
end)
