--- dpt.nn.cache: makes the layers of a network remember past positions, for sampling.
--
-- Invariant: modules with the methods beginCache and endCache have a cache; others see only the new
-- positions.
local torch = require 'dpt.tensor'
local expect = require 'dpt.class.expect'
local options = require 'dpt.distributed.options'
local fail = require('dpt.ffi').fail

local M = {}

-- Classes that would see other positions, and what is wanted instead.
local rejected = {
   ['nn.DataParallelTable'] = 'the network inside, net:get(1)',
   ['nn.DistributedDataParallel'] = 'the network inside, net:get(1)',
   ['nn.ScaledDotProductAttention'] = 'nn.MultiheadAttention, which has a cache',
   ['nn.RotaryEmbedding'] = "nn.MultiheadAttention's option rotary, which continues",
}

-- Returns the modules of a network that may have a cache.
local function modulesOf(fn, net)
   if not torch.isTypeOf(net, 'nn.Module') then expect(fn, 'net', net, 'module') end
   local list, seen = {}, {}
   for _, module in ipairs(net:listModules()) do
      for class, wanted in pairs(rejected) do
         if torch.isTypeOf(module, class) then
            fail("%s: argument 'net' has an %s in it, wanted %s", fn, class, wanted)
         end
      end
      if module.beginCache then
         if seen[module] then
            fail("%s: argument 'net' uses one %s twice, wanted one for each place", fn,
               torch.type(module))
         end
         seen[module] = true
         list[#list + 1] = module
      end
   end
   return list
end

--- Makes every nn.MultiheadAttention and nn.PositionEmbedding of an evaluating network remember the
-- positions that it has seen: each forward continues after them, and its input has only the new
-- positions. So sampling computes each position once. The outputs are those of a forward of all
-- positions. A second call begins a new cache. Copies and files of the network, and networks after
-- type() or clearState(), have no cache.
-- @function nn.utils.beginCache
-- @within nn attention
-- @also nn.utils.endCache(net)
-- @param net module: in evaluation, with layers of attention that have the option causal
-- @param capacity number: the largest number of positions
-- @return the network
-- @raise if the network is in training, has no such layer, has one twice, or has layers of
--    attention without a cache; forward raises if there are more positions than the capacity, or
--    the batch has another size. After an error in forward, begin another cache
-- @follows the caches of keys and values of Hugging Face's models
-- @usage local net = nn.Sequential():add(nn.PositionEmbedding(10, 4))
--    net:evaluate()
--    nn.utils.beginCache(net, 10)
--    local first, second = torch.zeros(1, 2, 4), torch.zeros(1, 1, 4)
--    net:forward(first)
--    local same = net:forward(second):equal(net:get(1).weight:narrow(1, 3, 1):view(1, 1, 4))
--    nn.utils.endCache(net)
--    return same --> true
function M.beginCache(net, capacity)
   local fn = 'nn.utils.beginCache'
   local list = modulesOf(fn, net)
   if not options.isCount(capacity) or capacity > 2 ^ 53 then -- the largest size of a tensor
      fail("%s: argument 'capacity' is %s, wanted a number from 1 to 2^53", fn, tostring(capacity))
   end
   if #list == 0 then
      fail("%s: argument 'net' has no nn.MultiheadAttention and no nn.PositionEmbedding", fn)
   end
   for _, module in ipairs(list) do
      if module.train ~= false then
         fail("%s: argument 'net' is in training, wanted net:evaluate() before", fn)
      end
   end
   for _, module in ipairs(list) do module:beginCache(capacity) end
   return net
end

function M.endCache(net)
   for _, module in ipairs(modulesOf('nn.utils.endCache', net)) do module:endCache() end
   return net
end

return M
