-- Reduced types (16-bit floats): every value through pointwise operations, conversions and orders;
-- random numbers, files and texts. Host devices, the devices of this run and emulated ones agree.
local dpt = require 'dpt'
local both = require 'spec.support.both'
local elements = require 'spec.support.elements'
local gpu = require 'spec.support.gpu'
local reduced = require 'spec.support.reduced'
local run = require 'spec.support.run'
local torch, cutorch = dpt.torch, dpt.cutorch

-- Returns the output of code on devices of a kind.
local function on(devices, code)
   return run.lua("local dpt = require 'dpt' " .. code, {DPT_DEVICES = devices})
end

describe('Reduced types:', function()
   for _, name in ipairs(elements.reduced) do
      it('pointwise operations of ' .. name .. ' are those of floats, rounded once', function()
         reduced.pointwise(name)
      end)

      it('conversions of every ' .. name .. ' are those of floats', function()
         reduced.conversions(name)
      end)

      it('integers are rounded once to ' .. name, function() reduced.wholes(name) end)

      it('every ' .. name .. ' has the order of floats, and NaN stays NaN', function()
         reduced.orders(name)
      end)

      it('uniform numbers of ' .. name .. ' have all bits of a significand and are never 1',
         function()
         local n, values = 1e6, 2 ^ both.bits(name)
         for _, kind in ipairs{name, elements.onDevice(name)} do
            torch.manualSeed(7)
            cutorch.manualSeed(7)
            local x = torch[kind .. 'Tensor'](n):uniform():double()
            local whole = torch.mul(x, values)
            assert.is_true(x:min() >= 0 and x:max() < 1, kind)
            assert.is_true(math.abs(x:mean() - 0.5 + 0.5 / values) < 1.5e-3, kind)
            assert.is_true(math.abs(x:var() - 1 / 12) < 1e-3, kind)
            assert.equal(0, torch.frac(whole):max(), kind)
            assert.equal(values, torch.histc(whole, values, -0.5, values - 0.5):gt(0):sum(), kind)
         end
      end)

      it('every ' .. name .. ' is read from a file as it was written', function()
         local x = reduced.values(name)
         for _, mode in ipairs{'binary', 'ascii'} do
            for _, t in ipairs{x, x:type('torch.' .. elements.onDevice(name) .. 'Tensor')} do
               local back = torch.deserialize(torch.serialize(t, mode), mode)
               assert.equal(t:type(), back:type())
               reduced.same(t, back, mode)
            end
         end
      end)

      it(name .. ' is printed as a float is', function()
         for _, t in ipairs{torch.Tensor{1.5, -2, 300}, torch.Tensor{{0 / 0, 1 / 0}, {-0.5, 0}},
            torch.Tensor()} do
            local x = t:type('torch.' .. name .. 'Tensor')
            assert.equal((tostring(x:float()):gsub('Float', name)), tostring(x))
            assert.equal(tostring(x:float():storage()):gsub('Float', name),
               (tostring(x:storage())))
         end
      end)
   end

   it('emulated devices have the same results', function()
      if gpu.isCuda and not gpu.isHere then return end -- the specs above ran on them
      assert.equal('passed\n', on('emulated:1', "print(require('spec.support.reduced').all())"))
   end)

   it('random numbers are the same on host and emulated devices', function()
      local code = [[
         for _, name in ipairs(require('spec.support.elements').reduced) do
            for _, draw in ipairs{'uniform', 'random', 'bernoulli', 'geometric'} do
               dpt.cutorch.manualSeed(3)
               local T = torch['Cuda' .. name .. 'Tensor']
               local x = T(5001)
               x[draw](x, draw == 'geometric' and 0.5 or nil)
               local y = x:double()
               print(name, draw, ('%.17g %.17g %.17g'):format(y:sum(), y:dot(torch.range(1, 5001)),
                  y[77]))
            end
         end]]
      local wanted = on('host:1', code)
      assert.equal(4 * #elements.reduced, select(2, wanted:gsub('\n', '')), wanted)
      assert.equal(wanted, on('emulated:1', code))
   end)
end)
