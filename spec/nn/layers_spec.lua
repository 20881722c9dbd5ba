--- Layers with kernels of their own, on more than one block of a GPU's threads works on, and in
-- shapes that kernels treat in other ways: the same on devices as on the host.
local check = require 'spec.support.jacobian'

-- No two numbers are equal, so that the largest is the same in floats and doubles.
local function shuffled(...)
   local size = torch.LongStorage{...}
   return function()
      local n = 1
      for _, k in ipairs{unpack(size:totable())} do n = n * k end
      return torch.randperm(n):mul(2 / n):add(-1):view(size)
   end
end

local function compare(cases)
   for i, case in ipairs(cases) do
      local name, arguments, size, options = case[1], case[2], case[3], case[4]
      it(('%d %s'):format(i, name), function()
         check.devices(function()
            local m = nn[name](unpack(arguments))
            if case.change then case.change(m) end
            return m
         end, shuffled(unpack(size)), options)
      end)
   end
end

describe('pooling of many planes', function()
   compare{
      {'SpatialMaxPooling', {3, 3, 2, 2, 1, 1}, {2, 5, 37, 41}},
      {'SpatialMaxPooling', {7, 7, 1, 1, 3, 3}, {2, 3, 13, 31}}, -- many windows share a maximum
      {'SpatialMaxPooling', {2, 2, 3, 3}, {300, 1, 5, 5}},
      {'SpatialDilatedMaxPooling', {3, 3, 1, 2, 1, 1, 4, 2}, {2, 2, 21, 35}},
      {'SpatialAdaptiveMaxPooling', {5, 40}, {2, 3, 33, 17}},
      {'VolumetricMaxPooling', {3, 2, 3, 2, 1, 2, 1, 0, 1}, {2, 3, 9, 11, 12}},
      {'SpatialAveragePooling', {3, 5, 2, 1, 1, 2}, {3, 4, 29, 23}},
      {'SpatialAveragePooling', {2, 2, 3, 3}, {3, 4, 29, 23}}, -- leaves some out
      {'SpatialAveragePooling', {3, 3, 2, 2, 1, 1}, {2, 3, 28, 28},
         change = function(m) m:ceil():setCountExcludePad() end},
      {'SpatialAdaptiveAveragePooling', {7, 3}, {3, 4, 10, 29}},
      {'SpatialAdaptiveAveragePooling', {50, 31}, {2, 2, 10, 29}},
      {'VolumetricAveragePooling', {3, 2, 2, 2, 2, 2}, {2, 3, 9, 10, 12}},
   }
   it('puts elements back where idx says, the last one last', function()
      local pool = nn.SpatialMaxPooling(3, 3, 1, 1, 1, 1) -- neighbours share maxima
      check.devices(function()
         return nn.Sequential():add(pool):add(nn.SpatialMaxUnpooling(pool))
      end, shuffled(2, 2, 30, 41))
   end)
   it('refuses places that are none, and writes nothing there', function()
      local pool = nn.SpatialMaxPooling(2, 2):cuda()
      local x = torch.rand(1, 4, 4):cuda()
      local g = pool:forward(x):clone():fill(1)
      pool.indices[{1, 2, 1}] = 17
      local ok, message = pcall(function() return pool:backward(x, g):sum() end)
      assert.is_false(ok)
      assert.is_truthy(message:find("'idx' has 17 at element 3, wanted 1 to 16", 1, true))
      pool.indices:fill(0)
      assert.has_error(function() return pool:backward(x, g):sum() end)
      pool:forward(x)
      assert.are.equal(4, pool:backward(x, g):sum())
   end)
end)
