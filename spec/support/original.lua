--- Shared by specs written after the original's suite for nn.DataParallelTable: covers every device
-- tensor type, several numbers of devices and every dispatcher.
local both = require 'spec.support.both'
local core = require 'dpt.tensor.core'
local dpt = require 'dpt'
local elements = require 'spec.support.elements'
local torch, nn, cutorch = dpt.torch, dpt.nn, dpt.cutorch
local same = require 'spec.support.parallel'
local busted = require 'busted'

local M = {}

-- The original's tolerances: for floating types; those of reduced types are relative to the
-- largest value.
local function tolerance(typename, largest)
   local element = core.elementOf(core.kinds[typename])
   if not element.isReduced then return 1e-5 end
   local half = 0.05
      + (largest > 0 and 2 * 2 ^ (math.floor(math.log(largest) / math.log(2)) - 10) or 0)
   return both.tolerance(element.name, half)
end

--- Checks that sizes are equal and values are within the original's tolerance.
function M.close(expected, got, typename)
   local a, b = expected:double(), got:double()
   assert(a:isSameSizeAs(b), 'sizes differ')
   local difference, allowed = (a - b):abs():max(), tolerance(typename, a:abs():max())
   assert(difference < allowed, ('differs by %g, allowed %g'):format(difference, allowed))
end

--- Returns a tensor uniform in [-1, 1].
function M.random(typename, ...)
   return torch.rand(...):mul(2):add(-1):type(typename)
end

--- Returns a network from rows of 3 numbers to 7.
function M.linear(typename)
   return nn.Sequential():add(nn.Linear(3, 10)):add(nn.ReLU()):add(nn.Linear(10, 7)):type(typename)
end

-- Types of the original; others run on the fewest and on the most devices.
local originals = {Float = true, Double = true, Half = true}

-- Ways to run replicas; init is called in the threads that run them.
local dispatchers = {
   basic = function(many) return many end,
   threads = function(many, init) return many:threads(init) end,
}

--- Calls f(typename, n, dispatch, table) in a describe for every combination. table(net, options,
-- once) returns a parallel network on n devices of that type, with net added once for each device,
-- as older scripts do, or only once.
function M.each(title, f)
   for _, name in ipairs(elements.reals) do
      local typename = 'torch.' .. elements.onDevice(name) .. 'Tensor'
      for _, n in ipairs(originals[name] and {2, 3, 4, 7} or {2, 7}) do
         for form, dispatch in pairs(dispatchers) do
            local function table(net, options, once)
               local many = dispatch(nn.DataParallelTable(unpack(options or {1})):type(typename))
               if once then return many:add(net:clone(), same.range(n)):type(typename) end
               for i = 1, n do
                  cutorch.withDevice(i, function() many:add(net:clone():type(typename), i) end)
               end
               return many
            end
            busted.describe(('%s, %d devices, %s, %s:'):format(title, n, typename, form), function()
               if cutorch.getDeviceCount() < n then return end
               busted.before_each(function()
                  torch.manualSeed(29)
                  cutorch.setDevice(1)
               end)
               f(typename, n, dispatch, table)
            end)
         end
      end
   end
end

return M
